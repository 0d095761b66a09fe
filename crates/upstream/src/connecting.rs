//! How long a request waited for a new connection.
//!
//! A permit is spent before the request is handed to the HTTP client, and on a kept connection it is
//! on the wire at once. On a new one it comes later by the name's look-up, TCP and TLS: a third of a
//! second is usual. The next request, on the kept connection, would then follow closer than the
//! bucket has reckoned with. A margin for that would slow every request down, and to connect before
//! the permit is spent is nothing that the HTTP client offers. So it is measured, and told to the
//! bucket.

use std::{
    cell::Cell,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::time::Instant;
use tower_layer::Layer;
use tower_service::Service;

tokio::task_local! {
    /// Whole milliseconds that the request of this task has waited for its connection.
    static WAITED_MS: Cell<u64>;
}

/// Runs a request to its answer, and says for how many milliseconds it waited for a new connection;
/// 0 on a kept one. Connections are made by the task that asks for them, so requests that run side by
/// side are told apart. One that was given a kept connection while its own was being made is not
/// late.
pub(crate) async fn timed<F: Future>(request: F) -> (F::Output, u64) {
    let timed = async { (request.await, WAITED_MS.with(Cell::get)) };
    WAITED_MS.scope(Cell::new(0), timed).await
}

/// Measures how long the service below it takes to connect.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimedConnects;

impl<S> Layer<S> for TimedConnects {
    type Service = TimedConnect<S>;

    fn layer(&self, connect: S) -> TimedConnect<S> {
        TimedConnect(connect)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct TimedConnect<S>(S);

impl<S, Target> Service<Target> for TimedConnect<S>
where
    S: Service<Target, Future: Send + 'static>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, target: Target) -> Self::Future {
        let connect = self.0.call(target);
        Box::pin(async move {
            let started = Instant::now();
            let connection = connect.await;
            let waited_ms = started.elapsed().as_millis();
            // Without a connection nothing reaches the upstream, late or not. And one that another task
            // has taken over is made for nobody who waits.
            if connection.is_ok() {
                let _ = WAITED_MS.try_with(|waited| {
                    waited.set(u64::try_from(waited_ms).unwrap_or(u64::MAX));
                });
            }
            connection
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
        time::sleep,
    };

    use super::*;

    /// Connects in as many milliseconds as it is told, or fails to.
    #[derive(Clone)]
    struct Slow;

    impl Service<(u64, bool)> for Slow {
        type Response = ();
        type Error = ();
        type Future = Pin<Box<dyn Future<Output = Result<(), ()>> + Send>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ()>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, (ms, is_there): (u64, bool)) -> Self::Future {
            Box::pin(async move {
                sleep(Duration::from_millis(ms)).await;
                is_there.then_some(()).ok_or(())
            })
        }
    }

    /// Puts off each connection.
    #[derive(Clone)]
    struct Delay<S>(S);

    const DELAY_MS: u64 = 30;

    impl<S, Target: Send + 'static> Service<Target> for Delay<S>
    where
        S: Service<Target, Future: Send> + Clone + Send + 'static,
    {
        type Response = S::Response;
        type Error = S::Error;
        type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

        fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
            self.0.poll_ready(cx)
        }

        fn call(&mut self, target: Target) -> Self::Future {
            let connect = self.0.call(target);
            Box::pin(async move {
                sleep(Duration::from_millis(DELAY_MS)).await;
                connect.await
            })
        }
    }

    #[derive(Clone)]
    struct Delays;

    impl<S> Layer<S> for Delays {
        type Service = Delay<S>;

        fn layer(&self, connect: S) -> Delay<S> {
            Delay(connect)
        }
    }

    /// Answers whatever it is asked, connection after connection.
    async fn server() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    while stream.read(&mut [0; 1_024]).await.is_ok_and(|bytes| bytes > 0) {
                        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]";
                        stream.write_all(answer).await.unwrap();
                    }
                });
            }
        });
        url
    }

    #[tokio::test]
    async fn a_request_on_a_new_connection_is_late_and_one_on_a_kept_connection_is_not() {
        let url = server().await;
        let builder = reqwest::Client::builder();
        let http = builder.connector_layer(Delays).connector_layer(TimedConnects).build().unwrap();
        let get = || timed(async { http.get(&url).send().await.unwrap().bytes().await.unwrap() });
        assert!(get().await.1 >= DELAY_MS);
        assert_eq!(get().await.1, 0);
    }

    async fn request(connect: Option<(u64, bool)>) -> u64 {
        let request = async {
            if let Some(target) = connect {
                let connection = TimedConnects.layer(Slow).call(target).await;
                assert_eq!(connection.is_ok(), target.1);
            }
            sleep(Duration::from_millis(40)).await;
        };
        timed(request).await.1
    }

    #[tokio::test(start_paused = true)]
    async fn each_request_knows_its_own_wait_for_a_connection_and_nothing_else() {
        let (slow, fast) = (request(Some((300, true))), request(Some((7, true))));
        let waits = tokio::join!(slow, request(None), fast, request(Some((300, false))));
        assert_eq!(waits, (300, 0, 7, 0));
    }
}
