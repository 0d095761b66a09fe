//! The stand-in's real answers, spoilt: every field of every row of every dataset, and whole pages.
//! Sources are played to their end, so that what a bad row does to paging shows as well.

use std::{collections::HashMap, time::Duration};

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use uuid::Uuid;
use waitless_upstream::Catalogue;
use waitless_wb_mock::{CabinetSizes, DatasetSize, Mock, MockConfig, SellerSizes};

use super::{
    campaign_stats::CampaignStats,
    campaigns::Campaigns,
    cards::Cards,
    changes::Changes,
    fbs_orders::FbsOrders,
    feedbacks::Feedbacks,
    finance::Finance,
    funnel_csv::FunnelCsv,
    funnel_history::FunnelHistory,
    pages::Pages,
    play::{Ended, Played, Told, catalogue_with, play},
    tariffs::Tariffs,
    tasks::Tasks,
};
use crate::{
    Dataset,
    report::{Report, ReportRow},
    scope::Scope,
    source::{Ask, Expect, Source},
};

/// Rows on a page of what comes in pages.
const PAGE_ROWS: u32 = 4;

/// Rows on a page of orders and sales, of which many may change at the same second.
const CHANGES_ROWS: u32 = 60;

/// A seller at the stand-in. What it has answered once it answers again, so that imports can be
/// played by the thousand.
struct Shop {
    runtime: Runtime,
    mock: Mock,
    http: reqwest::Client,
    catalogue: Catalogue,
    told: HashMap<String, Told>,
}

impl Shop {
    fn open() -> Self {
        let runtime = Runtime::new().expect("threads");
        let rows = DatasetSize::Rows(900..=900);
        let config = MockConfig {
            // The bucket refuses nothing.
            speed: 60_000_000,
            page_rows: CHANGES_ROWS,
            sizes: SellerSizes { orders: rows.clone(), sales: rows },
            cabinet: CabinetSizes {
                products: 10..=10,
                campaigns: 8..=8,
                feedbacks: 20..=20,
                fbs_orders: 100..=100,
                finance_rows: 100..=100,
            },
            ..MockConfig::default()
        };
        let mock = runtime.block_on(Mock::start(config)).expect("a free port");
        let paged = [
            "content.cards.list",
            "prices.goods.list",
            "analytics.sales-funnel.products",
            "analytics.sales-funnel.products.history",
            "analytics.stocks-report.wb-warehouses",
            "finance.sales-reports.detailed",
            "marketplace.fbs.orders.list",
            "feedbacks.list",
            "promotion.fullstats",
        ];
        let mut page_rows = vec![("orders", CHANGES_ROWS), ("sales", CHANGES_ROWS)];
        page_rows.extend(paged.map(|name| (name, PAGE_ROWS)));
        let catalogue = catalogue_with(&page_rows);
        Self { runtime, mock, http: reqwest::Client::new(), catalogue, told: HashMap::new() }
    }

    /// What it says to a request. A report is answered for when it is done.
    fn told(&mut self, ask: &Ask) -> Told {
        let key = format!("{ask:?}");
        if let Some(told) = self.told.get(&key) {
            return told.clone();
        }
        let told = loop {
            let told = self.runtime.block_on(self.asked(ask));
            let unfinished = ["new", "processing", "WAITING", "PROCESSING"];
            match &told {
                Told::Json(body) if unfinished.iter().any(|s| body.to_string().contains(s)) => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                _ => break told,
            }
        };
        self.told.insert(key, told.clone());
        told
    }

