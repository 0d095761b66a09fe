use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
};

use tempfile::TempDir;
use waitless_job::{JobRecord, UnixMillis};
use waitless_sink::Sink;
use waitless_store::{Reader, ops::JobFilter};
use waitless_store_sqlite::SqliteStore;
use waitless_wb_mock::{
    CabinetSizes, Dataset, DatasetSize, Faults, Mock, MockConfig, SellerSizes, TokenOptions,
};

/// How much faster than the real upstream the mock is in these tests: an interval of 100 ms.
pub(crate) const SPEED: u32 = 600;

/// What an import brings that names no datasets.
pub(crate) const MAIN: [Dataset; 2] = [Dataset::Orders, Dataset::Sales];

/// A mock with one seller, and a folder for the token, the store and the sink.
pub(crate) struct Shop {
    pub(crate) mock: Mock,
    /// How much faster than the real upstream imports take the mock to be; not more than it is.
    pub(crate) speed: u32,
    folder: TempDir,
}

impl Shop {
    /// A seller whose datasets have about so many pages.
    pub(crate) async fn with_pages(pages: u32) -> Self {
        let size = DatasetSize::Pages(pages..=pages);
        Self::with_sizes(SellerSizes { orders: size.clone(), sales: size }).await
    }

    /// A seller with orders and sales of these sizes, and a little of everything else.
    pub(crate) async fn with_sizes(sizes: SellerSizes) -> Self {
        let cabinet = CabinetSizes {
            products: 30..=30,
            campaigns: 8..=8,
            feedbacks: 40..=40,
            fbs_orders: 40..=40,
            finance_rows: 40..=40,
        };
        let mock = Mock::start(MockConfig {
            speed: SPEED,
            page_rows: 50,
            sizes,
            cabinet,
            late_updates: true,
            now: waitless_job_now(),
            ..MockConfig::default()
        })
        .await
        .expect("the mock starts");
        let folder = tempfile::tempdir().expect("there is a temporary folder");
        fs::write(folder.path().join("token"), mock.token(0)).expect("the token is written");
        Self { mock, speed: SPEED, folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn url(&self, name: &str) -> String {
        format!("sqlite:{}", self.path(name).display())
    }

    /// `waitless import` of this seller, to be started or changed.
    pub(crate) fn import(&self) -> Command {
        self.import_printing("json")
    }

    /// The same with its summary in another form.
    pub(crate) fn import_printing(&self, output: &str) -> Command {
        let mut command = waitless();
        command
            .args(["import", "--account", "shop", "--output", output])
            .arg("--token-file")
            .arg(self.path("token"))
            .args(["--store", &self.url("queue.db"), "--sink", &self.url("rows.db")])
            .args(["--base-url", &self.mock.base_url(), "--speed", &self.speed.to_string()]);
        command
    }

    /// The same for these datasets.
    pub(crate) fn import_of(&self, datasets: &str) -> Command {
        let mut command = self.import();
        command.args(["--datasets", datasets]);
        command
    }

    /// Another command on the import's store.
    pub(crate) fn waitless(&self, args: &[&str]) -> Output {
        let mut command = waitless();
        command.args(args).args(["--store", &self.url("queue.db")]);
        run(command)
    }

    /// Gives the seller another token.
    pub(crate) fn give_token(&self, options: &TokenOptions) {
        fs::write(self.path("token"), self.mock.token_of(0, options)).expect("it is written");
    }

    /// From now on the mock plays this script of faults.
    pub(crate) fn play(&self, script: &str) {
        self.mock.play(Faults::read(script).expect("it is a script"));
    }

    /// The import's jobs as they stand in the store.
    pub(crate) async fn jobs(&self) -> Vec<JobRecord> {
        if !self.path("queue.db").exists() {
            return Vec::new();
        }
        let store = SqliteStore::open(self.path("queue.db")).await.expect("the store opens");
        let filter = JobFilter { limit: 100, ..JobFilter::default() };
        store.jobs(filter).await.expect("the jobs are read")
    }

    /// Every row that the mock holds has landed in its last version, and no other.
    pub(crate) async fn assert_all_landed(&self, datasets: &[Dataset]) {
        let sink = waitless_sink::open(&self.url("rows.db")).await.expect("the sink opens");
        for &dataset in datasets {
            let expected = self.mock.expected(0, dataset);
            let mut expected: Vec<_> = expected.map(|row| (row.key, row.version)).collect();
            expected.sort();
            let landed = landed(&*sink, &self.mock.sellers()[0].sid, dataset.name()).await;
            assert_eq!(landed.len(), expected.len(), "{dataset}");
            assert!(landed == expected, "{dataset}: the rows differ");
        }
    }
}

async fn landed(sink: &dyn Sink, account: &str, dataset: &str) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    loop {
        let after = rows.last().map(|(key, _): &(String, String)| key.clone());
        let chunk = sink.scan(account, dataset, after.as_deref(), 10_000).await;
        let chunk = chunk.expect("the sink is read");
        if chunk.is_empty() {
            return rows;
        }
        rows.extend(chunk);
    }
}

pub(crate) fn now() -> UnixMillis {
    waitless_job::Clock::system().now()
}

fn waitless_job_now() -> chrono::DateTime<chrono::Utc> {
    chrono::DateTime::from_timestamp_millis(now().0).expect("now is a moment")
}

/// The program, without what the environment of the tests would tell it.
pub(crate) fn waitless() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waitless"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("WAITLESS_") {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null());
    command
}

/// Starts it with its output caught.
pub(crate) fn start(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

/// Runs it to its end.
pub(crate) fn run(mut command: Command) -> Output {
    command.output().expect("the program runs")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}\n{}", String::from_utf8_lossy(&output.stdout), stderr(output))
    })
}
