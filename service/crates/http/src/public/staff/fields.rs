//! The fields of a form of a staff page, with the photo that it may have.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;

use crate::body::{self, BodyError, multipart};
use crate::public::form::is_form;
use crate::public::{BODY_MAX, BODY_TIME};
use app::staff::PHOTO_MAX;

/// Time limit for a form with a photo. Phones in the field have slow lines: the largest photo needs
/// more than two minutes at a megabit per second. Only paired phones come so far.
const PHOTO_TIME: Duration = Duration::from_mins(5);

/// The fields of a form.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// The texts, by the names of their fields.
    pub(super) texts: BTreeMap<String, String>,
    /// The photo; `None` if none was chosen.
    pub(super) photo: Option<Result<Vec<u8>, Cut>>,
}

/// Why a form arrived only up to its photo. Its texts are before the photo, in the order of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// The photo is too large.
    Large,
    /// The photo did not arrive in time.
    Late,
}

/// Why the fields could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// The request contains no form.
    NoForm,
    /// The body did not arrive.
    Body(BodyError),
}

impl Fields {
    /// The text that a person typed: a note, or the value of a variable.
    pub(super) fn typed(&self) -> Option<&str> {
        let texts = ["note", "value"]
            .into_iter()
            .filter_map(|name| self.texts.get(name));
        texts.map(String::as_str).find(|text| !text.is_empty())
    }

    /// Reads the fields of a form, with or without a photo.
    pub(super) async fn read(headers: &HeaderMap, body: Body) -> Result<Self, Unread> {
        let Some(boundary) = multipart::boundary(headers) else {
            if !is_form(headers) {
                return Err(Unread::NoForm);
            }
            let body = body::read(body, BODY_MAX, BODY_TIME).await;
            let body = body.map_err(Unread::Body)?;
            return Ok(Self {
                texts: form_urlencoded::parse(&body).into_owned().collect(),
                photo: None,
            });
        };
        let start = body::read_start(body, BODY_MAX + PHOTO_MAX, PHOTO_TIME).await;
        let incomplete = Unread::Body(BodyError::Incomplete);
        let (parts, cut) = match start.cut {
            None => {
                let parts = multipart::parts(&start.bytes, &boundary);
                (parts.ok_or(incomplete)?, None)
            }
            Some(BodyError::Incomplete) => return Err(incomplete),
            Some(error) => {
                let parts = multipart::parts_before_cut(&start.bytes, &boundary);
                let is_large = error == BodyError::TooLarge;
                (parts, Some(if is_large { Cut::Large } else { Cut::Late }))
            }
        };
        // The room for the photo is for the photo: a refused page repeats the texts.
        let texts = parts.iter().filter(|part| !part.is_file);
        if texts.map(|part| part.content.len()).sum::<usize>() > BODY_MAX {
            return Err(Unread::Body(BodyError::TooLarge));
        }
        let mut fields = Self::default();
        for part in parts {
            if !part.is_file {
                let text = String::from_utf8_lossy(part.content).into_owned();
                fields.texts.insert(part.name, text);
            } else if part.name == "photo" && !part.content.is_empty() {
                // Without a choice, browsers send an empty file.
                fields.photo = Some(Ok(part.content.to_vec()));
            }
        }
        if let Some(cut) = cut {
            fields.photo = Some(Err(cut));
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::http::header::CONTENT_TYPE;

    use super::*;

    /// The fields of a form with these parts, each with its content.
    async fn read(parts: &[(&str, &str)]) -> Result<Fields, Unread> {
        let mut body = Vec::new();
        for (named, content) in parts {
            let head = format!("--x\r\nContent-Disposition: form-data; {named}\r\n\r\n");
            body.extend(head.into_bytes());
            body.extend(content.as_bytes());
            body.extend(b"\r\n");
        }
        body.extend(b"--x--\r\n");
        let form = HeaderValue::from_static("multipart/form-data; boundary=x");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, form)]);
        Fields::read(&headers, Body::from(body)).await
    }

    const NOTE: (&str, &str) = ("name=\"note\"", "torn");
    const PHOTO: &str = "name=\"photo\"; filename=\"a.jpg\"";

    #[tokio::test]
    async fn a_photo_that_is_too_large_leaves_the_texts_before_it() {
        let large = "x".repeat(BODY_MAX + PHOTO_MAX);
        let action = ("name=\"action\"", "bad");
        let fields = read(&[NOTE, (PHOTO, &large), action]).await.unwrap();
        assert_eq!(fields.photo, Some(Err(Cut::Large)));
        assert_eq!(fields.texts["note"], "torn");
        assert_eq!(fields.texts.len(), 1);
    }

    #[tokio::test]
    async fn the_photo_is_the_file_of_its_own_field() {
        let other = "name=\"note\"; filename=\"b.jpg\"";
        for parts in [
            &[NOTE, (PHOTO, "pixels"), (PHOTO, ""), (other, "more")][..],
            &[(other, "more"), (PHOTO, "pixels"), NOTE][..],
        ] {
            let fields = read(parts).await.unwrap();
            assert_eq!(fields.photo, Some(Ok(b"pixels".to_vec())));
            assert_eq!(fields.texts["note"], "torn");
        }
        // Of two texts with one name, the last one counts.
        let twice = read(&[("name=\"note\"", "first"), NOTE]).await.unwrap();
        assert_eq!((&*twice.texts["note"], twice.photo), ("torn", None));
        let long = "a".repeat(BODY_MAX);
        let refused = read(&[("name=\"note\"", &long), NOTE]).await.unwrap_err();
        assert_eq!(refused, Unread::Body(BodyError::TooLarge));
    }

    #[test]
    fn the_largest_photo_has_time_for_a_line_of_a_megabit() {
        let received = PHOTO_TIME.as_secs() * 1_000_000 / 8;
        assert!(usize::try_from(received).unwrap() > BODY_MAX + PHOTO_MAX);
    }
}