    async fn asked(&self, ask: &Ask) -> Told {
        let endpoint = self.catalogue.endpoint(ask.endpoint).expect("it is in the catalogue");
        let places: Vec<(&str, &str)> =
            ask.places.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let path = endpoint.path_with(&places).expect("all places");
        let mut url: reqwest::Url =
            format!("{}{path}", self.mock.base_url()).parse().expect("a URL");
        for (name, value) in &ask.query {
            url.query_pairs_mut().append_pair(name, value);
        }
        let mut request = self
            .http
            .request(endpoint.method().clone(), url)
            .header("Authorization", self.mock.token(0));
        if let Some(body) = &ask.body {
            request = request.header("Content-Type", "application/json").body(body.to_string());
        }
        let answer = request.send().await.expect("an answer");
        let status = answer.status().as_u16();
        let bytes = answer.bytes().await.expect("a body");
        if status >= 400 {
            println!("  {}: {status} {}", ask.endpoint, String::from_utf8_lossy(&bytes));
            return Told::Refused(status, "it is wrong");
        }
        match ask.expect {
            _ if status == 204 => Told::Rows(Vec::new(), Value::Null),
            Expect::Json => Told::Json(serde_json::from_slice(&bytes).expect("JSON")),
            Expect::Rows(path) => {
                let mut envelope: Value = serde_json::from_slice(&bytes).expect("JSON");
                let mut place = &mut envelope;
                for name in path {
                    place = &mut place[*name];
                }
                let Value::Array(rows) = place.take() else { panic!("{ask:?}: no rows") };
                Told::Rows(rows, envelope)
            }
            Expect::Report => Told::Rows(lines(bytes.to_vec()), Value::Null),
        }
    }
}

fn lines(zip: Vec<u8>) -> Vec<Value> {
    let mut report = Report::open(zip).expect("a ZIP");
    let mut file = report.file(0).expect("a ZIP").expect("a file");
    let mut rows = Vec::new();
    while let Some(chunk) = file.next_chunk().expect("a CSV") {
        rows.extend(chunk.into_iter().map(|row| match row {
            ReportRow::Object(row) => serde_json::from_str(row.get()).expect("JSON"),
            ReportRow::Odd { reason, .. } => panic!("{reason}"),
        }));
    }
    rows
}

/// What is checked of every dataset.
trait Check {
    fn check<S: Source>(&mut self, dataset: Dataset, source: &S);
}

fn check_all(datasets: &[Dataset], catalogue: &Catalogue, check: &mut impl Check) {
    let day = |day: &str| day.parse().expect("a day");
    let scope = Scope { since: day("2026-09-22"), today: day("2026-10-01"), catalogue };
    // On most days nothing is accepted, and of some things only the last days are told.
    let quarter = Scope { since: day("2026-07-04"), ..scope };
    let week = Scope { since: day("2026-09-24"), ..scope };
    for dataset in datasets.iter().copied() {
        match dataset {
            Dataset::Orders => check.check(dataset, &Changes::orders(&scope)),
            Dataset::Sales => check.check(dataset, &Changes::sales(&scope)),
            Dataset::Stocks => check.check(dataset, &Pages::stocks(&scope)),
            Dataset::Remains => check.check(dataset, &Tasks::remains(&scope)),
            Dataset::Acceptance => check.check(dataset, &Tasks::acceptance(&quarter)),
            Dataset::Storage => check.check(dataset, &Tasks::storage(&scope)),
            Dataset::Funnel => check.check(dataset, &Pages::funnel(&scope)),
            Dataset::FunnelHistory => check.check(dataset, &FunnelHistory::of(&week)),
            Dataset::FunnelCsv => {
                check.check(dataset, &FunnelCsv::of(&scope, Uuid::from_u128(7 << 76)));
            }
            Dataset::Cards => check.check(dataset, &Cards::of(&scope)),
            Dataset::Finance => check.check(dataset, &Finance::of(&scope)),
            Dataset::Prices => check.check(dataset, &Pages::prices(&scope)),
            Dataset::FbsOrders => check.check(dataset, &FbsOrders::of(&scope)),
            Dataset::Campaigns => check.check(dataset, &Campaigns),
            Dataset::CampaignStats => check.check(dataset, &CampaignStats::of(&scope)),
            Dataset::Feedbacks => check.check(dataset, &Feedbacks::of(&scope)),
            Dataset::Tariffs => check.check(dataset, &Tariffs::of(&scope)),
        }
    }
}

/// Where a value stands in a row.
type Path = Vec<Step>;

#[derive(Debug, Clone)]
enum Step {
    Name(String),
    First,
}

