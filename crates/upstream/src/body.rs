//! A body as it arrives, with the limits on it.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, timeout};

use crate::{ClientConfig, Credential, Phase, UpstreamError, excerpt};

/// A body that brings at least so much within the idle timeout is alive.
const PROGRESS_BYTES: u64 = 16 << 10;

pub(crate) struct Body {
    response: reqwest::Response,
    /// Without the query.
    pub(crate) url: String,
    pub(crate) credential: Credential,
    idle_timeout_ms: u64,
    bytes_max: u64,
    bytes: u64,
    /// Time spent waiting for the body since it last made progress. Time that the caller takes to
    /// work off what has come does not count.
    waited: Duration,
    /// Bytes since then.
    bytes_of_progress: u64,
}

impl Body {
    pub(crate) fn new(
        response: reqwest::Response,
        url: String,
        credential: Credential,
        config: &ClientConfig,
    ) -> Self {
        Self {
            response,
            url,
            credential,
            idle_timeout_ms: config.idle_timeout_ms,
            bytes_max: config.body_bytes_max,
            bytes: 0,
            waited: Duration::ZERO,
            bytes_of_progress: 0,
        }
    }

    /// Takes no more than so many bytes, if that is less than the client may take.
    pub(crate) fn lower_bytes_max(&mut self, bytes_max: u64) {
        self.bytes_max = self.bytes_max.min(bytes_max);
    }

    /// The next piece, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, UpstreamError> {
        let idle = Duration::from_millis(self.idle_timeout_ms);
        let asked_at = Instant::now();
        let left = idle.saturating_sub(self.waited);
        let Ok(piece) = timeout(left, self.response.chunk()).await else {
            return Err(UpstreamError::TimedOut {
                url: self.url.clone(),
                phase: Phase::Body,
                timeout_ms: self.idle_timeout_ms,
            });
        };
        let piece = piece.map_err(|error| UpstreamError::Cut {
            url: self.url.clone(),
            bytes: self.bytes,
            reason: excerpt::causes(error, &self.credential),
        })?;
        let Some(piece) = piece else { return Ok(None) };

        let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
        self.bytes = self.bytes.saturating_add(length);
        if self.bytes > self.bytes_max {
            let (url, bytes_max) = (self.url.clone(), self.bytes_max);
            return Err(UpstreamError::BodyTooLarge { url, bytes_max });
        }
        self.bytes_of_progress = self.bytes_of_progress.saturating_add(length);
        self.waited += asked_at.elapsed();
        if self.bytes_of_progress >= PROGRESS_BYTES {
            (self.waited, self.bytes_of_progress) = (Duration::ZERO, 0);
        }
        Ok(Some(piece))
    }

    /// The beginning of the body, as much as comes of `bytes_max` bytes within `within`. What goes
    /// wrong meanwhile is of no interest: the answer is an error already.
    pub(crate) async fn beginning(mut self, bytes_max: usize, within: Duration) -> Vec<u8> {
        let mut beginning = Vec::new();
        let read = async {
            while beginning.len() < bytes_max {
                let Ok(Some(piece)) = self.next().await else {
                    break;
                };
                let room = bytes_max - beginning.len();
                beginning.extend_from_slice(&piece[..piece.len().min(room)]);
            }
        };
        let _ = timeout(within, read).await;
        beginning
    }
}
