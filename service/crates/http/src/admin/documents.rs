//! `GET /docs/...`: the documents of this version as Markdown, and `GET /llms.txt`, an index of them
//! for programs that write programs (<https://llmstxt.org>). The documents are part of the service,
//! so they describe the version that runs.

mod embedded;
mod index;
mod links;

use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::extract::path::DocumentPath;
use super::extract::query::NoQuery;
use crate::error::{Addressed, ApiError, Invalid};
use embedded::DOCUMENTS;

/// The document that has the list of all documents.
const README: &str = "README.md";

/// Get the index of the documents for programs
///
/// Links to the documents at `/docs/`, with a line about each. Requires no token, but one of the host
/// names of the admin API. Public listeners serve neither.
#[utoipa::path(
    get, path = "/llms.txt", tag = "reference",
    responses((status = OK, body = String, content_type = "text/plain", description = "The index as Markdown"), Invalid, Addressed)
)]
pub(super) async fn llms(_: NoQuery) -> Result<Response, ApiError> {
    Ok(text(
        "text/plain; charset=utf-8",
        index::llms(original(README)?),
    ))
}

/// `GET /docs/`: the list of the documents.
pub(super) async fn list(_: NoQuery) -> Result<Response, ApiError> {
    served(README)
}

/// `GET /docs/{path}`: a document.
pub(super) async fn document(
    DocumentPath(path): DocumentPath,
    _: NoQuery,
) -> Result<Response, ApiError> {
    served(&path)
}

/// The text of a document as the repository has it.
fn original(path: &str) -> Result<&'static str, ApiError> {
    let document = DOCUMENTS.iter().find(|document| document.path == path);
    let document = document.ok_or(ApiError::NotFound("document"))?;
    Ok(document.text)
}

fn served(path: &str) -> Result<Response, ApiError> {
    let document = links::served(path, original(path)?);
    Ok(text("text/markdown; charset=utf-8", document))
}

fn text(media_type: &'static str, text: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, media_type),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, text).into_response()
}
