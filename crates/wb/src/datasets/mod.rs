//! What each dataset asks, what its rows are, and when it has everything. One file a dataset, or a
//! family of datasets that are asked alike.

#[cfg(test)]
mod bad_answers;
#[cfg(test)]
mod bad_rows;
pub(crate) mod campaign_stats;
pub(crate) mod campaigns;
pub(crate) mod cards;
pub(crate) mod changes;
pub(crate) mod days;
pub(crate) mod fbs_orders;
pub(crate) mod feedbacks;
pub(crate) mod finance;
pub(crate) mod funnel_csv;
pub(crate) mod funnel_history;
pub(crate) mod pages;
#[cfg(test)]
pub(crate) mod play;
#[cfg(test)]
mod reach;
pub(crate) mod sameness;
pub(crate) mod tariffs;
pub(crate) mod tasks;
pub(crate) mod watch;
