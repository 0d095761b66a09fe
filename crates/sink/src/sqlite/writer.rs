//! The thread that writes.

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::change::{Change, Outcome};
use super::connection::open_writer;
use super::thread::Thread;
use super::{Read, group};
use crate::{SinkError, SinkUrl};

/// How many waiting changes share one commit.
const GROUP_MAX: usize = 32;

/// What the writer may be asked to do.
pub(crate) enum Command {
    /// Make a change and answer when it is committed.
    Write { change: Change, reply: oneshot::Sender<Result<Outcome, SinkError>> },
    /// Read from the one connection that an in-memory database has.
    Read(Read),
}

/// Opens the file and starts the thread.
pub(crate) async fn start(url: &SinkUrl) -> Result<Thread<Command>, SinkError> {
    Thread::start("waitless-sink-writer", url, open_writer, serve).await
}

fn serve(mut connection: Connection, url: SinkUrl, mut commands: mpsc::Receiver<Command>) {
    let mut waiting = Vec::with_capacity(GROUP_MAX);
    while commands.blocking_recv_many(&mut waiting, GROUP_MAX) > 0 {
        let mut changes = Vec::with_capacity(waiting.len());
        let mut replies = Vec::with_capacity(waiting.len());
        let mut reads = Vec::new();
        for command in waiting.drain(..) {
            match command {
                Command::Write { change, reply } => {
                    changes.push(change);
                    replies.push(reply);
                }
                Command::Read(read) => reads.push(read),
            }
        }
        if !changes.is_empty() {
            let outcomes = group::commit(&mut connection, &url, &changes);
            for (reply, outcome) in replies.into_iter().zip(outcomes) {
                // Nobody listens any more if the future was dropped.
                let _ = reply.send(outcome);
            }
        }
        for read in reads {
            read(&connection);
        }
    }
}
