//! A store file as a few hours of work leave it.

use tempfile::TempDir;
use waitless_job::{
    AccountId, BucketKey, Class, Clock, Cost, Feedback, JobId, LaneKey, LeaseToken, Need, Needs,
    NewJob, Progress, RunId, UnixMillis, WorkerName,
};
use waitless_store::{
    Store,
    model::{Account, Run},
    ops::{Claim, LeaseRef, Outcome, Pick, Saved, Settle},
};
use waitless_store_sqlite::SqliteStore;

use crate::program::{Said, waitless};

pub(crate) const HOUR_MS: u64 = 3_600_000;
pub(crate) const DAY_MS: u64 = 24 * HOUR_MS;

/// A store file in a directory of its own.
pub(crate) struct Scene {
    pub(crate) store: SqliteStore,
    pub(crate) now: UnixMillis,
    url: String,
    directory: TempDir,
}

/// The `number`th id; ids sort by their number and differ in their first eight digits.
pub(crate) fn id(number: u64) -> String {
    format!("0190000{number:x}-0000-7000-8000-00000000000{number:x}")
}

/// Reads a name, a key or a policy.
pub(crate) fn read<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().expect("the test writes it right")
}

impl Scene {
    /// An empty store.
    pub(crate) async fn empty() -> Self {
        let directory = tempfile::tempdir().expect("there is room for a directory");
        let path = directory.path().join("queue.db");
        let store = SqliteStore::open(&path).await.expect("a new file can be opened");
        let url = format!("sqlite:{}", path.display());
        Self { store, now: Clock::system().now(), url, directory }
    }

    /// A store in use. Limits give a token a day, so that no level changes while a test runs.
    ///
    /// - acct-1 has a run with five jobs of its orders and sales: 1 succeeded, 2 dead, 3 and 4
    ///   wait for orders, 5 waits for sales;
    /// - acct-2 has a run with one job, 6, which waits behind a hold of five hours and a half, at whose end there is one
    ///   token;
    /// - acct-3 is paused, and its job 7 belongs to no run;
    /// - 8 is scheduled, 9 waits for a second attempt.
    pub(crate) async fn in_use() -> Self {
        let scene = Self::empty().await;
        scene
            .limits(&[
                ("acct-1/orders", "1/d burst 3 margin 0"),
                ("acct-1/sales", "1/d burst 1 margin 0"),
                ("acct-2/orders", "1/d burst 2 margin 0"),
                ("acct-3/orders", "1/d burst 1 margin 0"),
            ])
            .await;
        scene.account("acct-1", "First seller", Some(9 * DAY_MS + HOUR_MS)).await;
        scene.account("acct-2", "Evil \u{1b}[2Jseller", Some(90 * DAY_MS)).await;
        scene.account("acct-3", "Third seller", None).await;
        scene.run(1, "digitization").await;
        scene.run(2, "prices").await;

        let of_run = |number, kind: &str, account: &str, run| {
            scene.job(number, kind, account).run(RunId(read(&id(run))))
        };
        scene.enqueue(of_run(1, "orders", "acct-1", 1).class(Class::Bulk)).await;
        scene.end(1, "acct-1/orders", Outcome::Done, Some(progress(12, 12, 4_000))).await;
        scene.enqueue(of_run(2, "orders", "acct-1", 1).class(Class::Bulk)).await;
        let reason = "the upstream answered 403: \u{1b}[31mforbidden\nfor ever".into();
        scene.end(2, "acct-1/orders", Outcome::Dead { reason }, None).await;
        scene.enqueue(of_run(9, "orders", "acct-1", 1)).await;
        let error = "timed out".into();
        let at = scene.now.plus(HOUR_MS);
        scene.end(9, "acct-1/orders", Outcome::Retry { at, error }, None).await;
        scene.enqueue(of_run(3, "orders", "acct-1", 1).class(Class::Bulk)).await;
        scene.enqueue(of_run(4, "orders", "acct-1", 1).class(Class::Interactive)).await;
        scene.enqueue(of_run(5, "sales", "acct-1", 1).class(Class::Bulk)).await;

        scene.enqueue(of_run(6, "orders", "acct-2", 2)).await;
        let until = scene.now.plus(5 * HOUR_MS + 1_000 * 60 * 30);
        let hold = Feedback::Rejected { until: Some(until), refund: None, sent_at: scene.now };
        scene.store.feedback(read("acct-2/orders"), hold, scene.now).await.expect("it is held");

        scene.enqueue(scene.job(7, "orders", "acct-3").unique_key("orders:acct-3")).await;
        scene.pause("acct-3", "its token was refused").await;
        scene.enqueue(scene.job(8, "sales", "acct-1").run_at(scene.now.plus(2 * HOUR_MS))).await;
        scene
    }