/// The places of all values in a row, those in objects and in the first elements of lists included.
fn places(value: &Value) -> Vec<Path> {
    let below = |step: Step, value: &Value| {
        let inner = places(value).into_iter().map(|path| [vec![step.clone()], path].concat());
        std::iter::once(vec![step.clone()]).chain(inner).collect::<Vec<_>>()
    };
    match value {
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| below(Step::Name(name.clone()), value)).collect()
        }
        Value::Array(list) => list.first().map_or(Vec::new(), |first| below(Step::First, first)),
        _ => Vec::new(),
    }
}

/// Another value in a place; `None` takes it away.
fn spoil(row: &mut Value, path: &[Step], value: Option<&Value>) {
    let (last, parents) = path.split_last().expect("a place has a step");
    let mut place = row;
    for step in parents {
        let inner = match step {
            Step::Name(name) => place.get_mut(name),
            Step::First => place.get_mut(0),
        };
        // A row of another shape than the one whose places these are.
        let Some(inner) = inner else { return };
        place = inner;
    }
    match (last, place, value) {
        (Step::Name(name), Value::Object(fields), Some(value)) => {
            fields.insert(name.clone(), value.clone());
        }
        (Step::Name(name), Value::Object(fields), None) => {
            fields.remove(name);
        }
        (Step::First, Value::Array(list), Some(value)) if !list.is_empty() => {
            list[0] = value.clone();
        }
        (Step::First, Value::Array(list), None) if !list.is_empty() => {
            list.remove(0);
        }
        _ => {}
    }
}

/// What a field may be instead; `None` is no field.
fn bad_values() -> Vec<Option<Value>> {
    let mut values = vec![None];
    values.extend(
        [
            json!(null),
            json!([]),
            json!({ "a": 1 }),
            json!(""),
            json!("text"),
            json!("17"),
            json!("2026-13-45T99:99:99"),
            json!("0001-01-01T00:00:00"),
            json!("9999-12-31T23:59:59"),
            json!("9999-12-31T23:59:59Z"),
            json!("x".repeat(20_000)),
            json!(-1),
            json!(i64::MIN),
            json!(u64::MAX),
            json!(9_000_000_000_000_000_000_i64),
            json!(1e300),
        ]
        .map(Some),
    );
    values
}

/// Whether a reason names the field in this place of a row, or one that it is in or that is in it.
fn names(reason: &str, row: &Value, path: &[Step]) -> bool {
    let value = path.iter().fold(row, |value, step| match step {
        Step::Name(name) => &value[name.as_str()],
        Step::First => &value[0],
    });
    let inner = places(value).into_iter().flatten();
    let mut fields = path.iter().cloned().chain(inner).filter_map(|step| match step {
        Step::Name(name) => Some(name),
        Step::First => None,
    });
    // It may be the last of a path: `product.nmId`.
    let is_named = |field: String| {
        reason.contains(&format!("`{field}")) || reason.contains(&format!(".{field}`"))
    };
    fields.any(is_named) || reason.contains("it is no row")
}

/// Spoils every field of the last row of a page, of all its rows, and of what stands around them.
struct EveryField {
    shop: Shop,
    imports: u64,
    fields: u64,
    quarantined: u64,
    stuck: Vec<String>,
}

/// Which rows of the page are spoilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    Last,
    All,
}

impl EveryField {
    fn check_page<S: Source>(&mut self, dataset: Dataset, source: &S, good: &Played, page: usize) {
        let Told::Rows(rows, _) = self.shop.told(&good.asks[page]) else { return };
        let last = rows.last().expect("a page with rows").clone();
        let fields = places(&last);
        self.fields += fields.len() as u64;
        for path in &fields {
            for value in bad_values() {
                // That all rows of a page are bad takes fewer examples.
                let is_example = value.as_ref().is_none_or(|value| {
                    value.is_null() || value.is_i64() || *value == json!([]) || *value == "text"
                });
                let rows = if is_example { &[Rows::Last, Rows::All][..] } else { &[Rows::Last] };
                for spoilt in rows.iter().copied() {
                    let case = format!("{dataset}, {spoilt:?}: {path:?} is {}", shown(&value));
                    let played = play(source, None, |ask, number| {
                        let mut told = self.shop.told(ask);
                        if let (true, Told::Rows(rows, _)) = (number == page, &mut told) {
                            let from = if spoilt == Rows::Last { rows.len() - 1 } else { 0 };
                            for row in &mut rows[from..] {
                                spoil(row, path, value.as_ref());
                            }
                        }
                        told
                    });
                    self.imports += 1;
                    self.judge(&case, &played, &last, path);
                    if spoilt == Rows::Last && played.ended == Ended::Complete {
                        check_others(&case, good, &played, &last);
                    }
                }
            }
        }
    }

