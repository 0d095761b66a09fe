use std::{collections::VecDeque, fmt};

use serde_json::value::RawValue;

use crate::{
    RowsError, UpstreamError,
    body::Body,
    excerpt::{BEGINNING_CHARS, printable},
    splitter::Splitter,
};

/// Most rows of a chunk.
pub const CHUNK_ROWS_MAX: usize = 1_000;

/// A chunk ends with the row that reaches this size: 4 MiB.
pub const CHUNK_BYTES_MAX: usize = 4 << 20;

/// The rows of a JSON array, chunk by chunk while it arrives. The upstream is read no faster than
/// chunks are asked for, so memory is bounded by a chunk and one piece of the network's, however
/// large the page.
pub struct Rows {
    body: Body,
    splitter: Splitter,
    ready: VecDeque<Box<RawValue>>,
    ended: bool,
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("url", &self.body.url).finish_non_exhaustive()
    }
}

impl Rows {
    pub(crate) fn new(body: Body) -> Self {
        Self { body, splitter: Splitter::new(), ready: VecDeque::new(), ended: false }
    }

    pub(crate) fn none(body: Body) -> Self {
        Self { ended: true, ..Self::new(body) }
    }

    /// The next chunk: 1 to [`CHUNK_ROWS_MAX`] rows, about [`CHUNK_BYTES_MAX`] bytes at most.
    /// `None` at the end of the array, when the whole body has been seen to be one.
    ///
    /// # Errors
    /// [`UpstreamError::Cut`], [`UpstreamError::TimedOut`], [`UpstreamError::BodyTooLarge`] for the
    /// body; [`UpstreamError::Rows`] if it is not an array of JSON values, [`UpstreamError::NotJson`]
    /// if it looks like HTML. Rows that came before the error may be lost with it. Do not ask again
    /// after an error.
    pub async fn next_chunk(&mut self) -> Result<Option<Vec<Box<RawValue>>>, UpstreamError> {
        let (mut chunk, mut bytes) = (Vec::new(), 0);
        loop {
            while chunk.len() < CHUNK_ROWS_MAX && bytes < CHUNK_BYTES_MAX {
                let Some(row) = self.ready.pop_front() else {
                    break;
                };
                bytes += row.get().len();
                chunk.push(row);
            }
            let is_full = chunk.len() == CHUNK_ROWS_MAX || bytes >= CHUNK_BYTES_MAX;
            if is_full || (self.ended && !chunk.is_empty()) {
                return Ok(Some(chunk));
            }
            if self.ended {
                return Ok(None);
            }
            self.read_on().await?;
        }
    }

    async fn read_on(&mut self) -> Result<(), UpstreamError> {
        let read = match self.body.next().await? {
            Some(piece) => self.splitter.push(&piece, &mut |row| self.ready.push_back(row)),
            None => {
                self.ended = true;
                self.splitter.finish()
            }
        };
        read.map_err(|source| self.error(source))
    }

    fn error(&self, source: RowsError) -> UpstreamError {
        let url = self.body.url.clone();
        match source {
            RowsError::NotAnArray { beginning } => {
                let is_html = beginning.starts_with('<');
                let beginning = printable(&beginning, &self.body.secret, BEGINNING_CHARS);
                if is_html {
                    let content_type = "HTML".to_owned();
                    return UpstreamError::NotJson { url, content_type, beginning };
                }
                UpstreamError::Rows { url, source: RowsError::NotAnArray { beginning } }
            }
            source => UpstreamError::Rows { url, source },
        }
    }
}
