//! Buyers' feedbacks, the answered and the others apart: pages by `skip`, up to a short one.
//!
//! They do not change while they are read. If one were answered between the two passes, the client
//! would find it in neither (or, in the other order, in both): that is the upstream's shortcoming,
//! and no client's.

use chrono::{DateTime, Duration, SecondsFormat, Utc};
use serde_json::{Value, json};

use super::goods::Goods;
use super::owner::Subject;
use super::question;
use super::refusal::{Refusal, replied};
use super::row::keyed;
use crate::dice::Dice;
use crate::drawer::{Drawer, ExpectedRows, Question, Reply};
use crate::{Call, Dataset};

const TAKE_MAX: u64 = 5_000;
const SKIP_MAX: u64 = 199_990;

/// Feedbacks lie in so many days before the mock started.
const DAYS: i64 = 300;

const TEXTS: [&str; 5] = [
    "",
    "Всё отлично, спасибо!",
    "Размер маломерит;\nбрала \"M\", нужен L",
    "Пришло быстро, упаковка целая 👍",
    "Не понравилось: нитки торчат, цвет не как на фото",
];

/// The feedbacks on a seller's goods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feedbacks {
    pub(crate) goods: Goods,
    pub(crate) count: u64,
}

/// Which feedbacks are asked for.
#[derive(Clone, Copy)]
struct Wish {
    is_answered: bool,
    nm_id: Option<u64>,
    from: Option<DateTime<Utc>>,
    until: Option<DateTime<Utc>>,
}

impl Drawer for Feedbacks {
    fn answer(&self, _: Call, question: &Question) -> Reply {
        replied(self.list(question))
    }

    fn expected(&self) -> ExpectedRows {
        let this = *self;
        Box::new((0..self.count).map(move |number| keyed(&this.row(number), &["id"])))
    }

    fn expected_count(&self) -> u64 {
        self.count
    }

    /// Two passes, each with a short page at its end.
    fn requests(&self) -> Vec<(Dataset, Call, u64)> {
        let answered = (0..self.count).filter(|number| self.is_answered(*number)).count() as u64;
        let pages = |count: u64| count / TAKE_MAX + 1;
        let both = pages(answered) + pages(self.count - answered);
        vec![(Dataset::Feedbacks, Call::Page, both)]
    }
}

impl Feedbacks {
    fn list(&self, question: &Question) -> Result<Reply, Refusal> {
        question.only(&["isAnswered", "nmId", "take", "skip", "order", "dateFrom", "dateTo"])?;
        let take: u64 = question.required_value("take")?;
        let skip: u64 = question.required_value("skip")?;
        if !(1..=TAKE_MAX).contains(&take) {
            return Err(Refusal::bad(format!("take: {take} is not from 1 to {TAKE_MAX}")));
        }
        if skip > SKIP_MAX {
            return Err(Refusal::bad(format!("skip: {skip} exceeds {SKIP_MAX}")));
        }
        let ascending = match question.query.get("order") {
            Some("dateAsc") => true,
            None | Some("dateDesc") => false,
            Some(other) => return Err(Refusal::bad(format!("order: {other:?} is unknown"))),
        };
        let moment = |name| {
            let seconds: Option<i64> = question.value(name)?;
            Ok(seconds.and_then(|seconds| DateTime::from_timestamp(seconds, 0)))
        };
        let wish = Wish {
            is_answered: question.required_value("isAnswered")?,
            nm_id: question.value("nmId")?,
            from: moment("dateFrom")?,
            until: moment("dateTo")?,
        };

        let this = *self;
        let count = self.count;
        let numbers = (0..count)
            .map(move |place| if ascending { place } else { count - 1 - place })
            .filter(move |number| this.is_wanted(*number, wish));
        let page = numbers
            .skip(question::offset(skip))
            .take(question::offset(take))
            .map(move |number| this.row(number));
        let unanswered = (0..self.count).filter(|number| !self.is_answered(*number)).count();
        let before = format!(
            r#"{{"data":{{"countUnanswered":{unanswered},"countArchive":{},"feedbacks":["#,
            self.count - unanswered as u64,
        );
        let after = r#"]},"error":false,"errorText":"","additionalErrors":null}"#;
        Ok(Reply::rows(before, page, after))
    }