    /// Spoils what stands around the rows of a page.
    fn check_envelope<S: Source>(
        &mut self,
        dataset: Dataset,
        source: &S,
        good: &Played,
        page: usize,
    ) {
        let Told::Rows(_, envelope) = self.shop.told(&good.asks[page]) else { return };
        for path in &places(&envelope) {
            for value in bad_values() {
                let case = format!("{dataset}, around: {path:?} is {}", shown(&value));
                let played = play(source, None, |ask, number| {
                    let mut told = self.shop.told(ask);
                    if let (true, Told::Rows(_, envelope)) = (number == page, &mut told) {
                        spoil(envelope, path, value.as_ref());
                    }
                    told
                });
                self.imports += 1;
                self.judge(&case, &played, &Value::Null, path);
                // A cursor with another card of the same moment cannot be told from a true one.
                let is_another = dataset == Dataset::Cards && case.contains("nmID");
                if played.ended == Ended::Complete && !is_another {
                    let lost = good.rows.keys().find(|key| !played.rows.contains_key(*key));
                    assert_eq!(lost, None, "{case}: lost without a word");
                }
            }
        }
    }

    fn judge(&mut self, case: &str, played: &Played, row: &Value, path: &[Step]) {
        self.quarantined += played.rejects.len() as u64;
        for reason in &played.rejects {
            assert!(names(reason, row, path), "{case}: {reason}");
        }
        assert!(played.rows.keys().all(|key| !key.is_empty()), "{case}: an empty key");
        match &played.ended {
            Ended::Complete => {}
            Ended::Stuck(reason) | Ended::Failed(reason) => {
                assert!(!reason.is_empty());
                self.stuck.push(format!("{case}: {reason}"));
            }
        }
    }
}

fn shown(value: &Option<Value>) -> String {
    match value {
        None => "missing".to_owned(),
        Some(value) => value.to_string().chars().take(30).collect(),
    }
}

/// A bad row takes no other row with it: what is not there any more was made of that row.
fn check_others(case: &str, good: &Played, played: &Played, row: &Value) {
    let row = row.to_string();
    for key in good.rows.keys().filter(|key| !played.rows.contains_key(*key)) {
        let mut parts = key.split('/').filter(|part| !part.is_empty());
        assert!(parts.any(|part| row.contains(part)), "{case}: {key} is gone as well");
    }
}

impl Check for EveryField {
    fn check<S: Source>(&mut self, dataset: Dataset, source: &S) {
        let good = play(source, None, |ask, _| self.shop.told(ask));
        assert_eq!(good.ended, Ended::Complete, "{dataset}");
        assert!(!good.rows.is_empty() && good.rejects.is_empty(), "{dataset}: {:?}", good.rejects);
        let (imports, quarantined) = (self.imports, self.quarantined);
        let mut seen = Vec::new();
        for (page, ask) in good.asks.iter().enumerate() {
            let has_rows = matches!(self.shop.told(ask), Told::Rows(rows, _) if !rows.is_empty());
            if has_rows && !seen.contains(&ask.endpoint) {
                seen.push(ask.endpoint);
                self.check_page(dataset, source, &good, page);
                self.check_envelope(dataset, source, &good, page);
            }
        }
        println!(
            "{dataset}: {} requests and {} rows if all is well; {} imports with a bad field, {} rows \
             in quarantine",
            good.asks.len(),
            good.rows.len(),
            self.imports - imports,
            self.quarantined - quarantined,
        );
    }
}

