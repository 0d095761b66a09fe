//! Cards of goods: pages behind a cursor of `updatedAt` and `nmID`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use serde::Deserialize;
use serde_json::{Value, json};

use super::goods::{Good, GoodSize, Goods};
use super::owner::Subject;
use super::question;
use super::refusal::{Refusal, replied};
use super::row::versioned;
use crate::drawer::{Drawer, ExpectedRows, Question, Reply};
use crate::{Call, Dataset};

const LIMIT_MAX: u64 = 100;
const LIMIT_DEFAULT: u64 = 10;

/// Two cards of three were changed at one of so few moments, by somebody's upload: with some
/// hundred cards, more than a page of them share a moment.
const UPLOADS: u64 = 3;

/// One card of so many of the first half changes while it is read.
const LATE_ONE_IN: u64 = 20;

/// A client must have to come again after the page that makes the late updates happen. It need not
/// if one page holds everything.
const LATE_CARDS_MIN: u64 = LIMIT_MAX;

/// The cards of a seller, in both orders that they may have.
#[derive(Debug)]
pub(crate) struct Cards {
    goods: Goods,
    early: Vec<Place>,
    /// As `early`, with late updates. Equal if there are none.
    late: Arc<[Place]>,
    late_have_happened: AtomicBool,
}

/// A card's place in the order of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    updated_at: DateTime<Utc>,
    nm_id: u64,
    number: u64,
    was_late: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    #[serde(default)]
    settings: Settings,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Settings {
    sort: Sort,
    filter: Filter,
    cursor: Cursor,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Sort {
    ascending: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Filter {
    #[serde(rename = "withPhoto")]
    with_photo: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Cursor {
    limit: Option<u64>,
    #[serde(rename = "updatedAt")]
    updated_at: Option<String>,
    #[serde(rename = "nmID")]
    nm_id: Option<u64>,
}

/// What a request asks for.
struct Wish {
    ascending: bool,
    with_photos: Option<bool>,
    limit: usize,
    /// Where the page before ended.
    after: Option<(DateTime<Utc>, u64)>,
}

impl Drawer for Cards {
    fn answer(&self, _: Call, question: &Question) -> Reply {
        replied(self.list(question))
    }

    fn expected(&self) -> ExpectedRows {
        let (goods, places) = (self.goods, Arc::clone(&self.late));
        let rows = (0..places.len()).map(move |index| card(goods, &places[index]));
        Box::new(rows.map(|row| versioned(&row, &["nmID"], "updatedAt")))
    }

    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        vec![(Dataset::Cards, Call::Page, self.pages())]
    }
}

impl Cards {
    pub(crate) fn new(goods: Goods, late_updates: bool) -> Self {
        let mut early: Vec<Place> =
            (0..goods.count).map(|number| first_place(&goods, number)).collect();
        early.sort_unstable();
        let mut late = early.clone();
        if late_updates && goods.count >= LATE_CARDS_MIN {
            update(&goods, &mut late);
        }
        Self { goods, early, late: late.into(), late_have_happened: AtomicBool::new(false) }
    }

    fn list(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&["locale"])?;
        let wish = Wish::read(question.json::<Body>()?.settings)?;
        let places = self.places();
        let page = self.page(places, &wish);
        if reaches_the_middle(places, &page, wish.limit) {
            self.late_have_happened.store(true, Ordering::Release);
        }

        let cursor = match page.last() {
            Some(last) => json!({
                "updatedAt": written(last.updated_at),
                "nmID": last.nm_id,
                "total": page.len(),
            }),
            None => json!({"updatedAt": null, "nmID": 0, "total": 0}),
        };
        let goods = self.goods;
        let cards = page.into_iter().map(move |place| card(goods, &place));
        Ok(Reply::rows(r#"{"cards":["#, cards, format!(r#"],"cursor":{cursor}}}"#)))
    }

    /// How many pages of 100 an import takes.
    fn pages(&self) -> u64 {
        let limit = LIMIT_MAX as usize;
        let mut wish = Wish { ascending: true, with_photos: None, limit, after: None };
        let mut places: &[Place] = &self.early;
        for pages in 1.. {
            let page = self.page(places, &wish);
            if page.len() < limit {
                return pages;
            }
            wish.after = page.last().map(|last| (last.updated_at, last.nm_id));
            if reaches_the_middle(places, &page, limit) {
                places = &self.late;
            }
        }
        unreachable!("a page is short at last")
    }

    fn places(&self) -> &[Place] {
        if self.late_have_happened.load(Ordering::Acquire) { &self.late } else { &self.early }
    }

    fn page(&self, places: &[Place], wish: &Wish) -> Vec<Place> {
        let at = |place: &Place| (place.updated_at, place.nm_id);
        let wanted = |place: &&Place| {
            wish.with_photos.is_none_or(|with| with == has_photos(self.goods, place.number))
        };
        if wish.ascending {
            let start =
                wish.after.map_or(0, |after| places.partition_point(|place| at(place) <= after));
            places[start..].iter().filter(wanted).take(wish.limit).copied().collect()
        } else {
            let end = wish
                .after
                .map_or(places.len(), |after| places.partition_point(|place| at(place) < after));
            places[..end].iter().rev().filter(wanted).take(wish.limit).copied().collect()
        }
    }
}

fn has_photos(goods: Goods, number: u64) -> bool {
    !goods.owner.dice(Subject::Card, [number, 1]).one_in(12)
}

fn card(goods: Goods, place: &Place) -> Value {
    let good = goods.good(place.number);
    let mut dice = goods.owner.dice(Subject::Card, [place.number, 2]);
    let created_at = goods.owner.started - Duration::days(dice.within(400..=900) as i64);
    let photos = if has_photos(goods, place.number) { dice.within(1..=5) } else { 0 };
    let mut card = json!({
        "nmID": good.nm_id,
        "imtID": good.imt_id,
        "nmUUID": dice.uuid(),
        "subjectID": good.subject_id,
        "subjectName": good.subject,
        "vendorCode": good.vendor_code,
        "brand": good.brand,
        "title": good.title,
        "description": description(&good, place.was_late),
        "needKiz": dice.one_in(5),
        "kizMarked": dice.one_in(9),
        "photos": (1..=photos).map(|n| photo(good.nm_id, n)).collect::<Vec<_>>(),
        "wholesale": {"enabled": dice.one_in(4), "quantum": dice.within(1..=20)},
        "dimensions": {
            "length": dice.within(3..=90),
            "width": dice.within(3..=60),
            "height": dice.within(1..=60),
            "weightBrutto": dice.within(50..=9_000) as f64 / 1000.0,
            "isValid": !dice.one_in(10),
        },
        // Values have no type of their own: lists, numbers and texts.
        "characteristics": [
            {"id": 14_177_449, "name": "Цвет", "value": [good.color]},
            {"id": 88_952, "name": "Вес товара с упаковкой (г)", "value": dice.within(50..=9_000)},
            {"id": 14_177_451, "name": "Страна производства", "value": "Россия"},
        ],
        "sizes": sizes(&good),
        "tags": [],
        "createdAt": written(created_at),
        "updatedAt": written(place.updated_at),
    });
    // Most cards have no video, and then no such field.
    if dice.one_in(6) {
        card["video"] = format!("https://video.example/{}.m3u8", good.nm_id).into();
    }
    if dice.one_in(4) {
        card["tags"] = json!([{"id": dice.within(1..=900), "name": "Сезон", "color": "D1CFD7"}]);
    }
    card
}

impl Wish {
    fn read(settings: Settings) -> Result<Self, Refusal> {
        let Settings { sort, filter, cursor } = settings;
        let limit = question::limit(cursor.limit.unwrap_or(LIMIT_DEFAULT), LIMIT_MAX)?;
        let with_photos = match filter.with_photo {
            None | Some(-1) => None,
            Some(0) => Some(false),
            Some(1) => Some(true),
            Some(other) => return Err(Refusal::bad(format!("withPhoto: {other} is unknown"))),
        };
        let after = match (cursor.updated_at, cursor.nm_id) {
            (None, None | Some(0)) => None,
            (Some(text), Some(nm_id)) => {
                let moment = DateTime::parse_from_rfc3339(&text)
                    .map_err(|_| Refusal::bad(format!("updatedAt: {text:?} is no moment")))?;
                Some((moment.with_timezone(&Utc), nm_id))
            }
            // Half a cursor would skip or repeat the cards of that moment.
            _ => return Err(Refusal::bad("cursor: updatedAt and nmID go together")),
        };
        Ok(Self { ascending: sort.ascending, with_photos, limit, after })
    }
}

/// Full pages only: whoever gets a short one has been told that it was the last.
fn reaches_the_middle(places: &[Place], page: &[Place], limit: usize) -> bool {
    let middle = places.len().div_ceil(2).checked_sub(1).map(|index| places[index]);
    page.len() == limit && page.last() >= middle.as_ref()
}

fn first_place(goods: &Goods, number: u64) -> Place {
    let mut dice = goods.owner.dice(Subject::Card, [number, 0]);
    let updated_at = if dice.one_in(3) {
        let minutes = dice.within(120..=500 * 1440) as i64;
        goods.owner.started
            - Duration::minutes(minutes)
            - Duration::microseconds(dice.below(60_000_000) as i64)
    } else {
        let upload = dice.below(UPLOADS);
        let mut dice = goods.owner.dice(Subject::Card, [upload, 3]);
        let hours = 24 + upload * 1500 + dice.below(1000);
        goods.owner.started
            - Duration::hours(hours as i64)
            - Duration::microseconds(dice.below(1_000_000) as i64)
    };
    Place { updated_at, nm_id: goods.nm_id(number), number, was_late: false }
}

/// Moves some places of the first half behind all others.
fn update(goods: &Goods, places: &mut [Place]) {
    let middle = places.len().div_ceil(2);
    let chosen = (0..middle).step_by(LATE_ONE_IN as usize);
    for (n, index) in chosen.enumerate() {
        // Two at a time share a moment.
        let seconds = 1800 - (n as i64 / 2).min(1700);
        places[index].updated_at = goods.owner.started - Duration::seconds(seconds);
        places[index].was_late = true;
    }
    places.sort_unstable();
}

fn description(good: &Good, was_late: bool) -> String {
    // Line breaks and quotes, as people write them.
    let news = if was_late { "Обновлено!\n" } else { "" };
    format!(
        "{news}{} «{}».\nЦвет: {}; размеров: {}.",
        good.title,
        good.brand,
        good.color,
        good.sizes.len()
    )
}

fn photo(nm_id: u64, n: u64) -> Value {
    let address = |size: &str| format!("https://photo.example/{nm_id}/{size}/{n}.webp");
    json!({
        "big": address("big"),
        "c246x328": address("c246x328"),
        "c516x688": address("c516x688"),
        "square": address("square"),
        "tm": address("tm"),
    })
}

fn sizes(good: &Good) -> Vec<Value> {
    let size = |size: &GoodSize| {
        json!({
            "chrtID": size.chrt_id,
            "techSize": size.tech_size,
            "wbSize": if size.tech_size == "0" { "" } else { size.tech_size },
            "skus": [size.barcode],
        })
    };
    good.sizes.iter().map(size).collect()
}

fn written(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::Micros, true)
}
