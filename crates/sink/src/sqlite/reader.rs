//! The thread that reads, beside the one that writes.

use rusqlite::Connection;
use tokio::sync::mpsc;

use super::Read;
use super::connection::open_reader;
use super::thread::Thread;
use crate::{SinkError, SinkUrl};

/// Opens the file and starts the thread.
pub(crate) async fn start(url: &SinkUrl) -> Result<Thread<Read>, SinkError> {
    Thread::start("waitless-sink-reader", url, open_reader, serve).await
}

fn serve(connection: Connection, _url: SinkUrl, mut reads: mpsc::Receiver<Read>) {
    while let Some(read) = reads.blocking_recv() {
        read(&connection);
    }
}