#[test]
fn a_bad_value_in_any_field_lands_or_is_named_in_the_quarantine_and_paging_ends() {
    // On two threads, because it takes its time.
    let every: Vec<EveryField> = std::thread::scope(|scope| {
        let halves = Dataset::ALL.chunks(Dataset::ALL.len().div_ceil(2));
        let run = |half: &[Dataset]| {
            let shop = Shop::open();
            let catalogue = shop.catalogue.clone();
            let mut every =
                EveryField { shop, imports: 0, fields: 0, quarantined: 0, stuck: Vec::new() };
            check_all(half, &catalogue, &mut every);
            every
        };
        let threads: Vec<_> = halves.map(|half| scope.spawn(move || run(half))).collect();
        threads.into_iter().map(|thread| thread.join().expect("its claims hold")).collect()
    });
    let sum = |of: fn(&EveryField) -> u64| every.iter().map(of).sum::<u64>();
    println!(
        "{} fields, {} imports, {} rows in quarantine, {} imports stopped with a reason",
        sum(|every| every.fields),
        sum(|every| every.imports),
        sum(|every| every.quarantined),
        sum(|every| every.stuck.len() as u64),
    );
    // One bad row stops nothing. A page on which no row says how to go on does, with that reason.
    let ways_on = [("orders", "lastChangeDate"), ("sales", "lastChangeDate"), ("finance", "rrdId")];
    for stuck in every.iter().flat_map(|every| &every.stuck) {
        let is_way_on =
            |(dataset, field): &(&str, &str)| stuck.starts_with(dataset) && stuck.contains(field);
        let is_of_rows = stuck.contains(", All: ") && ways_on.iter().any(is_way_on);
        assert!(is_of_rows || stuck.contains(", around: "), "{stuck}");
    }
}