    fn is_wanted(&self, number: u64, wish: Wish) -> bool {
        self.is_answered(number) == wish.is_answered
            && wish.nm_id.is_none_or(|nm_id| nm_id == self.nm_id(number))
            && wish.from.is_none_or(|from| self.created_at(number) >= from)
            && wish.until.is_none_or(|until| self.created_at(number) <= until)
    }

    fn is_answered(&self, number: u64) -> bool {
        self.dice(number, 0).one_in(2)
    }

    fn nm_id(&self, number: u64) -> u64 {
        self.goods.nm_id(self.dice(number, 1).below(self.goods.count.max(1)))
    }

    /// Later for higher numbers.
    fn created_at(&self, number: u64) -> DateTime<Utc> {
        let slot = DAYS * 86_400_000 / self.count as i64;
        let within = self.dice(number, 2).below(slot.max(1) as u64) as i64;
        let first = self.goods.owner.started - Duration::days(DAYS);
        first + Duration::milliseconds(slot * number as i64 + within)
    }

    fn dice(&self, number: u64, about: u64) -> Dice {
        self.goods.owner.dice(Subject::Feedback, [number, about])
    }

    fn row(&self, number: u64) -> Value {
        let mut dice = self.dice(number, 3);
        let good = self.goods.good(self.goods.number_of(self.nm_id(number)).unwrap_or(0));
        let created_at = self.created_at(number);
        let answered = self.is_answered(number);
        let answer =
            json!({"text": "Спасибо за отзыв!", "state": "wbRu", "editable": dice.one_in(2)});
        let photo = json!({
            "fullSize": format!("https://feedback.example/{number}/full.webp"),
            "miniSize": format!("https://feedback.example/{number}/mini.webp"),
        });
        json!({
            "id": dice.uuid(),
            "text": dice.pick(&TEXTS),
            "pros": if dice.one_in(3) { "Качество" } else { "" },
            "cons": "",
            "productValuation": dice.within(1..=5),
            "createdDate": created_at.to_rfc3339_opts(SecondsFormat::Millis, true),
            "answer": answered.then_some(answer),
            "state": if answered { "wbRu" } else { "none" },
            "productDetails": {
                "nmId": good.nm_id,
                "imtId": good.imt_id,
                "productName": good.title,
                // Null where the seller has since deleted it.
                "supplierArticle": (!dice.one_in(12)).then_some(good.vendor_code.as_str()),
                "supplierName": (!dice.one_in(12)).then_some("ООО «Ромашка»"),
                "brandName": (!dice.one_in(12)).then_some(good.brand),
                "size": good.sizes[0].tech_size,
            },
            "photoLinks": dice.one_in(5).then(|| json!([photo])),
            "video": null,
            "wasViewed": dice.one_in(2),
            "userName": dice.pick(&["Анна", "Пётр", "", "Ольга Н."]),
            "orderStatus": dice.pick(&["buyout", "rejected", "returned"]),
            "matchingSize": dice.pick(&["", "ok", "smaller", "bigger"]),
            "isAbleSupplierFeedbackValuation": false,
            "supplierFeedbackValuation": 0,
            "isAbleSupplierProductValuation": false,
            "supplierProductValuation": 0,
            "isAbleReturnProductOrders": false,
            "returnProductOrdersDate": null,
            "bables": dice.one_in(3).then(|| json!(["цена", "качество"])),
            "lastOrderShkId": dice.within(1_000_000_000..=59_999_999_999),
            "lastOrderCreatedAt": (created_at - Duration::days(dice.within(3..=30) as i64))
                .to_rfc3339_opts(SecondsFormat::Secs, true),
            "color": good.color,
            "subjectId": good.subject_id,
            "subjectName": good.subject,
            "parentFeedbackId": null,
            "childFeedbackId": null,
        })
    }
}
