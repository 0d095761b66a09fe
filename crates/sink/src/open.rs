use std::sync::Arc;

use crate::{Sink, SinkError, SinkUrl, SqliteSink};

/// Opens the sink that a URL names: `sqlite:PATH` (made if it does not exist) or
/// `sqlite::memory:`.
///
/// # Errors
///
/// Those of [`SinkUrl`]'s parsing and of [`SqliteSink::open`].
pub async fn open(url: &str) -> Result<Arc<dyn Sink>, SinkError> {
    let url: SinkUrl = url.parse()?;
    Ok(Arc::new(SqliteSink::open(url).await?))
}
