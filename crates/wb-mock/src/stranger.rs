//! Another host, which nobody should send credentials to.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use serde::Serialize;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::door::CLIENT_SECRET;

/// A second server on another port of the loopback interface. It answers everything with 200 and an
/// empty array, and counts who comes.
#[derive(Debug)]
pub(crate) struct Stranger {
    address: SocketAddr,
    visits: Arc<Visits>,
}

#[derive(Debug, Default)]
struct Visits {
    requests: AtomicU64,
    with_credentials: AtomicU64,
}

/// Who came to the mock's stranger, where redirects lead that a script sends there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StrangerVisits {
    /// All requests.
    pub requests: u64,
    /// Those that carried `Authorization` or `X-Client-Secret`. There should be none.
    pub with_credentials: u64,
}

impl Stranger {
    /// Serves until `stopped`.
    pub(crate) async fn start(stopped: CancellationToken) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let visits = Arc::<Visits>::default();
        let service = Router::new().fallback(visit).with_state(Arc::clone(&visits));
        tokio::spawn(async move {
            axum::serve(listener, service).with_graceful_shutdown(stopped.cancelled_owned()).await
        });
        Ok(Self { address, visits })
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn visits(&self) -> StrangerVisits {
        StrangerVisits {
            requests: self.visits.requests.load(Ordering::Relaxed),
            with_credentials: self.visits.with_credentials.load(Ordering::Relaxed),
        }
    }
}

async fn visit(State(visits): State<Arc<Visits>>, headers: HeaderMap) -> &'static str {
    visits.requests.fetch_add(1, Ordering::Relaxed);
    if headers.contains_key(AUTHORIZATION) || headers.contains_key(CLIENT_SECRET) {
        visits.with_credentials.fetch_add(1, Ordering::Relaxed);
    }
    "[]"
}
