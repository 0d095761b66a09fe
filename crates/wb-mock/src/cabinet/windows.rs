//! Reports on a window of days: one task for each.

use std::fmt::Debug;

use chrono::NaiveDate;
use serde_json::Value;

use super::owner::{Owner, Subject, day_number};
use super::period::{Period, Reach};
use super::refusal::{Refusal, replied};
use super::row::keyed;
use super::tasks::Tasks;
use crate::drawer::{Drawer, ExpectedRows, Question, Reply};
use crate::{Call, Dataset};

/// Rows that belong to days.
pub(crate) trait DailyRows: Copy + Debug + Send + Sync + 'static {
    const DATASET: Dataset;
    const REACH: Reach;
    /// The fields of the natural key.
    const KEY: &'static [&'static str];

    fn owner(&self) -> Owner;

    /// The rows of one of the [`days`].
    fn rows_on(&self, day: NaiveDate) -> Vec<Value>;
}

/// A report on windows.
#[derive(Debug)]
pub(crate) struct WindowReport<R> {
    rows: R,
    tasks: Tasks<Period>,
}

/// The days that have rows: those within the reach that are over.
pub(crate) fn days<R: DailyRows>(rows: &R) -> Period {
    Period { first: rows.owner().days_ago(R::REACH.depth_days), last: rows.owner().days_ago(1) }
}

impl<R: DailyRows> Drawer for WindowReport<R> {
    fn answer(&self, call: Call, question: &Question) -> Reply {
        replied(match call {
            Call::Create => self.create(question),
            Call::Status => self.tasks.status(question),
            _ => self.download(question),
        })
    }

    fn expected(&self) -> ExpectedRows {
        let rows = self.rows;
        let all = days(&rows).iter().flat_map(move |day| rows.rows_on(day));
        Box::new(all.map(|row| keyed(&row, R::KEY)))
    }

    /// One task for each of the fewest windows.
    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        let windows = days(&self.rows).days().div_ceil(R::REACH.days_max);
        [Call::Create, Call::Status, Call::Download].map(|call| (R::DATASET, call, windows)).into()
    }
}

impl<R: DailyRows> WindowReport<R> {
    pub(crate) fn new(rows: R) -> Self {
        Self { rows, tasks: Tasks::new(rows.owner(), R::DATASET as u64) }
    }

    fn create(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&["dateFrom", "dateTo"])?;
        let window = question.period(["dateFrom", "dateTo"], R::REACH)?;
        Ok(self.tasks.create(window, question))
    }

    /// That there is nothing is said in two ways: by 204 or by an empty array, as the window has it.
    fn download(&self, question: &Question) -> Result<Reply, Refusal> {
        let window = self.tasks.fetch(question)?;
        let (of_report, days) = (self.rows, days(&self.rows));
        let days = window.iter().filter(move |day| days.contains(*day));
        let mut rows = days.flat_map(move |day| of_report.rows_on(day)).peekable();
        let numbers = [R::DATASET as u64, day_number(window.first)];
        let says_no_content = of_report.owner().dice(Subject::Window, numbers).one_in(2);
        if rows.peek().is_none() && says_no_content {
            return Ok(Reply::NoContent);
        }
        Ok(Reply::rows("[", rows, "]"))
    }
}
