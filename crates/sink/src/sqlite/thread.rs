//! A thread that owns a connection and serves what comes through a channel.

use std::fmt;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use crate::{SinkError, SinkUrl};

/// How many requests wait at most; who comes later waits before it is accepted. It bounds the
/// memory of waiting batches.
const WAITING_MAX: usize = 32;

/// The thread and the way to it. Dropping it serves what was accepted, then ends the thread.
pub(crate) struct Thread<T> {
    /// Some until dropped.
    requests: Option<mpsc::Sender<T>>,
    /// Some until dropped.
    handle: Option<JoinHandle<()>>,
}

/// The thread has ended.
#[derive(Debug)]
pub(crate) struct Ended;

impl<T: Send + 'static> Thread<T> {
    /// Starts a thread and waits until it has opened its connection. `serve` ends when the channel
    /// is closed and empty.
    pub(crate) async fn start(
        name: &str,
        url: &SinkUrl,
        open: fn(&SinkUrl) -> Result<Connection, SinkError>,
        serve: fn(Connection, SinkUrl, mpsc::Receiver<T>),
    ) -> Result<Self, SinkError> {
        let (requests, receiver) = mpsc::channel(WAITING_MAX);
        let (opened, is_open) = oneshot::channel();
        let its_url = url.clone();
        let handle = thread::Builder::new().name(name.into()).spawn(move || {
            match open(&its_url) {
                Ok(connection) => {
                    // If nobody waits any more, the channel is closed and `serve` ends at once.
                    let _ = opened.send(Ok(()));
                    serve(connection, its_url, receiver);
                }
                Err(error) => drop(opened.send(Err(error))),
            }
        });
        let handle = handle
            .map_err(|error| SinkError::Thread { url: url.clone(), source: Arc::new(error) })?;
        let thread = Self { requests: Some(requests), handle: Some(handle) };
        is_open.await.map_err(|_| SinkError::Closed { url: url.clone() })??;
        Ok(thread)
    }

    /// Hands over a request, and waits while too many are waiting.
    pub(crate) async fn send(&self, request: T) -> Result<(), Ended> {
        let requests = self.requests.as_ref().expect("some until dropped");
        requests.send(request).await.map_err(|_| Ended)
    }
}

impl<T> Drop for Thread<T> {
    fn drop(&mut self) {
        // First the channel: the thread ends when it is closed and empty.
        self.requests = None;
        if let Some(handle) = self.handle.take() {
            // A panic of the thread was printed when it happened, and its callers have been told.
            let _ = handle.join();
        }
    }
}

impl<T> fmt::Debug for Thread<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Thread").finish_non_exhaustive()
    }
}
