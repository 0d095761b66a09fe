use std::{collections::VecDeque, fmt};

use serde_json::{Value, value::RawValue};

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
    envelope: Value,
    ended: bool,
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows").field("url", &self.body.url).finish_non_exhaustive()
    }
}

impl Rows {
    pub(crate) fn new(body: Body, path: &'static [&'static str]) -> Self {
        let splitter = Splitter::new(path);
        Self { body, splitter, ready: VecDeque::new(), envelope: Value::Null, ended: false }
    }

    pub(crate) fn none(body: Body) -> Self {
        Self { ended: true, ..Self::new(body, &[]) }
    }

    /// The body without its rows, once [`Rows::next_chunk`] has said that it is over: an empty array
    /// stands in their place. Null before that, for a body that is the array, and for a 204.
    #[must_use]
    pub fn envelope(&self) -> &Value {
        &self.envelope
    }

    /// The next chunk: 1 to [`CHUNK_ROWS_MAX`] rows, about [`CHUNK_BYTES_MAX`] bytes at most.
    /// `None` at the end, when the whole body has been seen to be JSON.
    ///
    /// # Errors
    /// [`UpstreamError::Cut`], [`UpstreamError::TimedOut`], [`UpstreamError::BodyTooLarge`] for the
    /// body; [`UpstreamError::Rows`] if it is not JSON with an array in its place,
    /// [`UpstreamError::NotJson`] if it looks like HTML. Rows that came before the error may be lost
    /// with it. Do not ask again after an error.
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
                self.splitter.finish().map(|envelope| self.envelope = envelope)
            }
        };
        read.map_err(|source| self.error(source))
    }

    fn error(&self, mut source: RowsError) -> UpstreamError {
        let url = self.body.url.clone();
        if let RowsError::NotRows { beginning, .. } | RowsError::NotRowsAt { beginning, .. } =
            &mut source
        {
            let is_page = beginning.starts_with('<');
            *beginning = printable(beginning, &self.body.credential, BEGINNING_CHARS);
            if is_page {
                let (content_type, beginning) = ("HTML".to_owned(), beginning.clone());
                return UpstreamError::NotJson { url, content_type, beginning };
            }
        }
        UpstreamError::Rows { url, source }
    }
}
