//! A gateway that spoils rows on their way: one in so many becomes something that cannot be keyed.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// One row in so many is spoilt; which one follows from what is in it.
const ONE_IN: u64 = 5;

/// Where answers have their rows, if they are no array themselves.
const ROWS_AT: [&str; 8] = [
    "/data/items",
    "/data/products",
    "/data/listGoods",
    "/data/feedbacks",
    "/cards",
    "/orders",
    "/adverts",
    "/report",
];

/// What was spoilt: for which job, and what it was.
type Spoilt = Arc<Mutex<HashSet<(String, String)>>>;

pub(crate) struct Mangler {
    address: SocketAddr,
    spoilt: Spoilt,
    listening: JoinHandle<()>,
}

impl Drop for Mangler {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Mangler {
    /// In front of an upstream.
    pub(crate) async fn before(upstream: String) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let spoilt = Spoilt::default();
        let (http, seen) = (reqwest::Client::new(), Arc::clone(&spoilt));
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (upstream, http, seen) = (upstream.clone(), http.clone(), Arc::clone(&seen));
                tokio::spawn(async move { serve(stream, &upstream, &http, &seen).await });
            }
        });
        Self { address, spoilt, listening }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// How many rows of all jobs were spoilt, each counted once for each job that met it.
    pub(crate) fn spoilt(&self) -> usize {
        self.spoilt.lock().expect("no panic under it").len()
    }
}

/// One request a connection.
async fn serve(mut stream: TcpStream, upstream: &str, http: &reqwest::Client, seen: &Spoilt) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8(head).expect("a head is plain text");
    let mut lines = head.lines();
    let first: Vec<&str> = lines.next().expect("a request line").split(' ').collect();
    let header = |name: &str| {
        let mut pairs = head.lines().filter_map(|line| line.split_once(": "));
        pairs.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    };
    let length = header("content-length").map_or(0, |text| text.parse().expect("a number"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.expect("a whole body");
    let mut request = http
        .request(first[0].parse().expect("a method"), format!("{upstream}{}", first[1]))
        .body(body);
    for name in ["authorization", "content-type", "x-job-id"] {
        if let Some(value) = header(name) {
            request = request.header(name, value);
        }
    }
    let answer = request.send().await.expect("the stand-in answers");
    let (status, headers) = (answer.status(), answer.headers().clone());
    let bytes = answer.bytes().await.expect("a body");
    let body = match serde_json::from_slice(&bytes) {
        Ok(json) => mangled(json, header("x-job-id").unwrap_or_default(), seen),
        Err(_) => bytes.to_vec(),
    };
    let mut out = format!("HTTP/1.1 {} X\r\nConnection: close\r\n", status.as_u16());
    for (name, value) in &headers {
        if name.as_str().starts_with("x-ratelimit") || name == "content-type" {
            out.push_str(&format!("{name}: {}\r\n", value.to_str().expect("plain text")));
        }
    }
    if status != 204 {
        out.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    let out = [out.as_bytes(), b"\r\n", &body].concat();
    // The client may have gone.
    let _ = stream.write_all(&out).await;
    let _ = stream.shutdown().await;
}

fn mangled(mut json: Value, job: &str, seen: &Spoilt) -> Vec<u8> {
    let at = ROWS_AT.into_iter().find(|at| json.pointer(at).is_some_and(Value::is_array));
    let rows = match at {
        Some(at) => json.pointer_mut(at).expect("it was found"),
        None => &mut json,
    };
    if let Value::Array(rows) = rows {
        // The last one says how to go on, where rows do.
        let behind = rows.len().saturating_sub(1);
        for row in &mut rows[..behind] {
            let text = row.to_string();
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            if hasher.finish().is_multiple_of(ONE_IN) {
                *row = json!({ "odd": row.take() });
                let odd = (job.to_owned(), row.to_string());
                seen.lock().expect("no panic under it").insert(odd);
            }
        }
    }
    serde_json::to_vec(&json).expect("JSON")
}
