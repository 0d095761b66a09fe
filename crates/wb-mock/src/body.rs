//! Bodies that are made while they are sent.

use std::convert::Infallible;
use std::sync::atomic::Ordering;

use axum::body::Body;
use bytes::Bytes;
use futures::{StreamExt, stream};
use serde::Serialize;

use crate::audit::RowsSent;
use crate::drawer::StreamedRows;

/// A chunk ends with the item that reaches this size.
const CHUNK_BYTES: usize = 64 * 1024;

/// Rows between what comes before and after them; `sent` counts them.
pub(crate) fn rows(rows: StreamedRows, sent: RowsSent) -> Body {
    let StreamedRows { before, mut next, after } = rows;
    let mut before = Some(before);
    let mut first = true;
    let mut closed = false;
    streamed(move || {
        if closed {
            return None;
        }
        let mut chunk = Vec::with_capacity(CHUNK_BYTES + 1024);
        chunk.extend_from_slice(before.take().unwrap_or_default().as_bytes());
        let mut count = 0;
        while chunk.len() < CHUNK_BYTES {
            let length = chunk.len();
            if !first {
                chunk.push(b',');
            }
            if !next(&mut chunk) {
                chunk.truncate(length);
                chunk.extend_from_slice(after.as_bytes());
                closed = true;
                break;
            }
            first = false;
            count += 1;
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
