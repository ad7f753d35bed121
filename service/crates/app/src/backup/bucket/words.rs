//! Errors of a server of buckets, as sentences for people. The answers themselves are not shown:
//! they repeat the request, with the name of the access key.

use crate::backup::destination::BucketPath;
use crate::http_client::{causes, certificate_fault};

/// The longest cause that is shown, in characters.
const SHOWN: usize = 200;

/// The sentence for an error of `server`, at `path`.
pub(super) fn sentence(error: &object_store::Error, path: &BucketPath, server: &str) -> String {
    if let Some(fault) = causes(error).find_map(|cause| certificate_fault(cause, server)) {
        return fault;
    }
    let cause = causes(error)
        .last()
        .map_or_else(String::new, ToString::to_string);
    let bucket = path.bucket();
    match (between(&cause, "<Code>", "</Code>"), status(&cause)) {
        (Some("NoSuchBucket"), _) => {
            format!("{server} has no bucket {bucket}. Create it there, or name another one.")
        }
        (Some("RequestTimeTooSkewed"), _) => format!(
            "The clocks of this machine and of {server} differ too much for {path}. Set the one that is wrong."
        ),
        (_, Some("401" | "403")) => format!(
            "{server} refuses the access key for {path}. Check the key and its secret (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY), \
             that the key may list, read, write and delete objects there, and the clock of this machine."
        ),
        (Some("NoSuchKey"), _) | (None, Some("404")) => {
            format!("{server} does not have the object any more, or not the bucket: {path}.")
        }
        (Some(code), Some(status)) => {
            format!("{server} answers {status} {code} for {path}.")
        }
        (_, Some(status)) => format!("{server} answers {status} for {path}."),
        (_, None) => {
            let line = cause.lines().next().unwrap_or_default();
            let line: String = line.trim_end_matches('.').chars().take(SHOWN).collect();
            format!("{server} cannot be used for {path}: {line}.")
        }
    }
}

/// The HTTP status in the text of a refused request.
fn status(cause: &str) -> Option<&str> {
    let (_, rest) = cause.split_once("status code: ")?;
    rest.get(..3)
}

fn between<'t>(text: &'t str, begin: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(begin)?;
    let (found, _) = rest.split_once(end)?;
    (found.len() <= SHOWN && found.chars().all(|c| c.is_ascii_alphanumeric())).then_some(found)
}
