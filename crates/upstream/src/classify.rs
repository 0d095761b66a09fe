//! What a status means.

use std::time::Duration;

use reqwest::{
    StatusCode, Url,
    header::{CONTENT_TYPE, HeaderMap, LOCATION},
};
use waitless_job::LimitGroup;

use crate::{
    Answer, Hints, UpstreamError,
    body::Body,
    excerpt::{self, BEGINNING_CHARS, printable},
};

/// How much of an error's body is read, and for how long, to find the upstream's words in it.
const ERROR_BYTES_MAX: usize = 64 << 10;
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// An answer that is not a 429: something to read, or the reason why not. `closed_with` says which
/// limits nobody needs to ask for if the credential is not let in.
pub(crate) async fn classify(
    status: StatusCode,
    headers: &HeaderMap,
    body: Body,
    hints: &Hints,
    closed_with: impl FnOnce() -> Vec<LimitGroup>,
) -> Result<Answer, UpstreamError> {
    let url = body.url.clone();
    let code = status.as_u16();
    if status.is_success() {
        return match page_for_people(headers) {
            None => Ok(Answer::new(code, body)),
            Some(content_type) => {
                let credential = body.credential.clone();
                let beginning = body.beginning(ERROR_BYTES_MAX, ERROR_BODY_TIMEOUT).await;
                let beginning = String::from_utf8_lossy(&beginning);
                let beginning = printable(&beginning, &credential, BEGINNING_CHARS);
                Err(UpstreamError::NotJson { url, content_type, beginning })
            }
        };
    }
    if status.is_redirection() {
        let to = target(headers, &body);
        return Err(UpstreamError::Redirected { url, status: code, to });
    }

    let message = message(body, hints).await;
    Err(match code {
        // A page for people, too: a person has to look at it in any case, and with retries every job
        // of the account would find out the same until its attempts are used up.
        401..=403 => UpstreamError::NotLetIn { url, status: code, message, groups: closed_with() },
        // The upstream gave up waiting, or is not ready: the same request may do later.
        408 | 425 => UpstreamError::Server { url, status: code, message },
        // Said by something in front of the upstream, which has not seen the request: a load balancer
        // that knows no such path, a page that tells programs from people.
        400..=499 if page_for_people(headers).is_some() => {
            UpstreamError::Server { url, status: code, message }
        }
        400..=499 => UpstreamError::BadRequest { url, status: code, message },
        500..=599 => UpstreamError::Server { url, status: code, message },
        _ => UpstreamError::UnexpectedStatus { url, status: code },
    })
}

/// Whether an answer that is not a 429 shows that the upstream's limiter has let the request through.
/// One that says what is left was counted there. Of the others neither a 5xx nor a page for people
/// does: a gateway answers so in place of an upstream that has not seen the request.
pub(crate) fn was_let_through(
    status: StatusCode,
    headers: &HeaderMap,
    remaining: Option<u32>,
) -> bool {
    remaining.is_some() || !(status.is_server_error() || page_for_people(headers).is_some())
}

/// The upstream's own words in the body of an error.
pub(crate) async fn message(body: Body, hints: &Hints) -> String {
    let credential = body.credential.clone();
    let body = body.beginning(ERROR_BYTES_MAX, ERROR_BODY_TIMEOUT).await;
    excerpt::message(&body, &hints.message_fields, &credential)
}

/// The content type if it is a page for people and not JSON. Upstreams that name none, or a wrong
/// one such as `text/plain`, are given the benefit of the doubt: rows are checked anyway.
fn page_for_people(headers: &HeaderMap) -> Option<String> {
    let content_type = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let kind = content_type.split(';').next()?.trim().to_ascii_lowercase();
    let is_page = kind.ends_with("html") || kind.ends_with("xml");
    is_page.then_some(kind)
}

/// Where a redirect points to, without its query.
fn target(headers: &HeaderMap, body: &Body) -> String {
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    let Some(location) = location else {
        return "nowhere".to_owned();
    };
    let base = Url::parse(&body.url).ok();
    let url = base.and_then(|base| base.join(location).ok());
    let shown = url.map_or_else(|| "no valid URL".to_owned(), |url| without_query(&url));
    printable(&shown, &body.credential, BEGINNING_CHARS)
}

/// What of a URL may be shown: all but user, password, query and fragment.
pub(crate) fn without_query(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // Only a URL without a host refuses these, and it has neither.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string()
}
