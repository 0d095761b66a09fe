use waitless_job::{Leave, NewJob};
use waitless_wb::{Dataset, SellerToken, Tokens};
use waitless_wb_mock::Mock;

use crate::{
    CANARY, NOON, SELLER,
    attempt::{Attempts, Setup, import_of},
    fleet::{Fleet, sized},
    server::{Server, answer},
    token_text,
};

fn reason_of(result: Result<(), Leave>) -> String {
    match result.expect_err("it cannot go on") {
        Leave::Dead { reason } | Leave::Pause { reason, .. } => reason,
        other => panic!("it goes on: {other:?}"),
    }
}

/// The limits that were paused, and why.
fn pause_of(result: Result<(), Leave>) -> (Vec<String>, String) {
    match result.expect_err("it cannot go on") {
        Leave::Pause { groups, reason } => {
            (groups.iter().map(ToString::to_string).collect(), reason)
        }
        other => panic!("no pause: {other:?}"),
    }
}

#[tokio::test]
async fn without_a_good_token_no_request_is_made_and_the_limits_stand_still() {
    let server = Server::start(|_, _| answer("200 OK", &[], "[]")).await;
    let expired = Tokens::new();
    let long_ago = waitless_job::UnixMillis(NOON.0 - 3_600_000);
    expired.put(SellerToken::parse(&token_text(-60), long_ago).expect("good an hour ago"));
    for dataset in Dataset::ALL {
        let with = async |tokens: Tokens| {
            let setup = Setup { dataset, tokens, ..Setup::default() };
            let mut job = Attempts::with(&server, setup).await;
            let needs = job.record.needs.as_slice().iter().map(|need| need.group.to_string());
            let needs: Vec<String> = needs.collect();
            let (groups, reason) = pause_of(job.run_on().await.0);
            assert!(reason.ends_with("then resume the account"), "{dataset}: {reason}");
            assert!(needs.iter().all(|need| groups.contains(need)), "{dataset}: {groups:?}");
            (needs, groups, reason)
        };
        let (needs, groups, reason) = with(Tokens::new()).await;
        assert!(reason.contains(&format!("no token of seller {SELLER}")), "{reason}");
        assert_eq!(groups, needs, "of which family the token would be is not known");

        let (_, groups, reason) = with(expired.clone()).await;
        assert!(reason.contains("expired on 2026-10-01T14:59:00 (Moscow time)"), "{reason}");
        if matches!(dataset, Dataset::Orders | Dataset::Sales) {
            assert!(["orders", "sales"].iter().all(|group| groups.iter().any(|one| one == group)));
        }
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn a_job_may_not_choose_where_the_token_goes() {
    let elsewhere = Server::start(|_, _| answer("200 OK", &[], "[]")).await;
    let server = Server::start(|_, _| answer("200 OK", &[], "[]")).await;
    let asking = async |base_url: String| {
        let job = import_of(Dataset::Orders);
        let args = job.args.replace('}', &format!(r#","base_url":"{base_url}"}}"#)).into();
        let job = NewJob { args, ..job };
        Attempts::of_job(&server.base_url(), Setup::default(), job).await.run().await
    };
    let reason = reason_of(asking(elsewhere.base_url()).await);
    assert!(reason.contains("which this worker does not allow"), "{reason}");
    let reason = reason_of(asking("file:///etc/passwd".to_owned()).await);
    assert!(reason.contains("its scheme must be http or https"), "{reason}");
    assert_eq!((elsewhere.requests().len(), server.requests().len()), (0, 0));

    asking(server.base_url()).await.expect("where the connector asks anyway");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_seller_that_the_upstream_does_not_know_is_paused_with_its_words() {
    let mock = Mock::start(sized(5, 5, 600)).await.expect("a free port");
    let job = import_of(Dataset::Orders);
    let mut job = Attempts::of_job(&mock.base_url(), Setup::default(), job).await;
    let reason = reason_of(job.run().await);
    assert!(reason.contains("(401): token problem; seller is unknown; give a new"), "{reason}");
    assert_eq!(mock.summary().requests, 1);
}

#[tokio::test]
async fn the_upstreams_words_about_a_token_reach_whoever_reads_the_job() {
    let body = r#"{"title":"unauthorized","detail":"token problem; token is withdrawn"}"#;
    let server = Server::start(move |_, _| answer("401 Unauthorized", &[], body)).await;
    let mut job = Attempts::at(&server).await;
    let reason = reason_of(job.run().await);
    assert!(reason.contains("is withdrawn; give a new token"), "{reason}");
}

#[tokio::test]
async fn no_error_text_has_the_token() {
    let whole = token_text(3_600);
    let elsewhere = Server::start(|_, _| answer("200 OK", &[], "[]")).await;
    let to = format!("{}/{whole}", elsewhere.base_url());
    for (status, headers) in [
        ("200 OK", vec![("Content-Type", "text/html".to_owned())]),
        ("200 OK", vec![("Content-Type", "application/json".to_owned())]),
        ("302 Found", vec![("Location", to)]),
        ("401 No", vec![]),
        ("400 No", vec![]),
        ("500 No", vec![]),
    ] {
        let body = format!("you sent {whole}");
        let server = Server::start(move |head, _| {
            assert!(head.contains(CANARY), "the credential goes where it belongs");
            let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, v.as_str())).collect();
            answer(status, &headers, &body)
        })
        .await;
        let setup = Setup::default();
        let mut shown = format!("{:?}", setup.tokens);
        let mut job = Attempts::with(&server, setup).await;
        shown += &format!("{:?} {:?}", job.run().await, job.record);
        assert_eq!(server.requests().len(), 1);
        assert!(!shown.contains(CANARY), "{shown}");
    }
    assert_eq!(elsewhere.requests().len(), 0);
}

/// Everything that the queue keeps of an import, to its last field.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_the_queue_keeps_has_the_token() {
    let ended = Fleet::start(sized(10, 5, 600), &[Dataset::Orders]).await.run().await;
    let token = ended.mock.token(0);
    let shown = format!("{:?} {:?}", ended.jobs, ended.stats);
    assert!(token.split('.').all(|part| !shown.contains(part)), "{shown}");
}
