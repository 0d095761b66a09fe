//! Limits are data: an import that goes by a catalogue file reads it again when it changes.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::task::AbortOnDropHandle;
use waitless_job::{AccountId, Clock};
use waitless_store::Store;
use waitless_upstream::Catalogue;
use waitless_wb::{Dataset, SellerToken};

use crate::commands::catalogue::Source;

/// Time between two looks at the file.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A catalogue that may change, and its text when it was looked at last.
pub(super) struct Watched {
    source: Source,
    /// None if there is no file.
    text: Option<String>,
}

impl Watched {
    /// Reads it for the first time.
    pub(super) fn read(source: Source) -> Result<(Catalogue, Self)> {
        // Before it is parsed: what changes between the two is noticed at the next look.
        let text = source.text();
        Ok((source.read()?, Self { source, text }))
    }

    /// Looks at the file until what this answers is dropped. New limits hold from the next request
    /// on; what an endpoint draws on stays as it was when the import began.
    pub(super) fn start(
        self,
        store: Arc<dyn Store>,
        token: &SellerToken,
        datasets: Vec<Dataset>,
    ) -> AbortOnDropHandle<()> {
        let Self { source, text: mut last } = self;
        let (account, family) = (token.account().clone(), token.family());
        AbortOnDropHandle::new(tokio::spawn(async move {
            let mut looks = interval(LOOK_EVERY);
            looks.set_missed_tick_behavior(MissedTickBehavior::Skip);
            loop {
                looks.tick().await;
                let text = source.text();
                // A file that is being replaced may be gone for a moment.
                if text.is_none() || text == last {
                    continue;
                }
                last = text;
                match set_limits(&source, &*store, &account, family, &datasets).await {
                    Ok(()) => tracing::warn!("the catalogue file has changed: its limits hold now"),
                    Err(error) => tracing::warn!(
                        "the catalogue file has changed and is not used, the limits stay: {error:#}"
                    ),
                }
            }
        }))
    }
}

async fn set_limits(
    source: &Source,
    store: &dyn Store,
    account: &AccountId,
    family: &str,
    datasets: &[Dataset],
) -> Result<()> {
    let catalogue = source.read()?;
    let endpoints = datasets.iter().flat_map(|dataset| dataset.endpoints()).copied();
    let limits = catalogue.limits_of(account, family, endpoints)?;
    Ok(store.set_limits(limits, Clock::system().now()).await?)
}
