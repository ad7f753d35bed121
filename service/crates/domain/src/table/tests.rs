use std::io::Cursor;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

type Rows = Vec<(u32, Result<Vec<String>, String>)>;

pub(super) fn sheet(file: &[u8]) -> Result<Sheet<&[u8]>, String> {
    Sheet::open(TableFile::new(file)?)
}

pub(super) fn rows(file: impl AsRef<[u8]>) -> Rows {
    let sheet = sheet(file.as_ref()).unwrap();
    let read = |line: Line| (line.number, line.cells().map_err(|why| why.to_string()));
    sheet.map(read).collect()
}

pub(super) fn row(number: u32, texts: &[&str]) -> (u32, Result<Vec<String>, String>) {
    (number, Ok(texts.iter().map(ToString::to_string).collect()))
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn separator_and_byte_order_mark_are_found() {
    for file in [
        "name,title\na,b\n",
        "name;title\r\na;b\r\n",
        "name\ttitle\na\tb",
        "name|title\na|b",
        "\u{feff}name,title\ra,b",
        "\u{feff}\"name\";\"title\"\n\"a\";\"b\"",
        " name , title \na,b",
        "sep=;\nname;title\na;b",
        "\u{feff}SEP=\t\r\nname\ttitle\r\na\tb",
    ] {
        assert_eq!(rows(file), [row(2, &["a", "b"])], "{file:?}");
        let utf16 = utf16(&format!("\u{feff}{}", file.trim_start_matches('\u{feff}')));
        assert_eq!(rows(utf16), [row(2, &["a", "b"])], "{file:?}");
    }
}

#[test]
fn rows_have_the_numbers_of_a_spreadsheet() {
    for end in ["\n", "\r\n", "\r"] {
        let file = ["name,title", "a,1", "", "", "b,\"x\ny\"", ",", "c,2", "d"].join(end);
        let expected = [
            row(2, &["a", "1"]),
            row(5, &["b", "x\ny"]),
            row(7, &["c", "2"]),
            (8, Err("The row has 1 cell, the header 2.".to_owned())),
        ];
        assert_eq!(rows(&file), expected, "{end:?}");
    }
    let mixed = "name\r\na\nb\rc\n\rd\r\n\r\ne";
    let expected = [(2, "a"), (3, "b"), (4, "c"), (6, "d"), (8, "e")];
    assert_eq!(
        rows(mixed),
        expected.map(|(number, cell)| row(number, &[cell]))
    );
}

#[test]
fn quotes_are_read_as_spreadsheets_write_them() {
    let file = "name,title\n\"a \"\"b\"\", c\",\"two\r\nlines\"\nd\"e,\"f\"g\n\"\",h\n";
    let expected = [
        row(2, &["a \"b\", c", "two\r\nlines"]),
        row(3, &["d\"e", "fg"]),
        row(4, &["", "h"]),
    ];
    assert_eq!(rows(file), expected);
}

#[test]
fn a_quote_that_is_never_closed_is_named_by_its_row() {
    let read = rows("name,title\na,b\nc,\"d\ne,f\n");
    assert_eq!(read[0], row(2, &["a", "b"]));
    let (number, refused) = &read[1];
    assert_eq!((*number, read.len()), (3, 2));
    assert!(refused.as_ref().unwrap_err().contains("never closed"));
    let refused = sheet(b"name,\"title\na,b\n").err();
    assert_eq!(
        refused.as_deref(),
        Some("A quote of the header is never closed.")
    );
}

#[test]
fn a_row_takes_little_memory_however_long_it_is() {
    let long = Repeated {
        before: b"name,title\na,\"",
        byte: b'x',
        times: 20_000_000,
        after: b"\"\nb,c\n",
    };
    let mut sheet = Sheet::open(TableFile::new(long.reader()).unwrap()).unwrap();
    let refused = sheet.next().unwrap().cells().unwrap_err().to_string();
    assert!(refused.contains("longer than 4 MiB"), "{refused}");
    let last = sheet.next().unwrap();
    assert_eq!(last.number, 3);
    assert_eq!(last.cells().unwrap(), ["b", "c"]);

    let wide = Repeated {
        before: b"name\na",
        byte: b',',
        times: 2_000_000,
        after: b"",
    };
    let mut sheet = Sheet::open(TableFile::new(wide.reader()).unwrap()).unwrap();
    let refused = sheet.next().unwrap().cells();
    assert_eq!(
        refused.unwrap_err().to_string(),
        "The row has 2000001 cells, the header 1."
    );
}

#[test]
fn a_table_has_at_most_1_000_columns() {
    assert!(sheet("a,".repeat(999).as_bytes()).is_ok());
    let refused = sheet("a,".repeat(10_000).as_bytes()).err().unwrap();
    assert_eq!(refused, "A file has at most 1000 columns.");
}

#[test]
fn a_cell_that_is_no_text_refuses_its_row_only() {
    let mixed = rows(b"name,title\nK\xc3\xa4se,a\nK\xe4se,b\nc,d\n");
    assert_eq!(mixed[0], row(2, &["Käse", "a"]));
    let refused = mixed[1].1.as_ref().unwrap_err();
    assert!(
        refused.starts_with("Cell 1 is not UTF-8 text."),
        "{refused}"
    );
    assert_eq!(mixed[2], row(4, &["c", "d"]));

    let mut surrogate = utf16("\u{feff}name,title\r\na,");
    surrogate.extend([0x3d, 0xd8]);
    surrogate.extend(utf16("\r\nb,c\r\n"));
    let read = rows(&surrogate);
    let refused = read[0].1.as_ref().unwrap_err();
    assert!(
        refused.starts_with("Cell 2 is not UTF-16 text."),
        "{refused}"
    );
    assert_eq!(read[1], row(3, &["b", "c"]));

    // Half a character at the end of the file forms a separate row.
    let mut odd = utf16("\u{feff}name\r\na\r\n");
    odd.push(b'b');
    assert_eq!(rows(&odd)[0], row(2, &["a"]));
    assert!(rows(&odd)[1].1.is_err());

    let nul = rows("name\na\0b\nc\n");
    assert_eq!(nul[0].1, Err("Cell 1 has a NUL character.".to_owned()));
    assert_eq!(nul[1], row(3, &["c"]));
}

#[test]
fn one_byte_of_windows_1252_is_read_and_said() {
    let file = b"xuid;tagname\nk3v9qa2b;K\xe4se\n";
    let sheet = sheet(file).unwrap();
    assert_eq!(
        (sheet.encoding(), sheet.separator()),
        (Some(Encoding::Windows1252), Some(';'))
    );
    assert_eq!(rows(file), [row(2, &["k3v9qa2b", "Käse"])]);
}

#[test]
fn a_file_without_a_header_is_refused_in_words() {
    for (file, part) in [
        (&b""[..], "The file is empty"),
        (b"\n\n", "The file is empty"),
        (b"\xef\xbb\xbf", "The file is empty"),
        (b"\xff\xfe", "The file is empty"),
        (b"sep=;\n", "The file is empty"),
        (b"sep=x\nname\n", "no known separator"),
        (b"na\0me\n", "Column 1 has a NUL character"),
        (b"PK\x03\x04", "workbook cannot be read"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "save it as .xlsx"),
    ] {
        let refused = sheet(file).err().unwrap();
        assert!(refused.contains(part), "{file:?}: {refused}");
    }
    assert!(rows("name\n").is_empty());
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(file in vec(any::<u8>(), 0..300)) {
        if let Ok(sheet) = sheet(&file) {
            prop_assert!(sheet.count() <= file.len());
        }
    }

    #[test]
    fn any_cells_are_read_as_they_were_written(
        rows in vec(("[^\0]{0,8}", "[a\"\n\r,; ]{0,8}"), 0..8),
    ) {
        let mut writer = csv::Writer::from_writer(b"name,title\r\n".to_vec());
        for (name, title) in &rows {
            writer.write_record([name, title]).unwrap();
        }
        let read: Vec<_> = sheet(&writer.into_inner().unwrap()).unwrap().map(Line::cells).collect();
        let written = rows.into_iter().filter(|(name, title)| !(name.is_empty() && title.is_empty()));
        let written: Vec<_> = written.map(|(name, title)| Ok(vec![name, title])).collect();
        prop_assert_eq!(read, written);
    }
}

/// A file of one repeated byte that is never completely in memory.
#[derive(Clone, Copy)]
struct Repeated {
    before: &'static [u8],
    byte: u8,
    times: u64,
    after: &'static [u8],
}

impl Repeated {
    fn reader(self) -> impl Read + Clone {
        Parts {
            before: Cursor::new(self.before),
            byte: self.byte,
            left: self.times,
            after: Cursor::new(self.after),
        }
    }
}

#[derive(Clone)]
struct Parts {
    before: Cursor<&'static [u8]>,
    byte: u8,
    left: u64,
    after: Cursor<&'static [u8]>,
}

impl Read for Parts {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.before.read(buffer)?;
        if read > 0 || buffer.is_empty() {
            return Ok(read);
        }
        let length = self.left.min(buffer.len() as u64);
        if length == 0 {
            return self.after.read(buffer);
        }
        let filled = usize::try_from(length).unwrap_or(buffer.len());
        buffer[..filled].fill(self.byte);
        self.left -= length;
        Ok(filled)
    }
}
