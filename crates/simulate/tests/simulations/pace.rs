//! Upstreams that give less than they publish, and what the buckets make of that.

use waitless_bucket::effective;
use waitless_simulate::{Options, Scenario, Seen, Trace, What, trace};

/// From then on a bucket has seen enough to know its pace.
const LEARNT: usize = 64;

const INTERVAL_MS: u64 = 60_000;

/// Longest time from a request to its answer, as `account` writes it.
const LATENCY_MS: u64 = 2_000;

/// An account with one backlog of this limit and these requests.
fn account(name: &str, limit: &str, requests: u64, truth: &str) -> String {
    format!(
        "[[accounts]]\nname = \"{name}\"\n[[accounts.backlog]]\ngroup = \"orders\"\n\
         limit = \"{limit}\"\nrequests = {requests}\ntruth = {{ {truth} }}\n"
    )
}

fn simulate(accounts: &[String]) -> Trace {
    let text = format!("slots = 20\nlatency_ms = [300, {LATENCY_MS}]\n{}", accounts.concat());
    let scenario = Scenario::parse(&text, "pace.toml").expect("it is a scenario");
    let requests = scenario.requests();
    let trace = trace("pace", &scenario, &Options::default()).expect("it comes to its end");
    // The backlog, and an interactive job of either sort for each account.
    let probes = 2 * accounts.len() as u64;
    assert_eq!(trace.report.requests, requests + probes, "everything is executed");
    trace
}

/// What was seen of an account's backlog.
fn seen_of<'a>(trace: &'a Trace, account: &'a str) -> impl Iterator<Item = &'a Seen> {
    let is_meant = move |seen: &&Seen| {
        seen.bucket.account.as_str() == account && seen.bucket.group.as_str() == "orders"
    };
    trace.seen.iter().filter(is_meant)
}

fn moments_of(trace: &Trace, account: &str, what: What) -> Vec<u64> {
    seen_of(trace, account).filter(|seen| seen.what == what).map(|seen| seen.at_ms).collect()
}

/// Whether a bucket keeps to the published pace in the end.
fn is_as_published(trace: &Trace, account: &str) -> bool {
    let mut views = trace.limits.iter();
    let view = views.find(|view| {
        view.bucket.account.as_str() == account && view.bucket.group.as_str() == "orders"
    });
    let view = view.expect("it has a limit");
    effective(view.state.as_ref(), &view.policy) == view.policy
}

#[test]
fn an_upstream_that_gives_a_quarter_less_than_published_refuses_one_request_in_fifty() {
    for (limit, truth, share_max) in [
        ("1/min burst 1", "rate_percent = 75", 0.02),
        ("1/min burst 10", "rate_percent = 75", 0.02),
        ("1/min burst 1", "rate_percent = 75, headers = false", 0.05),
        ("1/min burst 10", "rate_percent = 75, headers = false", 0.05),
    ] {
        let trace = simulate(&[account("seller", limit, 500, truth)]);
        let later = seen_of(&trace, "seller").skip(LEARNT);
        let (mut accepted, mut refused) = (0_u32, 0_u32);
        for seen in later {
            match seen.what {
                What::Accepted => accepted += 1,
                What::Refused => refused += 1,
                What::Stolen => unreachable!("nobody steals here"),
            }
        }
        let share = f64::from(refused) / f64::from(accepted);
        assert!(share <= share_max, "{limit}, {truth}: {refused} of {accepted}");
        // The published bound is three quarters of what can be: no time is given away either.
        let over_bound = trace.report.makespan_over_bound * 0.75;
        assert!(over_bound < 1.06, "{limit}, {truth}: {over_bound}");
    }
}

#[test]
fn a_hidden_client_costs_a_refusal_for_each_token_at_most_and_is_forgotten_when_it_stops() {
    const STOPS_MS: u64 = 3 * 3_600_000;
    for limit in ["1/min burst 1", "1/min burst 10"] {
        for headers in [true, false] {
            let hidden = "hidden = { from_seconds = 3600, until_seconds = 10800 }";
            let truth = format!("headers = {headers}, {hidden}");
            let trace = simulate(&[account("seller", limit, 350, &truth)]);
            let stolen = moments_of(&trace, "seller", What::Stolen);
            let refused = moments_of(&trace, "seller", What::Refused);
            assert_eq!(stolen.len(), 40);
            assert!(refused.len() <= stolen.len(), "{limit}, {truth}: {}", refused.len());
            let last = refused.last().expect("it was noticed");
            assert!(*last <= STOPS_MS + INTERVAL_MS, "{limit}, {truth}: {last}");

            let accepted = moments_of(&trace, "seller", What::Accepted);
            let after: Vec<_> = accepted.into_iter().filter(|ms| *ms > STOPS_MS).collect();
            let learnt = &after[LEARNT..];
            let slowest = learnt.windows(2).map(|pair| pair[1] - pair[0]).max();
            let slowest = slowest.expect("there are more requests than that");
            // An interval, the margin of a burst of 1, and what the clock rounds.
            assert!(slowest <= INTERVAL_MS + 61, "{limit}, {truth}: {slowest} ms apart");
            assert!(is_as_published(&trace, "seller"), "{limit}, {truth}");
        }
    }
}

#[test]
fn a_bucket_that_is_closed_for_half_a_day_keeps_nobody_else() {
    const HALF_A_DAY_MS: u64 = 12 * 3_600_000;
    let closed = "closed = { after_seconds = 600, for_seconds = 43200 }";
    let with = |truth| {
        let mut accounts = vec![account("held", "1/min burst 1", 60, truth)];
        for number in 0..8 {
            accounts.push(account(&format!("other-{number}"), "1/min burst 5", 120, ""));
        }
        simulate(&accounts)
    };
    let (free, held) = (with(""), with(closed));
    let makespan_ms = |trace: &Trace| {
        let accepted = trace.seen.iter().filter(|seen| seen.what == What::Accepted);
        let others = accepted.filter(|seen| seen.bucket.account.as_str() != "held");
        others.map(|seen| seen.at_ms).max().expect("they had something to do")
    };
    let (free_ms, held_ms) = (makespan_ms(&free), makespan_ms(&held));
    assert!(held_ms.abs_diff(free_ms) * 100 <= free_ms, "{free_ms} became {held_ms}");

    let refused = moments_of(&held, "held", What::Refused);
    assert_eq!(refused.len(), 1, "one request was refused, and then nobody asked");
    let accepted = moments_of(&held, "held", What::Accepted);
    let back = accepted.iter().find(|ms| **ms > refused[0]).expect("it goes on");
    let held_for_ms = back - refused[0];
    assert!((HALF_A_DAY_MS..=HALF_A_DAY_MS + LATENCY_MS + 60).contains(&held_for_ms));
    assert!(is_as_published(&held, "held"), "one incident says nothing of the rate");
}

#[test]
fn however_many_jobs_wait_an_incident_costs_one_refusal() {
    for (after_seconds, in_flight) in [(1_800, 1), (0, 10)] {
        let truth = format!("closed = {{ after_seconds = {after_seconds}, for_seconds = 600 }}");
        let trace = simulate(&[account("seller", "1/min burst 10", 200, &truth)]);
        let refused = moments_of(&trace, "seller", What::Refused);
        // Those that were under way together, and none after them.
        assert!(refused.len() <= in_flight, "{truth}: {refused:?}");
        let first = refused.first().expect("it was closed");
        assert!(refused.iter().all(|ms| ms - first <= LATENCY_MS), "{truth}: {refused:?}");
        assert!(is_as_published(&trace, "seller"), "{truth}");
    }
}
