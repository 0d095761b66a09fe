//! A real client against real sockets: what is sent, what is reported, what is made of answers.

mod bodies;
mod catalogue;
mod changes;
mod client;
mod feedback;
mod ops;
mod others;
mod secrets;
mod server;
mod storm;

use std::sync::Arc;

use waitless_job::{JobId, UnixMillis};
use waitless_upstream::{Catalogue, Client, ClientConfig, Credential, Request, Secret};

use crate::server::Server;

/// What must be found nowhere but in its header.
const CANARY: &str = "canary-7f3a9c";

/// What the client of these tests knows of its upstream.
const SHOP: &str = include_str!("../data/shop.toml");

fn client(config: ClientConfig) -> Client {
    let catalogue = Catalogue::parse("shop.toml", SHOP).expect("a catalogue");
    Client::new(Arc::new(catalogue), config).expect("a client")
}

fn request(server: &Server) -> Request {
    request_of("rows", server).query("from", "2026-10-01T00:00:00").query("key", "query-secret")
}

fn request_of(endpoint: &str, server: &Server) -> Request {
    let credential = Credential::new(Secret::new(CANARY), "full");
    Request::new(endpoint, credential, JobId::new(UnixMillis(0)))
        .base_url(Some(server.base_url().parse().expect("a URL")))
}
