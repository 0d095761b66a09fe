//! A seller's cabinet: every dataset but orders and sales.

use std::sync::Arc;

use axum::http::StatusCode;

use crate::drawer::{Drawer, ExpectedRows, Question, Reply};
use crate::{Call, Dataset, MockConfig};

/// The drawer of a dataset that is neither orders nor sales.
pub(crate) fn drawer(_config: &MockConfig, _seller: usize, _dataset: Dataset) -> Arc<dyn Drawer> {
    Arc::new(Empty)
}

#[derive(Debug)]
struct Empty;

impl Drawer for Empty {
    fn answer(&self, _call: Call, _question: &Question) -> Reply {
        let detail = "not there yet".to_owned();
        Reply::Refused { status: StatusCode::NOT_IMPLEMENTED, detail }
    }

    fn expected(&self) -> ExpectedRows {
        Box::new(std::iter::empty())
    }

    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        Vec::new()
    }
}
