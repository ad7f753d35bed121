//! Forms with files (`multipart/form-data`, RFC 7578), as browsers send them.
//!
//! It is no library's, because the reader decides after the whole body: the token of a form stands in
//! it, and is checked before anything is done with its file. A form that is cut in its file still
//! gives the fields before it, so that the page has them again. multer, which axum uses, hands out
//! parts of a stream, and only an error at a cut.

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use memchr::memmem::{self, Finder};

/// Most parts of a form: twice as many as the largest form has.
const PARTS_MAX: usize = 16;
/// Longest boundary, in bytes (RFC 2046, section 5.1.1).
const BOUNDARY_MAX: usize = 70;
/// Longest headers of a part, in bytes: the longest name of a file (255 bytes), each byte escaped by
/// three, and several times as much for the rest.
const HEAD_MAX: usize = 4 * 1024;

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
pub(crate) fn boundary(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = value.split(';').next()?;
    if !essence.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let boundary = parameter(&parameters(value), "boundary")?.to_owned();
    (1..=BOUNDARY_MAX)
        .contains(&boundary.len())
        .then_some(boundary)
}

/// The parts of a form; `None` if the body is malformed or has too many.
pub(crate) fn parts<'a>(body: &'a [u8], boundary: &str) -> Option<Vec<Part<'a>>> {
    let (parts, is_whole) = read(body, boundary);
    is_whole.then_some(parts)
}

/// The parts before the place where a form was cut, as far as they are whole and well formed.
pub(crate) fn parts_before_cut<'a>(start: &'a [u8], boundary: &str) -> Vec<Part<'a>> {
    read(start, boundary).0
}

/// The parts up to the end of the form or to the first fault, and whether the end was reached.
fn read<'a>(body: &'a [u8], boundary: &str) -> (Vec<Part<'a>>, bool) {
    let delimiter = format!("\r\n--{boundary}");
    let finder = Finder::new(&delimiter);
    let mut parts = Vec::new();
    // The first delimiter begins the body, so no line break is before it.
    let mut rest = body.strip_prefix(&delimiter.as_bytes()[2..]);
    while let Some(behind) = rest {
        if behind.starts_with(b"--") {
            return (parts, true);
        }
        let content = behind.strip_prefix(b"\r\n");
        let found = content.and_then(|content| Some((content, finder.find(content)?)));
        let read = found.and_then(|(content, end)| Some((part(&content[..end])?, content, end)));
        let Some((part, content, end)) = read.filter(|_| parts.len() < PARTS_MAX) else {
            break;
        };
        parts.push(part);
        rest = content.get(end + delimiter.len()..);
    }
    (parts, false)
}

fn part(bytes: &[u8]) -> Option<Part<'_>> {
    let blank = b"\r\n\r\n";
    let start = &bytes[..bytes.len().min(HEAD_MAX + blank.len())];
    let end = memmem::find(start, blank)?;
    // The name of a file may be in another encoding. It is not used.
    let head = String::from_utf8_lossy(&bytes[..end]);
    let disposition = head.split("\r\n").find_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_disposition = name.trim().eq_ignore_ascii_case("content-disposition");
        is_disposition.then_some(value)
    })?;
    let parameters = parameters(disposition);
    // Browsers write a quote in a name as %22. Names of fields here have none.
    let name = parameter(&parameters, "name")?.to_owned();
    let is_file = ["filename", "filename*"]
        .into_iter()
        .any(|name| parameter(&parameters, name).is_some());
    Some(Part {
        name,
        is_file,
        content: &bytes[end + blank.len()..],
    })
}

/// The value of the first parameter with this name.
fn parameter<'a>(parameters: &'a [(&str, String)], name: &str) -> Option<&'a str> {
    let mut parameters = parameters.iter();
    let found = parameters.find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.as_str())
}

/// The parameters behind the first word of a header: `name="value"` or `name=value`, each after a
/// semicolon. A semicolon within quotes belongs to the value.
fn parameters(header: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut rest = header;
    while let Some(at) = rest.find(';') {
        rest = &rest[at + 1..];
        let Some(end) = rest.find(['=', ';']) else {
            break;
        };
        let (name, behind) = rest.split_at(end);
        rest = behind;
        if let Some(behind) = behind.strip_prefix('=') {
            let (value, behind) = value(behind);
            found.push((name.trim(), value));
            rest = behind;
        }
    }
    found
}

