//! A server that says byte for byte what a test tells it to.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// One thing that the server does on a connection. After the last it hangs up.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Sends one byte every 20 ms, for ever.
    Trickle,
    /// Does nothing until the client hangs up.
    Hang,
}

pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    listening: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl Server {
    /// Answers each request with what `answer` makes of its head and its place, from 0.
    pub(crate) async fn start(
        answer: impl Fn(&str, usize) -> Vec<Step> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        let listening = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                tokio::spawn(async move { serve(stream, &seen, &*answer).await });
            }
        });
        Self { address, requests, listening }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, heads and bodies.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no test panics under it").clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<String>>,
    answer: &(dyn Fn(&str, usize) -> Vec<Step> + Send + Sync),
) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let length = head.to_lowercase().split_once("content-length: ").map(|(_, rest)| {
        rest.lines().next().unwrap_or_default().parse().expect("the client says a number")
    });
    let mut body = vec![0; length.unwrap_or(0)];
    if stream.read_exact(&mut body).await.is_err() {
        return;
    }
    let place = {
        let mut seen = seen.lock().expect("no test panics under it");
        seen.push(format!("{head}{}", String::from_utf8_lossy(&body)));
        seen.len() - 1
    };
    for step in answer(&head, place) {
        let sent = match step {
            Step::Send(bytes) => stream.write_all(&bytes).await,
            Step::Trickle => loop {
                if let Err(error) = stream.write_all(b" ").await {
                    break Err(error);
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            },
            Step::Hang => stream.read_u8().await.map(|_| ()),
        };
        if sent.is_err() {
            return;
        }
    }
    let _ = stream.shutdown().await;
}

/// A whole answer, as one step.
pub(crate) fn answer(status: &str, headers: &[(&str, &str)], body: &str) -> Vec<Step> {
    let mut head = head(status, headers);
    head.extend_from_slice(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    vec![Step::Send(head)]
}

/// The head of an answer up to its last header; the caller goes on.
pub(crate) fn head(status: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.into_bytes()
}

/// 200 with JSON, in which the length may be a lie.
pub(crate) fn json_of_length(length: usize, body: &[u8]) -> Step {
    let mut bytes = head("200 OK", &[("Content-Type", "application/json")]);
    bytes.extend_from_slice(format!("Content-Length: {length}\r\n\r\n").as_bytes());
    bytes.extend_from_slice(body);
    Step::Send(bytes)
}
