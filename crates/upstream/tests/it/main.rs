//! A real client against real sockets: what is sent, what is reported, what is made of answers.

mod bodies;
mod catalogue;
mod changes;
mod client;
mod ops;
mod others;
mod secrets;
mod server;

use std::sync::Arc;

use waitless_job::{JobId, UnixMillis};
use waitless_upstream::{Catalogue, Client, ClientConfig, Credential, Request, Secret};

use crate::server::Server;

/// What must be found nowhere but in its header.
const CANARY: &str = "canary-7f3a9c";

const CATALOGUE: &str = r#"
upstream = "shop"
facts_as_of = 2026-10-01
families = ["full", "trial"]

[credential]
header = "Authorization"

[answers]
remaining = "X-Left"
retry = [{ header = "X-Wait", unit = "s" }]
refused_is_charged = false
message_fields = ["detail"]

[hosts]
api = { url = "http://127.0.0.1:9" }

[[groups]]
name = "rows"
limits = { full = "1/30s burst 5" }

[[endpoints]]
name = "rows"
method = "GET"
host = "api"
path = "/v1/rows"
group = "rows"
cost = 2
"#;

fn client(config: ClientConfig) -> Client {
    let catalogue = Catalogue::parse("shop.toml", CATALOGUE).expect("a catalogue");
    Client::new(Arc::new(catalogue), config).expect("a client")
}

fn request(server: &Server) -> Request {
    let credential = Credential { secret: Secret::new(CANARY), family: "full".to_owned() };
    Request::new("rows", credential, JobId::new(UnixMillis(0)))
        .query("from", "2026-10-01T00:00:00")
        .query("key", "query-secret")
        .base_url(Some(server.base_url().parse().expect("a URL")))
}
