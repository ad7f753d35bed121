//! Sends the requests of `object_store` by the reqwest and the TLS that webhooks have, too.

use std::time::Duration;

use async_trait::async_trait;
use http_body_util::BodyExt as _;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse,
    HttpResponseBody, HttpService,
};
use reqwest::{Body, Client, Method, Request, redirect, retry};
use url::Url;

use crate::http_client::tls;

/// Time limit for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The longest silence of a server, which includes the upload of a part: 8 MiB in this time are
/// 28 kB in a second.
const SILENCE: Duration = Duration::from_mins(5);

/// The longest time for a request without content whose answer is short, such as a list. It is sent
/// again a few times, and a person may wait for it.
const SHORT: Duration = Duration::from_secs(20);

/// Makes the client of a bucket.
#[derive(Debug)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let failed = |why: String| object_store::Error::Generic {
            store: "S3",
            source: why.into(),
        };
        let client = Client::builder()
            .tls_backend_preconfigured(tls().map_err(failed)?)
            .redirect(redirect::Policy::none())
            .no_proxy()
            // `object_store` tries again itself.
            .retry(retry::never())
            .referer(false)
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            .user_agent(concat!("Tapdesk/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| failed(error.to_string()))?;
        Ok(HttpClient::new(Sender(client)))
    }
}

#[derive(Debug)]
struct Sender(Client);

#[async_trait]
impl HttpService for Sender {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (parts, content) = request.into_parts();
        let url = Url::parse(&parts.uri.to_string())
            .map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?;
        let mut request = Request::new(parts.method, url);
        *request.headers_mut() = parts.headers;
        *request.timeout_mut() = limit(request.method(), request.url());
        let content = match content.as_bytes() {
            Some(bytes) => Body::from(bytes.clone()),
            None => Body::wrap(content),
        };
        *request.body_mut() = Some(content);
        let mut answer = self.0.execute(request).await.map_err(failed)?;
        let (status, headers) = (answer.status(), std::mem::take(answer.headers_mut()));
        let content = Body::from(answer).map_err(failed);
        let mut response = HttpResponse::new(HttpResponseBody::new(content));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    }
}

/// The time limit of a whole request; `None` for an upload or a download.
fn limit(method: &Method, url: &Url) -> Option<Duration> {
    let is_list = url.query_pairs().any(|(name, _)| name == "list-type");
    let is_short = matches!(*method, Method::HEAD | Method::DELETE) || is_list;
    is_short.then_some(SHORT)
}

/// The kind decides whether a request is sent again. One that may have arrived is sent again only
/// if it may be done twice.
fn failed(error: reqwest::Error) -> HttpError {
    let kind = if error.is_connect() {
        HttpErrorKind::Connect
    } else if error.is_timeout() {
        HttpErrorKind::Timeout
    } else {
        HttpErrorKind::Interrupted
    };
    HttpError::new(kind, error.without_url())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_with_short_answers_have_a_time_limit_and_transfers_have_none() {
        let limit = |method: Method, query: &str| {
            let url = Url::parse(&format!("https://s3.example.com/backups/one{query}")).unwrap();
            limit(&method, &url)
        };
        for (method, query) in [
            (Method::HEAD, ""),
            (Method::DELETE, ""),
            (Method::GET, "?list-type=2&prefix=shop"),
        ] {
            assert_eq!(limit(method, query), Some(SHORT));
        }
        for (method, query) in [
            (Method::GET, ""),
            (Method::PUT, "?partNumber=1&uploadId=x"),
            (Method::POST, "?uploadId=x"),
        ] {
            assert_eq!(limit(method, query), None);
        }
    }
}
