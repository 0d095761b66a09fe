//! The handle of a running mock.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::drawer::Drawer;
use crate::stranger::Stranger;
use crate::upstream::Upstream;
use crate::{
    AuditEntry, Dataset, ExpectedRow, Family, Faults, Limit, Method, MockConfig, MockError, Seller,
    Summary, TokenOptions, server,
};

/// How long [`Mock::stop`] waits for answers that are on their way.
const STOP_SECONDS_MAX: u64 = 5;

/// A running mock. It stops when it is dropped: no new connections, answers on their way are
/// finished. [`stop`](Self::stop) also waits for them.
#[derive(Debug)]
pub struct Mock {
    address: SocketAddr,
    upstream: Arc<Upstream>,
    stop: DropGuard,
    server: JoinHandle<io::Result<()>>,
}

impl Mock {
    /// Starts a mock on 127.0.0.1. It listens when this returns.
    ///
    /// # Errors
    ///
    /// [`MockError::PortInUse`] or [`MockError::Listen`] if the port cannot be had;
    /// [`MockError::Config`] if a value makes no sense.
    ///
    /// # Panics
    ///
    /// If called outside a tokio runtime.
    pub async fn start(config: MockConfig) -> Result<Self, MockError> {
        config.validate()?;
        let port = config.port;
        let listening = async {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
            Ok((listener.local_addr()?, listener))
        };
        let (address, listener) = listening.await.map_err(|source: io::Error| {
            if source.kind() == io::ErrorKind::AddrInUse {
                MockError::PortInUse { port }
            } else {
                MockError::Listen { port, source }
            }
        })?;
        // Small answers to many clients: waiting to fill a packet would only add to their latency.
        // If it cannot be set, answers are merely slower.
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });

        let stop = CancellationToken::new();
        let stranger = Stranger::start(stop.clone())
            .await
            .map_err(|source| MockError::Listen { port: 0, source })?;
        let upstream = Arc::new(Upstream::new(config, stranger, stop.clone()));
        let stopped = stop.clone().cancelled_owned();
        let service = server::router(Arc::clone(&upstream));
        let server = tokio::spawn(async move {
            axum::serve(listener, service).with_graceful_shutdown(stopped).await
        });
        Ok(Self { address, upstream, stop: stop.drop_guard(), server })
    }

    /// Where to call, without a slash at the end: `http://127.0.0.1:8080`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The port that the mock listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// All sellers; a seller's index is its place.
    #[must_use]
    pub fn sellers(&self) -> &[Seller] {
        &self.upstream.sellers
    }

    /// A personal token of a seller with all categories, good for 180 days.
    ///
    /// # Panics
    ///
    /// If there is no such seller.
    #[must_use]
    pub fn token(&self, seller: usize) -> String {
        self.token_of(seller, &TokenOptions::default())
    }

    /// A token of a seller as the options say.
    ///
    /// # Panics
    ///
    /// If there is no such seller.
    #[must_use]
    pub fn token_of(&self, seller: usize, options: &TokenOptions) -> String {
        self.upstream.token(&self.upstream.sellers[seller], options)
    }

    /// What goes with a seller's base token, in the header `X-Client-Secret`, to have the limits of
    /// other tokens.
    ///
    /// # Panics
    ///
    /// If there is no such seller.
    #[must_use]
    pub fn client_secret(&self, seller: usize) -> String {
        self.upstream.client_secret(&self.upstream.sellers[seller])
    }

    /// The rows that a client must end up with, made one by one; orders and sales in order of their
    /// last change.
    ///
    /// # Panics
    ///
    /// If there is no such seller.
    pub fn expected(
        &self,
        seller: usize,
        dataset: Dataset,
    ) -> impl Iterator<Item = ExpectedRow> + Send + use<> {
        self.drawer(seller, dataset).expected()
    }

    /// How many rows [`expected`](Self::expected) has.
    ///
    /// # Panics
    ///
    /// If there is no such seller.
    #[must_use]
    pub fn expected_count(&self, seller: usize, dataset: Dataset) -> u64 {
        self.drawer(seller, dataset).expected_count()
    }

    /// How many requests a whole import takes at least: if none is refused, every task is done when
    /// it is looked at, and paging ends as early as it can be known to. Of orders and sales that is
    /// from the beginning, following `lastChangeDate`, up to and including the first page that
    /// brings nothing new.
    ///
    /// # Panics
    ///
    /// If there is no such seller.
    #[must_use]
    pub fn import_requests(&self, seller: usize, dataset: Dataset) -> u64 {
        self.drawer(seller, dataset).requests().into_iter().map(|(_, _, count)| count).sum()
    }

    /// How long an import of these datasets takes at least, in milliseconds at the mock's speed: the
    /// time that the slowest bucket needs by arithmetic alone for the requests beyond its burst.
    /// Methods that the family may not call count for nothing, and so do daily caps.
    ///
    /// # Panics
    ///
    /// If there is no such seller.
    #[must_use]
    pub fn bound_ms(&self, seller: usize, family: Family, datasets: &[Dataset]) -> u64 {
        let mut buckets = HashMap::new();
        for dataset in datasets {
            for (of, call, count) in self.drawer(seller, *dataset).requests() {
                let method = Method::of(of, call);
                if let Some(limit) = method.bucket.limit(family) {
                    buckets.entry(method.bucket_name()).or_insert((limit, 0)).1 += count;
                }
            }
        }
        let time_us = |(limit, count): (Limit, u64)| {
            let speed = self.upstream.config.speed;
            count.saturating_sub(limit.burst.into()) * limit.interval_us(speed)
        };
        buckets.into_values().map(time_us).max().unwrap_or(0).div_ceil(1000)
    }

    /// Plays these faults from now on, in place of those before. Times in the script count from now.
    pub fn play(&self, faults: Faults) {
        self.upstream.play(faults);
    }

    /// Where another host listens that redirects of a fault script may lead to, without a slash at
    /// the end. [`Summary::stranger`] says who came there.
    #[must_use]
    pub fn stranger(&self) -> String {
        self.upstream.stranger.base_url()
    }

    /// Every request so far, in order of arrival.
    #[must_use]
    pub fn audit(&self) -> Vec<AuditEntry> {
        self.upstream.audit()
    }

    /// Requests so far, counted by outcome.
    #[must_use]
    pub fn summary(&self) -> Summary {
        self.upstream.summary()
    }

    /// Stops listening, waits up to five seconds for answers that are on their way, and returns the
    /// last summary.
    pub async fn stop(self) -> Summary {
        let Self { upstream, stop, server, .. } = self;
        drop(stop);
        let grace = Duration::from_secs(STOP_SECONDS_MAX);
        // An answer that nobody reads must not hold up whoever stops the mock. Its connection ends
        // with its client.
        let _ = tokio::time::timeout(grace, server).await;
        upstream.summary()
    }

    fn drawer(&self, seller: usize, dataset: Dataset) -> &Arc<dyn Drawer> {
        self.upstream.drawer(seller, dataset).expect("the seller's index is one of the mock's")
    }
}
