use anyhow::Result;
use waitless_job::Clock;
use waitless_store::{Reader, StoreError, fsck::fsck};

use crate::{
    args::{Doctor, Global},
    exit::Exit,
    open,
    output::{self, Output},
};
use finding::{Finding, Status};

mod contents;
mod file;
mod finding;

pub(crate) async fn run(global: &Global, args: &Doctor) -> Result<Exit> {
    let findings = examine(&args.store.store).await?;
    match global.output() {
        Output::Table | Output::Wide => output::print(finding::text(&findings).trim_end())?,
        machine => output::list(machine, &findings)?,
    }
    let bad = findings.iter().any(|finding| finding.status == Status::Bad);
    Ok(if bad { Exit::Unhealthy } else { Exit::Ok })
}

/// Everything there is to say about a store.
async fn examine(url: &str) -> Result<Vec<Finding>> {
    let store = match open::existing_store(url).await {
        Ok(store) => store,
        // A store that is there and cannot be opened is what a doctor is asked about.
        Err(error) => match error.downcast::<StoreError>() {
            Ok(error) => return Ok(vec![file::closed(&error)]),
            Err(error) => return Err(error),
        },
    };
    let mut findings = Vec::new();
    match store.health().await {
        Ok(health) => findings.extend(file::check(url, &health)),
        Err(error) => findings.push(file::unreadable(&error)),
    }
    let audit = match store.audit().await {
        Ok(audit) => audit,
        Err(error) => {
            findings.push(file::unreadable(&error));
            return Ok(findings);
        }
    };
    let now = Clock::system().now();
    findings.extend(contents::rules(&fsck(&audit)));
    findings.push(contents::worker(&audit, store.worker()));
    findings.extend(contents::check(&audit, now));
    Ok(findings)
}
