//! Forms with files (`multipart/form-data`, RFC 7578), as browsers send them.
//!
//! It is no library's, because a form is read as a whole: its token stands in it, and is checked
//! before anything is done with its file. multer, which axum uses, hands out parts of a stream.

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use memchr::memmem::{self, Finder};

/// Most parts of a form: twice as many as the largest form has.
const PARTS_MAX: usize = 16;
/// Longest boundary, in bytes (RFC 2046, section 5.1.1).
const BOUNDARY_MAX: usize = 70;

/// A field of a form, or a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part<'a> {
    /// Name of the field.
    pub(crate) name: String,
    /// Whether it is a file. Browsers send an empty one if none was chosen.
    pub(crate) is_file: bool,
    /// The text or the file, unchanged.
    pub(crate) content: &'a [u8],
}

/// The boundary of a form with files; `None` if the request contains no such form.
pub(crate) fn boundary(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let (essence, parameters) = value.split_once(';')?;
    if !essence.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let boundary = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.trim().split_once('=')?;
        let is_boundary = name.eq_ignore_ascii_case("boundary");
        is_boundary.then(|| value.trim_matches('"'))
    })?;
    (1..=BOUNDARY_MAX)
        .contains(&boundary.len())
        .then_some(boundary)
}

/// The parts of a form; `None` if the body is malformed or has too many.
pub(crate) fn parts<'a>(body: &'a [u8], boundary: &str) -> Option<Vec<Part<'a>>> {
    let delimiter = format!("\r\n--{boundary}");
    let finder = Finder::new(&delimiter);
    // The first delimiter begins the body, so no line break is before it.
    let mut rest = body.strip_prefix(&delimiter.as_bytes()[2..])?;
    let mut parts = Vec::new();
    while !rest.starts_with(b"--") {
        rest = rest.strip_prefix(b"\r\n")?;
        let end = finder.find(rest)?;
        if parts.len() == PARTS_MAX {
            return None;
        }
        parts.push(part(&rest[..end])?);
        rest = &rest[end + delimiter.len()..];
    }
    Some(parts)
}

fn part(bytes: &[u8]) -> Option<Part<'_>> {
    let blank = b"\r\n\r\n";
    let end = memmem::find(bytes, blank)?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let disposition = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_disposition = name.trim().eq_ignore_ascii_case("content-disposition");
        is_disposition.then_some(value)
    })?;
    // Browsers write a quote in a name as %22. A semicolon in a file's name does no harm here.
    let mut parameters = disposition.split(';').map(str::trim);
    let name = parameters.find_map(|one| one.strip_prefix("name=\"")?.strip_suffix('"'))?;
    Some(Part {
        name: name.to_owned(),
        is_file: parameters.any(|one| one.starts_with("filename=")),
        content: &bytes[end + blank.len()..],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    const FORM: &[u8] =
        b"--xyz\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\ntwo\r\nlines\r\n\
        --xyz\r\ncontent-disposition: form-data; name=\"photo\"; filename=\"a;b.jpg\"\r\n\
        Content-Type: image/jpeg\r\n\r\n\xFF\xD8\r\n\r\n--xy\r\n--xyz--\r\n";

    #[test]
    fn a_form_with_a_file_is_read_as_it_was_sent() {
        let read = parts(FORM, "xyz").unwrap();
        let expected = [
            Part {
                name: "note".to_owned(),
                is_file: false,
                content: b"two\r\nlines",
            },
            Part {
                name: "photo".to_owned(),
                is_file: true,
                content: b"\xFF\xD8\r\n\r\n--xy",
            },
        ];
        assert_eq!(read, expected);
        assert_eq!(parts(b"--xyz--", "xyz"), Some(Vec::new()));
    }

    #[test]
    fn a_form_that_ends_early_is_malformed() {
        // The end of the last delimiter may be missing, and line breaks behind it.
        let whole = FORM.len() - 2;
        for length in 0..whole {
            assert_eq!(parts(&FORM[..length], "xyz"), None, "{length}");
        }
        assert_eq!(parts(FORM, "other"), None);
        let mut many = Vec::new();
        for _ in 0..=PARTS_MAX {
            many.extend(b"--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n");
        }
        many.extend(b"--xyz--");
        assert_eq!(parts(&many, "xyz"), None);
    }

    #[test]
    fn a_boundary_is_that_of_a_form_with_files() {
        let long = format!("multipart/form-data; boundary={}", "x".repeat(71));
        for (value, expected) in [
            ("multipart/form-data; boundary=xyz", Some("xyz")),
            (
                "Multipart/Form-Data; charset=utf-8; boundary=\"x z\"",
                Some("x z"),
            ),
            ("multipart/form-data", None),
            ("multipart/form-data; boundary=", None),
            ("multipart/mixed; boundary=xyz", None),
            (&*long, None),
        ] {
            let value = HeaderValue::from_str(value).unwrap();
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, value.clone())]);
            assert_eq!(boundary(&headers), expected, "{value:?}");
        }
    }
}