    /// Lets this process hold the store as its worker does.
    pub(crate) async fn start_worker(&self) {
        let worker = WorkerName::new("worker-1").expect("it is a name");
        self.store.start_worker(worker, self.now).await.expect("it is the first");
    }

    /// Runs the program on this store: `job list`.
    pub(crate) fn waitless(&self, args: &str) -> Said {
        let args: Vec<&str> = args.split_whitespace().collect();
        self.waitless_with(&args)
    }

    /// The same with arguments in which there are blanks.
    pub(crate) fn waitless_with(&self, args: &[&str]) -> Said {
        waitless(&[args, &["--store", &self.url]].concat())
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn path(&self, file: &str) -> std::path::PathBuf {
        self.directory.path().join(file)
    }

    pub(crate) async fn limits(&self, limits: &[(&str, &str)]) {
        let limits = limits.iter().map(|(bucket, policy)| (read(bucket), read(policy))).collect();
        self.store.set_limits(limits, self.now).await.expect("limits can be set");
    }

    pub(crate) async fn account(&self, id: &str, name: &str, token_expires_in: Option<u64>) {
        let account = Account {
            id: read(id),
            name: name.into(),
            upstream: "wb".into(),
            added_at: self.now,
            token_expires_at: token_expires_in.map(|ms| self.now.plus(ms)),
            token_family: None,
            categories: None,
            paused: None,
        };
        self.store.put_account(account).await.expect("an account can be added");
    }

    pub(crate) async fn pause(&self, account: &str, reason: &str) {
        let account: AccountId = read(account);
        let paused = self.store.pause_account(account, Some(reason.into()), self.now).await;
        assert!(paused.expect("an account can be paused"), "it is known");
    }

    pub(crate) async fn run(&self, number: u64, name: &str) {
        let id = RunId(read(&id(number)));
        let run = Run { id, name: name.into(), started_at: self.now };
        self.store.put_run(run).await.expect("a run can be added");
    }

    /// A job that draws on the limit group of its kind's name.
    pub(crate) fn job(&self, number: u64, kind: &str, account: &str) -> NewJob {
        let args = serde_json::json!({"since": "2026-01-01", "secret": 12_345_678_901_234_567_u64});
        let job = NewJob::new(kind, account, &args, self.now).expect("it is a job");
        NewJob { id: JobId(read(&id(number))), ..job.needs_one(read(kind)) }
    }

    pub(crate) async fn enqueue(&self, job: NewJob) {
        self.store.enqueue(vec![job], self.now).await.expect("a job can be enqueued");
    }

    /// Claims the first job of a lane.
    pub(crate) async fn claim(&self, lane: &str) -> LeaseRef {
        let token = LeaseToken::new(self.now);
        let claim = Claim {
            worker: WorkerName::new("worker-1").expect("it is a name"),
            expires_at: self.now.plus(HOUR_MS),
            picks: vec![Pick { lane: read::<LaneKey>(lane), lease: token }],
        };
        let claimed = self.store.claim(claim, self.now).await.expect("a claim is answered");
        LeaseRef { job: claimed.first().expect("a job and its token are there").job.id, token }
    }

    pub(crate) async fn settle(&self, lease: LeaseRef, outcome: Outcome, saved: Saved) {
        let settle = Settle { lease, outcome, saved };
        self.store.settle(vec![settle], self.now).await.expect("a report is answered");
    }

    /// Claims and ends a job.
    pub(crate) async fn end(
        &self,
        number: u64,
        lane: &str,
        outcome: Outcome,
        progress: Option<Progress>,
    ) {
        let lease = self.claim(lane).await;
        assert_eq!(lease.job.to_string(), id(number), "it is the first of its lane");
        let checkpoint = progress.map(|_| r#"{"page":12,"cursor":"\u001b[2J"}"#.into());
        self.settle(lease, outcome, Saved { checkpoint, progress, unspent: Vec::new() }).await;
    }

    /// Needs of several tokens of one group.
    pub(crate) fn needs(group: &str, cost: u32) -> Needs {
        let cost = Cost::new(cost).expect("it costs something");
        Needs::new([Need { group: read(group), cost }])
    }

    /// Draws a token outside the queue, at another moment.
    pub(crate) async fn take(&self, bucket: &str, now: UnixMillis) {
        let draws = vec![(read::<BucketKey>(bucket), Cost::ONE)];
        self.store.take(draws, now).await.expect("a take is answered");
    }
}

pub(crate) fn progress(done: u64, total: u64, rows: u64) -> Progress {
    Progress { requests_done: done, requests_total: Some(total), rows }
}