/// What all answers are like.
#[derive(Debug, Clone, Copy)]
enum Spoilt {
    /// No page has any rows.
    NoRows,
    /// Of each method the same page for ever.
    SamePage,
    /// Full pages of what is no row.
    NoRowsAtAll(&'static str),
    /// Every row of every method's last page comes twice.
    LastPageTwice,
    /// A task has this status for ever.
    Status(&'static str),
    /// What is no page of rows is this.
    Json(&'static str),
}

const SPOILT: [Spoilt; 18] = [
    Spoilt::NoRows,
    Spoilt::SamePage,
    Spoilt::NoRowsAtAll("null"),
    Spoilt::NoRowsAtAll("17"),
    Spoilt::NoRowsAtAll("[]"),
    Spoilt::NoRowsAtAll("{}"),
    Spoilt::LastPageTwice,
    Spoilt::Status("\"thinking\""),
    Spoilt::Status("\"\""),
    Spoilt::Status("null"),
    Spoilt::Status("17"),
    Spoilt::Status("[\"done\"]"),
    Spoilt::Json("null"),
    Spoilt::Json("{}"),
    Spoilt::Json("[]"),
    Spoilt::Json("\"done\""),
    Spoilt::Json("{\"data\":{\"taskId\":17,\"status\":\"done\"}}"),
    Spoilt::Json("{\"data\":[null,7,{\"id\":null,\"status\":\"SUCCESS\"}]}"),
];

struct EveryPage {
    shop: Shop,
    /// How imports ended, and how many.
    ended: HashMap<&'static str, u64>,
}

impl EveryPage {
    fn spoil(&mut self, spoilt: Spoilt, good: &Played, ask: &Ask) -> Told {
        let json = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        let of_method = |asks: &[Ask], shop: &mut Shop| -> Vec<Told> {
            let asks = asks.iter().filter(|one| one.endpoint == ask.endpoint);
            let told = asks.map(|one| shop.told(one));
            told.filter(|told| matches!(told, Told::Rows(rows, _) if !rows.is_empty())).collect()
        };
        match (self.shop.told(ask), spoilt) {
            (Told::Rows(_, envelope), Spoilt::NoRows) => Told::Rows(Vec::new(), envelope),
            (told @ Told::Rows(..), Spoilt::SamePage) => {
                of_method(&good.asks, &mut self.shop).into_iter().next().unwrap_or(told)
            }
            (Told::Rows(_, envelope), Spoilt::NoRowsAtAll(row)) => {
                Told::Rows(vec![json(row); CHANGES_ROWS as usize], envelope)
            }
            (Told::Rows(rows, envelope), Spoilt::LastPageTwice) => {
                let last = of_method(&good.asks, &mut self.shop).pop();
                let is_last = matches!(last, Some(Told::Rows(last, _)) if last == rows);
                let again = if is_last { rows.clone() } else { Vec::new() };
                Told::Rows([rows, again].concat(), envelope)
            }
            (Told::Json(mut body), Spoilt::Status(status)) => {
                for place in ["/data/status", "/data/0/status"] {
                    if let Some(place) = body.pointer_mut(place) {
                        *place = json(status);
                    }
                }
                Told::Json(body)
            }
            (Told::Json(_), Spoilt::Json(body)) => Told::Json(json(body)),
            (told, _) => told,
        }
    }
}

impl Check for EveryPage {
    fn check<S: Source>(&mut self, dataset: Dataset, source: &S) {
        let good = play(source, None, |ask, _| self.shop.told(ask));
        assert_eq!(good.ended, Ended::Complete, "{dataset}");
        for spoilt in SPOILT {
            let case = format!("{dataset}, {spoilt:?}");
            let played = play(source, None, |ask, _| self.spoil(spoilt, &good, ask));
            let ended = match &played.ended {
                Ended::Complete => "complete",
                Ended::Stuck(reason) | Ended::Failed(reason) if reason.is_empty() => {
                    panic!("{case}: no reason")
                }
                Ended::Stuck(_) => "stuck",
                Ended::Failed(_) => "to be tried again",
            };
            *self.ended.entry(ended).or_default() += 1;
            match spoilt {
                Spoilt::NoRows => {
                    assert_eq!((ended, played.rows.len()), ("complete", 0), "{case}");
                }
                Spoilt::SamePage => {
                    assert!(played.asks.len() <= 2 * good.asks.len() + 4, "{case}");
                    assert!(played.rejects.is_empty() && !played.rows.is_empty(), "{case}");
                }
                Spoilt::NoRowsAtAll(row) => {
                    assert!(played.rows.is_empty(), "{case}");
                    assert!(played.rejects.len() >= CHANGES_ROWS as usize, "{case}");
                    let named = |reason: &String| match row {
                        "{}" => reason.contains('`'),
                        _ => reason.contains("it is no row"),
                    };
                    assert!(played.rejects.iter().all(named), "{case}: {:?}", played.rejects);
                }
                Spoilt::LastPageTwice => {
                    assert_eq!((ended, played.rejects.len()), ("complete", 0), "{case}");
                    assert!(played.rows == good.rows, "{case}: other rows");
                }
                Spoilt::Status(_) | Spoilt::Json(_) if dataset.is_task() => {
                    assert_ne!(ended, "complete", "{case}");
                    assert!(played.asks.len() < 200, "{case}: {} requests", played.asks.len());
                }
                Spoilt::Status(_) | Spoilt::Json(_) => {
                    assert!(played.rows == good.rows, "{case}: it has no tasks");
                }
            }
        }
    }
}

#[test]
fn paging_ends_whatever_pages_and_tasks_are_like() {
    let shop = Shop::open();
    let catalogue = shop.catalogue.clone();
    let mut every = EveryPage { shop, ended: HashMap::new() };
    check_all(&Dataset::ALL, &catalogue, &mut every);
    println!("imports of spoilt pages: {:?}", every.ended);
}

#[test]
fn a_full_page_of_one_second_stops_and_says_what_to_do() {
    struct OneSecond(Shop);
    impl Check for OneSecond {
        fn check<S: Source>(&mut self, dataset: Dataset, source: &S) {
            let played = play(source, None, |ask, _| {
                let Told::Rows(mut rows, envelope) = self.0.told(ask) else { unreachable!() };
                for row in &mut rows {
                    row["lastChangeDate"] = json!("2026-09-25T10:00:00");
                }
                Told::Rows(rows, envelope)
            });
            assert!(
                played.stuck().contains("import from the next day on"),
                "{dataset}: {played:?}"
            );
            assert!(played.asks.len() <= 3 && !played.rows.is_empty(), "{dataset}");
        }
    }
    let shop = Shop::open();
    let catalogue = shop.catalogue.clone();
    check_all(&[Dataset::Orders, Dataset::Sales], &catalogue, &mut OneSecond(shop));
}
