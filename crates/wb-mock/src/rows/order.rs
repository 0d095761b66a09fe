//! Rows of the orders method.

use serde::Serialize;

use super::purchase::{Deal, Money, Purchase};
use super::{Origin, State};
use crate::clock::MoscowTime;

/// An order. A late update cancels it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OrderRow {
    pub(super) date: MoscowTime,
    pub(super) last_change_date: MoscowTime,
    #[serde(flatten)]
    purchase: Purchase,
    finished_price: Money,
    price_with_disc: Money,
    is_cancel: bool,
    cancel_date: MoscowTime,
    sticker: String,
    g_number: String,
    pub(super) srid: String,
}

impl OrderRow {
    pub(super) fn make(origin: Origin) -> Self {
        let mut dice = origin.source.dice(origin.row);
        let date = origin.date(&mut dice);
        let cancelled_from_the_start = dice.one_in(14);
        let is_cancel = match origin.state {
            State::Settled => cancelled_from_the_start,
            State::AwaitsUpdate => false,
            State::Updated(_) => true,
        };
        let deal = Deal::make(origin.source.seed, origin.source.seller, origin.row);
        Self {
            date,
            last_change_date: origin.last_change(),
            purchase: deal.purchase,
            finished_price: deal.finished_price,
            price_with_disc: deal.price_with_disc,
            is_cancel,
            cancel_date: if is_cancel { origin.last_change() } else { MoscowTime::never() },
            sticker: deal.sticker,
            g_number: deal.g_number,
            srid: deal.srid,
        }
    }
}
