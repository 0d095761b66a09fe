//! A small client, and mocks that are quick to test.

use std::collections::BTreeMap;

use serde_json::Value;
use waitless_wb_mock::{Dataset, DatasetSize, Mock, MockConfig, SellerSizes};

pub(crate) const ORDERS: &str = "/api/v1/supplier/orders";
pub(crate) const SALES: &str = "/api/v1/supplier/sales";
/// The datasets that are followed by `lastChangeDate`.
pub(crate) const FOLLOWED: [Dataset; 2] = [Dataset::Orders, Dataset::Sales];
pub(crate) const FROM_THE_BEGINNING: &str = "2019-06-20";

/// A configuration whose limits no test can reach.
pub(crate) fn unlimited(rows: u64, page_rows: u32) -> MockConfig {
    let rows = DatasetSize::Rows(rows..=rows);
    MockConfig {
        speed: 60_000_000,
        page_rows,
        sizes: SellerSizes { orders: rows.clone(), sales: rows },
        ..MockConfig::default()
    }
}

pub(crate) async fn start(config: MockConfig) -> Mock {
    Mock::start(config).await.expect("a free port")
}

pub(crate) struct Client {
    http: reqwest::Client,
    base_url: String,
    authorization: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: String,
}

impl Client {
    pub(crate) fn of(mock: &Mock, seller: usize) -> Self {
        Self::with_authorization(mock, Some(&mock.token(seller)))
    }

    pub(crate) fn with_authorization(mock: &Mock, authorization: Option<&str>) -> Self {
        Self {
            // Redirects are for tests to look at.
            http: reqwest::Client::builder()
                .redirect(reqwest::redirect::Policy::none())
                .build()
                .expect("a client"),
            base_url: mock.base_url(),
            authorization: authorization.map(str::to_owned),
        }
    }

    pub(crate) fn request(&self, path_and_query: &str) -> reqwest::RequestBuilder {
        self.authorized(self.http.get(format!("{}{path_and_query}", self.base_url)))
    }

    fn authorized(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match &self.authorization {
            Some(authorization) => request.header("Authorization", authorization),
            None => request,
        }
    }

    pub(crate) async fn get(&self, path_and_query: &str) -> Answer {
        Answer::of(self.request(path_and_query)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_text(path, &body.to_string()).await
    }

    pub(crate) async fn post_text(&self, path: &str, body: &str) -> Answer {
        let request = self.http.post(format!("{}{path}", self.base_url)).body(body.to_owned());
        let request = request.header("Content-Type", "application/json");
        Answer::of(self.authorized(request)).await
    }

    pub(crate) async fn page(&self, path: &str, date_from: &str) -> Vec<Value> {
        let answer = self.get(&format!("{path}?dateFrom={date_from}")).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        serde_json::from_str(&answer.body).expect("an array of rows")
    }
}

impl Answer {
    pub(crate) async fn of(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.expect("an answer");
        Self {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.text().await.expect("a body"),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("a JSON body")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("a text"))
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.header(name).map(|text| text.parse().expect("a number"))
    }
}

pub(crate) fn path_of(dataset: Dataset) -> &'static str {
    match dataset {
        Dataset::Orders => ORDERS,
        Dataset::Sales => SALES,
        other => panic!("{other} is not followed by lastChangeDate"),
    }
}

pub(crate) fn key_of(dataset: Dataset, row: &Value) -> String {
    let field = match dataset {
        Dataset::Orders => "srid",
        Dataset::Sales => "saleID",
        other => panic!("{other} is not followed by lastChangeDate"),
    };
    row[field].as_str().expect("the key is a text").to_owned()
}

pub(crate) fn last_change(row: &Value) -> String {
    row["lastChangeDate"].as_str().expect("a text").to_owned()
}

/// Rows by key.
pub(crate) type Imported = BTreeMap<String, Value>;

pub(crate) fn expected(mock: &Mock, seller: usize, dataset: Dataset) -> Imported {
    let by_key = |row: waitless_wb_mock::ExpectedRow| {
        (row.key, serde_json::from_str(&row.body).expect("a JSON object"))
    };
    mock.expected(seller, dataset).map(by_key).collect()
}

/// Follows `lastChangeDate`, lets the last write win, and stops at a page with nothing new. Returns
/// what it holds then and how many requests that took.
pub(crate) async fn import(client: &Client, dataset: Dataset) -> (Imported, u64) {
    let mut imported = Imported::new();
    let mut from = FROM_THE_BEGINNING.to_owned();
    for requests in 1.. {
        let page = client.page(path_of(dataset), &from).await;
        let mut news = 0;
        for row in page {
            from = last_change(&row);
            let key = key_of(dataset, &row);
            if imported.insert(key, row.clone()).as_ref() != Some(&row) {
                news += 1;
            }
        }
        if news == 0 {
            return (imported, requests);
        }
    }
    unreachable!("the loop has no end of its own")
}
