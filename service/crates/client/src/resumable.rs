//! The whole rows of an interrupted export.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};

use csv::ReaderBuilder;
use serde_json::Value;

/// The format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Comma-separated values with a header row. A cell may contain line ends.
    Csv,
    /// One JSON object per line.
    Jsonl,
}

impl Rows {
    /// The format with this media type; `None` if it is none of rows.
    pub(crate) fn of(media_type: &str) -> Option<Self> {
        match media_type.split(';').next()? {
            "text/csv" => Some(Self::Csv),
            "application/jsonl" => Some(Self::Jsonl),
            _ => None,
        }
    }
}

/// The columns of a CSV file, separated by commas; `None` if it has no header.
pub(crate) fn columns(file: &mut File) -> io::Result<Option<String>> {
    file.seek(SeekFrom::Start(0))?;
    // Names of columns contain no line ends.
    let mut head = Vec::new();
    BufReader::new(&mut *file).read_until(b'\n', &mut head)?;
    let head = String::from_utf8_lossy(&head);
    let names = cells(head.trim_start_matches('\u{feff}'));
    Ok((head.ends_with('\n') && !names.is_empty()).then(|| names.join(",")))
}

/// Path and query of the request that continues an export. It names the columns of the file, so
/// that each row has the cells of the file's header, unless the request already names them.
pub fn continued(path: &str, cursor: &str, columns: Option<&str>) -> String {
    let query = path.split_once('?').map(|(_, query)| query);
    let mut named = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let mut more = form_urlencoded::Serializer::new(String::new());
    if let Some(columns) = columns.filter(|_| !named.any(|(name, _)| name == "columns")) {
        more.append_pair("columns", columns);
    }
    more.append_pair("cursor", cursor);
    let sign = if query.is_some() { '&' } else { '?' };
    format!("{path}{sign}{}", more.finish())
}

/// Cuts a file after its last whole row, and returns the `id` of that row. `None` if it has no row,
/// or no such column.
pub(crate) fn cut(file: &mut File, rows: Rows) -> io::Result<Option<i64>> {
    file.seek(SeekFrom::Start(0))?;
    // The positions at which rows end.
    let (mut head, mut before, mut last) = (0, 0, 0);
    let mut quoted = false;
    for (place, byte) in (1_u64..).zip(BufReader::new(&mut *file).bytes()) {
        match byte? {
            b'"' => quoted = !quoted && rows == Rows::Csv,
            b'\n' if !quoted => {
                if head == 0 {
                    head = place;
                }
                (before, last) = (last, place);
            }
            _ => {}
        }
    }
    file.set_len(last)?;
    let row = text(file, before, last)?;
    Ok(match rows {
        Rows::Jsonl => {
            let row: Option<Value> = serde_json::from_str(&row).ok();
            row.and_then(|row| row["id"].as_i64())
        }
        // The header does not count as a row.
        Rows::Csv if before == 0 => None,
        Rows::Csv => {
            let head = text(file, 0, head)?;
            let names = cells(head.trim_start_matches('\u{feff}'));
            let place = names.iter().position(|name| name == "id");
            place.and_then(|place| cells(&row).get(place)?.parse().ok())
        }
    })
}

fn text(file: &mut File, from: u64, to: u64) -> io::Result<String> {
    file.seek(SeekFrom::Start(from))?;
    let mut text = String::new();
    file.take(to - from).read_to_string(&mut text)?;
    Ok(text)
}

fn cells(row: &str) -> Vec<String> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .from_reader(row.as_bytes());
    let record = reader.records().next().and_then(Result::ok);
    let cells = record.iter().flatten();
    cells.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn what_continues_a_file_names_its_columns() {
        for (content, expected) in [
            ("\u{feff}id,field:name\r\n7,a\r\n", Some("id,field:name")),
            ("id,na", None),
            ("", None),
        ] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(content.as_bytes()).unwrap();
            assert_eq!(columns(&mut file).unwrap().as_deref(), expected);
        }
        for (path, columns, expected) in [
            ("/a", None, "/a?cursor=7.3"),
            ("/a", Some("id,at"), "/a?columns=id%2Cat&cursor=7.3"),
            ("/a?q=b", Some("id"), "/a?q=b&columns=id&cursor=7.3"),
            ("/a?columns=id", Some("id"), "/a?columns=id&cursor=7.3"),
        ] {
            assert_eq!(continued(path, "7.3", columns), expected);
        }
    }

    #[test]
    fn what_is_cut_ends_with_a_whole_row_and_its_id_is_known() {
        for (rows, content, whole, id) in [
            (Rows::Csv, "\u{feff}id,name\r\n", 12, None),
            (Rows::Csv, "id,name\r\n7,a\r\n6,b\r\n5,", 19, Some(6)),
            (Rows::Csv, "name,id\r\n\"a\n\"\"b\",7\r\n\"c\n", 20, Some(7)),
            (Rows::Csv, "name\r\na\r\n", 9, None),
            (Rows::Csv, "id,na", 0, None),
            (Rows::Jsonl, "{\"id\": 7}\n{\"id\"", 10, Some(7)),
            (
                Rows::Jsonl,
                "{\"id\": 7, \"name\": \"a\\\"\"}\n",
                25,
                Some(7),
            ),
            (Rows::Jsonl, "", 0, None),
        ] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(content.as_bytes()).unwrap();
            assert_eq!(cut(&mut file, rows).unwrap(), id, "{content:?}");
            assert_eq!(file.metadata().unwrap().len(), whole, "{content:?}");
        }
    }
}