/// The value at the start of this text, without its quotes, and the text behind it.
fn value(text: &str) -> (String, &str) {
    let text = text.trim_start();
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, behind) = text.split_at(text.find(';').unwrap_or(text.len()));
        return (value.trim_end().to_owned(), behind);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[at + 1..]),
            // Some programs escape a quote so. Browsers write any backslash of a file's name as it is.
            '\\' if characters.next_if(|(_, next)| *next == '"').is_some() => value.push('"'),
            other => value.push(other),
        }
    }
    (value, "")
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
            ("multipart/form-data; boundary=\"\"", None),
            (
                "multipart/form-data; charset=\"; boundary=a\"; boundary=b",
                Some("b"),
            ),
            ("multipart/mixed; boundary=xyz", None),
            (&*long, None),
        ] {
            let value = HeaderValue::from_str(value).unwrap();
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, value.clone())]);
            assert_eq!(boundary(&headers).as_deref(), expected, "{value:?}");
        }
    }

    /// The name of a part with this disposition, and whether it is a file.
    fn disposed(disposition: &str) -> Option<(String, bool)> {
        let form = format!("--x\r\nContent-Disposition: {disposition}\r\n\r\ntext\r\n--x--");
        let mut read = parts(form.as_bytes(), "x")?;
        let part = read.pop()?;
        assert_eq!(part.content, b"text", "{disposition}");
        Some((part.name, part.is_file))
    }

    #[test]
    fn no_name_of_a_file_changes_the_field() {
        for (disposition, name, is_file) in [
            (r#"form-data; name="note""#, "note", false),
            ("form-data; name=note", "note", false),
            (r#"form-data; Name = "note" ; x"#, "note", false),
            (r#"form-data; name="photo"; filename="""#, "photo", true),
            (
                r#"form-data; name="photo"; filename="a; name="token""#,
                "photo",
                true,
            ),
            (
                r#"form-data; filename="a; name=\"token\".jpg"; name="photo""#,
                "photo",
                true,
            ),
            (r#"form-data; name="photo"; filename="a\""#, "photo", true),
            (
                r#"form-data; name="photo"; filename*=UTF-8''a.jpg"#,
                "photo",
                true,
            ),
        ] {
            let expected = Some((name.to_owned(), is_file));
            assert_eq!(disposed(disposition), expected, "{disposition}");
        }
        for disposition in ["form-data", "form-data; filename=\"a\"", "form-data; name"] {
            assert_eq!(disposed(disposition), None, "{disposition}");
        }
        let form = b"--x\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"\xE9.jpg\"\
            \r\n\r\n\r\n--x--";
        let read = parts(form, "x").expect("any encoding is accepted");
        assert!(read[0].is_file && read[0].content.is_empty());
    }

    #[test]
    fn a_part_has_short_headers_and_a_blank_line_after_them() {
        let with = |more: usize| {
            let form = format!(
                "--x\r\nX-More: {}\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--x--",
                "m".repeat(more)
            );
            parts(form.as_bytes(), "x").map(|parts| parts.len())
        };
        assert_eq!(with(1_000), Some(1));
        assert_eq!(with(HEAD_MAX), None);
        for form in [
            &b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n--x--"[..],
            b"--x\r\n\r\nb\r\n--x--",
            b"--x\r\n--x--",
            b"\r\n--x--",
            b"preamble\r\n--x--",
            b"--xy\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n--xy--",
        ] {
            assert_eq!(parts(form, "x"), None, "{}", form.escape_ascii());
        }
    }

    /// A form within a form is the content of its part.
    #[test]
    fn a_nested_form_adds_no_fields() {
        let form = b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\
            Content-Type: multipart/mixed; boundary=y\r\n\r\n\
            --y\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\nb\r\n--y--\r\n--x--";
        let read = parts(form, "x").expect("it is well formed");
        assert_eq!((read.len(), &*read[0].name), (1, "a"));
    }

    #[test]
    fn a_form_that_is_cut_gives_the_parts_before() {
        let second = memmem::find(FORM, b"content-disposition").expect("a second part");
        for length in 0..FORM.len() {
            let read = parts_before_cut(&FORM[..length], "xyz");
            assert!(read.len() <= 2, "{length}");
            if length > second {
                assert_eq!(read[0].content, b"two\r\nlines", "{length}");
            }
        }
        assert_eq!(parts_before_cut(FORM, "xyz").len(), 2);
        assert!(parts_before_cut(b"--other", "xyz").is_empty());
    }
}
