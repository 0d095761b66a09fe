//! Bodies that are made while they are sent.

use std::convert::Infallible;
use std::sync::atomic::Ordering;

use axum::body::Body;
use bytes::Bytes;
use futures::{StreamExt, stream};
use serde::Serialize;

use crate::audit::RowsSent;

/// A chunk ends with the item that reaches this size.
const CHUNK_BYTES: usize = 64 * 1024;

/// A JSON array of the items, which `sent` counts.
pub(crate) fn json_array<I>(items: I, sent: RowsSent) -> Body
where
    I: Iterator<Item: Serialize + Send> + Send + 'static,
{
    let mut items = items.peekable();
    let mut opened = false;
    let mut closed = false;
    streamed(move || {
        if closed {
            return None;
        }
        let mut chunk = Vec::with_capacity(CHUNK_BYTES + 1024);
        if !opened {
            chunk.push(b'[');
            opened = true;
        }
        let mut count = 0;
        while chunk.len() < CHUNK_BYTES {
            let Some(item) = items.next() else { break };
            serde_json::to_writer(&mut chunk, &item).expect("rows are plain values");
            count += 1;
            if items.peek().is_some() {
                chunk.push(b',');
            }
        }
        if items.peek().is_none() {
            chunk.push(b']');
            closed = true;
        }
        sent.fetch_add(count, Ordering::Relaxed);
        Some(chunk)
    })
}

/// One JSON value per line.
pub(crate) fn ndjson<I>(mut items: I) -> Body
where
    I: Iterator<Item: Serialize + Send> + Send + 'static,
{
    streamed(move || {
        let mut chunk = Vec::new();
        while chunk.len() < CHUNK_BYTES {
            let Some(item) = items.next() else { break };
            serde_json::to_writer(&mut chunk, &item).expect("lines are plain values");
            chunk.push(b'\n');
        }
        (!chunk.is_empty()).then_some(chunk)
    })
}

/// Sends chunks until there are none. A chunk is made when the one before it was taken, so no more
/// than one is in memory.
fn streamed(next: impl FnMut() -> Option<Vec<u8>> + Send + 'static) -> Body {
    let chunks = stream::unfold(next, |mut next| async move {
        // Making a chunk never waits. Without this, a fast reader would keep the thread to itself.
        tokio::task::yield_now().await;
        next().map(|chunk| (Ok::<_, Infallible>(Bytes::from(chunk)), next))
    });
    // The compressor asks once more after the end, which an unfolded stream answers with a panic.
    Body::from_stream(chunks.fuse())
}
