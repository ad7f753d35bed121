//! The fields of a form of a staff page, with the photo that it may have.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;

use crate::body::{self, BodyError, multipart};
use crate::public::form::is_form;
use crate::public::{BODY_MAX, BODY_TIME};

/// Maximum size of a photo, in bytes: that of a picture which owners upload.
const PHOTO_MAX: usize = 16 * 1024 * 1024;
/// Time limit for a form with a photo. Phones in the field have slow lines: the largest photo needs
/// more than two minutes at a megabit per second. Only paired phones come so far.
const PHOTO_TIME: Duration = Duration::from_mins(5);

/// The fields of a form.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// The texts, by the names of their fields.
    pub(super) texts: BTreeMap<String, String>,
    /// The bytes of the photo; `None` if none was chosen.
    pub(super) photo: Option<Vec<u8>>,
}

/// Why the fields could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// The request contains no form.
    NoForm,
    /// The form has a photo, and is too large.
    LargePhoto,
    /// The body did not arrive.
    Body(BodyError),
}

impl Fields {
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
        let body = body::read(body, BODY_MAX + PHOTO_MAX, PHOTO_TIME).await;
        let body = body.map_err(|error| match error {
            BodyError::TooLarge => Unread::LargePhoto,
            error => Unread::Body(error),
        })?;
        let parts = multipart::parts(&body, boundary);
        let parts = parts.ok_or(Unread::Body(BodyError::Incomplete))?;
        // The room for the photo is for the photo: a refused page repeats the texts.
        let texts = parts.iter().filter(|part| !part.is_file);
        if texts.map(|part| part.content.len()).sum::<usize>() > BODY_MAX {
            return Err(Unread::Body(BodyError::TooLarge));
        }
        let mut fields = Self::default();
        for part in parts {
            if part.is_file {
                // Without a choice, browsers send an empty file.
                fields.photo = (!part.content.is_empty()).then(|| part.content.to_vec());
            } else {
                let text = String::from_utf8_lossy(part.content).into_owned();
                fields.texts.insert(part.name, text);
            }
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_photo_has_time_for_a_line_of_a_megabit() {
        let received = PHOTO_TIME.as_secs() * 1_000_000 / 8;
        assert!(usize::try_from(received).unwrap() > BODY_MAX + PHOTO_MAX);
    }
}
