//! Advertising campaigns, all in one answer by type and status.

use chrono::{Duration, FixedOffset, SecondsFormat};
use serde_json::{Value, json};

use super::owner::{Owner, Subject};
use super::refusal::{Refusal, replied};
use super::row::{merged, versioned};
use crate::drawer::{Drawer, ExpectedRows, Question, Reply};
use crate::{Call, Dataset};

/// Type and status, in the order of the answer. 7 is over, 9 runs, 11 is paused.
const KINDS: [(u64, u64); 8] = [(4, 7), (5, 7), (6, 7), (7, 7), (8, 9), (8, 11), (9, 9), (9, 11)];

const ID_FIRST: u64 = 21_000_000;
const ID_STEP: u64 = 17;

/// The campaigns of a seller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Campaigns {
    pub(crate) owner: Owner,
    pub(crate) count: u64,
}

impl Drawer for Campaigns {
    fn answer(&self, _: Call, question: &Question) -> Reply {
        replied(self.all(question))
    }

    /// Entries of the lists, each with the type and status of its list.
    fn expected(&self) -> ExpectedRows {
        let this = *self;
        Box::new((0..self.count).map(move |number| {
            let (kind, status) = this.kind(number);
            let row = merged([this.entry(number), json!({"type": kind, "status": status})]);
            versioned(&row, &["advertId"], "changeTime")
        }))
    }

    fn expected_count(&self) -> u64 {
        self.count
    }

    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        vec![(Dataset::Campaigns, Call::Page, 1)]
    }
}

impl Campaigns {
    pub(crate) fn id(&self, number: u64) -> u64 {
        ID_FIRST + number * ID_STEP
    }

    pub(crate) fn number_of(&self, id: u64) -> Option<u64> {
        let offset = id.checked_sub(ID_FIRST)?;
        let number = offset / ID_STEP;
        (offset.is_multiple_of(ID_STEP) && number < self.count).then_some(number)
    }

    fn all(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&[])?;
        let adverts: Vec<Value> = KINDS
            .iter()
            .filter_map(|kind| {
                let numbers = (0..self.count).filter(|number| self.kind(*number) == *kind);
                let list: Vec<Value> = numbers.map(|number| self.entry(number)).collect();
                (!list.is_empty()).then(|| {
                    json!({
                        "type": kind.0,
                        "status": kind.1,
                        "count": list.len(),
                        "advert_list": list,
                    })
                })
            })
            .collect();
        // Without campaigns there is no list at all.
        let adverts = if adverts.is_empty() { Value::Null } else { adverts.into() };
        Ok(Reply::Json(json!({"adverts": adverts, "all": self.count})))
    }

    fn kind(&self, number: u64) -> (u64, u64) {
        self.owner.dice(Subject::Campaign, [number, 0]).pick(&KINDS)
    }

    fn entry(&self, number: u64) -> Value {
        let mut dice = self.owner.dice(Subject::Campaign, [number, 1]);
        let ago = Duration::microseconds(dice.within(1..=400 * 86_400 * 1_000_000) as i64);
        let moscow = FixedOffset::east_opt(3 * 3600).expect("three hours are valid");
        let changed_at = (self.owner.started - ago).with_timezone(&moscow);
        json!({
            "advertId": self.id(number),
            "changeTime": changed_at.to_rfc3339_opts(SecondsFormat::Micros, false),
        })
    }
}
