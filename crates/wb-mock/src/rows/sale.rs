//! Rows of the sales method.

use serde::Serialize;

use super::purchase::{Deal, Money, Purchase};
use super::{Origin, State};
use crate::clock::MoscowTime;
use crate::dice::Dice;
use crate::sizes::ROWS_MAX;

/// In each dozen of rows the last is a return, of one of the ten rows before it. So a sale comes
/// back at most once, and a return shares its `srid` with a sale.
const DOZEN: u64 = 12;

/// A sale or a return. A late update fills in its money.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SaleRow {
    pub(super) date: MoscowTime,
    pub(super) last_change_date: MoscowTime,
    #[serde(flatten)]
    purchase: Purchase,
    payment_sale_amount: u64,
    for_pay: Money,
    finished_price: Money,
    price_with_disc: Money,
    #[serde(rename = "saleID")]
    pub(super) sale_id: String,
    sticker: String,
    g_number: String,
    srid: String,
}

impl SaleRow {
    pub(super) fn make(origin: Origin) -> Self {
        let source = origin.source;
        let mut dice = source.dice(origin.row);
        let date = origin.date(&mut dice);
        let is_return = origin.row % DOZEN == DOZEN - 1;
        let sold_in_row =
            if is_return { origin.row - 1 - dice.below(DOZEN - 2) } else { origin.row };
        let deal = Deal::make(source.seed, source.seller, sold_in_row);
        let for_pay = deal.price_with_disc.percent(dice.within(70..=90));
        let money_is_known = money_is_known(&origin, &mut dice);
        let once_known = |money| if money_is_known { money } else { Money::ZERO };
        Self {
            date,
            last_change_date: origin.last_change(),
            purchase: deal.purchase,
            payment_sale_amount: if dice.one_in(3) { dice.within(1..=99) } else { 0 },
            for_pay: once_known(for_pay),
            finished_price: once_known(deal.finished_price),
            price_with_disc: once_known(deal.price_with_disc),
            sale_id: sale_id(is_return, source.seller, origin.row),
            sticker: deal.sticker,
            g_number: deal.g_number,
            srid: deal.srid,
        }
    }
}

/// Some sales of the last day have no amounts yet.
fn money_is_known(origin: &Origin, dice: &mut Dice) -> bool {
    let known_at_once = !dice.one_in(8);
    match origin.state {
        State::Settled => known_at_once || origin.appeared_at < origin.source.recent_from,
        State::AwaitsUpdate => false,
        State::Updated(_) => true,
    }
}

/// Unique among all sellers, in case somebody keys by this alone.
fn sale_id(is_return: bool, seller: u64, row: u64) -> String {
    let letter = if is_return { 'R' } else { 'S' };
    format!("{letter}{}", 9_000_000_000 + seller * ROWS_MAX + row)
}
