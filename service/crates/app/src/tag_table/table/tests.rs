//! How rows of the known tables are read.

use super::*;
use crate::tag_table::layout::Mapped;
use crate::tag_table::preset::named;
use inlay::Technology;
use inlay::template::{Lookup, TemplateSettings};

fn table<'a>(file: &'a str, layout: &Layout) -> Table<&'a [u8]> {
    Table::open(TableFile::new(file.as_bytes()).unwrap(), layout).unwrap()
}

fn rows(file: &str, layout: &Layout) -> Vec<Result<Vec<String>, String>> {
    let text = |cell: &Cell| cell.text().unwrap_or_default().to_owned();
    let texts = |cells: Vec<Cell>| cells.iter().map(text).collect();
    table(file, layout)
        .map(|row| row.cells.map(texts).map_err(|why| why.message))
        .collect()
}

fn of(preset: &str) -> Layout {
    Layout {
        preset: Some(named(preset).unwrap()),
        ..Layout::default()
    }
}

#[test]
fn columns_of_ixkio() {
    let file = "XUID,UID,CUID,TAGNAME,NFTCHAIN\r\nGTS5ch6k,04:AA:BB:CC:11:22:33,12345,,x\r\nh7dvbz6k,,,My Tag,\r\n";
    let layout = of("ixkio");
    let names = table(file, &layout);
    let names: Vec<_> = names.columns().iter().map(Column::name).collect();
    assert_eq!(names, ["slug", "uid", "data:cuid", "name"]);
    let cells = rows(file, &layout);
    let expected = ["GTS5ch6k", "04AABBCC112233", "12345", ""];
    assert_eq!(cells[0].as_ref().unwrap()[..], expected);
    assert_eq!(
        cells[1].as_ref().unwrap()[..],
        ["h7dvbz6k", "", "", "My Tag"]
    );
    assert_eq!(table(file, &layout).survey(0).ignored, ["NFTCHAIN"]);
}

#[test]
fn a_cell_that_is_no_text_is_refused_by_its_column() {
    let file = "XUID,TAGNAME,Notiz\nab12cd34,A\0,\nab12cd35,B,\0\n";
    let read: Vec<_> = table(file, &of("ixkio")).map(|row| row.cells).collect();
    let expected = [
        FieldError::of("name", "name has a NUL character."),
        FieldError::whole("The column \"Notiz\" has a NUL character."),
    ];
    assert_eq!(read, expected.map(Err));
}

#[test]
fn columns_of_boltcard() {
    let file =
        "Card name;uid;k1;k2_cmac_key;LAST-COUNTER value;pin\nOne;04AABBCC112233;00;11;17;1234\n";
    let cells = rows(file, &of("boltcard"));
    // Keys of one repeated byte look like numbers that lost their zeros.
    assert!(cells[0].as_ref().unwrap_err().contains("spreadsheet"));
    let key = |byte: &str| byte.repeat(16);
    let file = file
        .replace(";00;", &format!(";{};", key("00")))
        .replace(";11;", &format!(";{};", key("11")));
    let cells = rows(&file, &of("boltcard"));
    let expected = ["One", "04AABBCC112233", &key("00"), &key("11"), "17"];
    assert_eq!(cells[0].as_ref().unwrap()[..], expected);
}

#[test]
fn columns_of_bluebite() {
    for (heading, cell, expected) in [
        ("mTAG ID", "32403784", "njaix4"),
        ("mTAG ID", "njaix4", "njaix4"),
        ("Encoded URL", "https://mtag.example/njaix4", "njaix4"),
        ("Encoded URL", "https://mtag.example/njaix4/?a=b", "njaix4"),
        ("Encoded URL", "njaix4", "njaix4"),
        ("Encoded URL", "mtag.example/njaix4?a=b", "njaix4"),
        ("Encoded URL", "/njaix4", "njaix4"),
        (
            "Encoded URL",
            "https://bb.example/nilpps/042E276AA24881x0001A22702",
            "nilpps",
        ),
        (
            "Encoded URL",
            "https://bb.example/042E276AA24881x0001A2",
            "042E276AA24881x0001A2",
        ),
        (
            "Encoded URL",
            "https://bb.example/njaix4&brid=abc",
            "njaix4",
        ),
        (
            "Encoded URL",
            "https://bb.example/njaix4/&brid=abc?x=y",
            "njaix4",
        ),
    ] {
        let file = format!("Name,{heading}\nDoor,{cell}\n");
        assert_eq!(
            rows(&file, &of("bluebite")),
            [Ok(vec!["Door".to_owned(), expected.to_owned()])],
            "{cell}"
        );
    }
}

#[test]
fn a_url_is_read_by_the_template_of_all_rows() {
    let settings = TemplateSettings {
        lookup: Some(Lookup::Unverified),
        ..TemplateSettings::new(
            "https://bb.example/o?m={uid}x{counter}",
            Technology::Ntag213,
        )
    };
    let by_uid = Template::new(settings).unwrap();
    let named = TemplateSettings::new("https://bb.example/o?id={slug}", Technology::Ntag213);
    let named = Template::new(named).unwrap();
    for (template, url, expected) in [
        (&named, "https://bb.example/o?id=njaix4", "njaix4"),
        (&named, "https://bb.example/njaix5?id=njaix4", "njaix5"),
        // Such tags get a slug of ours.
        (&by_uid, "https://bb.example/o?m=042E276AA24881x0001A2", ""),
    ] {
        let layout = Layout {
            template: Some(template.clone()),
            ..of("bluebite")
        };
        let file = format!("Name,Encoded URL\nDoor,{url}\n");
        let cells = rows(&file, &layout);
        assert_eq!(cells[0].as_ref().unwrap()[1], expected, "{url}");
    }
}

#[test]
fn the_first_id_of_bluebite_that_becomes_another_slug_is_named() {
    let file = "Name,mTAG ID\nA,nilpps\nB,1042\nC,1043\n";
    let notes = table(file, &of("bluebite")).survey(0).notes;
    let [note] = &notes[..] else {
        panic!("{notes:?}");
    };
    assert!(
        note.contains("\"1042\" in row 3 is the slug \"nsy\""),
        "{note}"
    );
    // The way out that the note names.
    assert!(note.contains("preset=csv and map=mTAG ID:slug."), "{note}");
    let kept = Layout {
        map: vec![
            Mapped::parse("mTAG ID:slug").unwrap(),
            Mapped::parse("Name:name").unwrap(),
        ],
        ..of("csv")
    };
    assert!(table(file, &kept).survey(0).notes.is_empty());
    assert_eq!(rows(file, &kept)[1].as_ref().unwrap()[..], ["B", "1042"]);
    let file = "Name,mTAG ID\nA,nilpps\n";
    assert!(table(file, &of("bluebite")).survey(0).notes.is_empty());
}

#[test]
fn columns_of_sdm_backend() {
    let file = "uid,read_ctr,enc_mode,file_data,tt_status\n04AABBCC112233,7,AES,,secure\n";
    let layout = of("sdm_backend");
    let names: Vec<_> = table(file, &layout)
        .columns()
        .iter()
        .map(|column| column.name().into_owned())
        .collect();
    let expected = [
        "uid",
        "last_counter",
        "mode",
        "data:file_data",
        "data:tt_status",
        "name",
    ];
    assert_eq!(names, expected);
    let cells = &rows(file, &layout)[0];
    assert_eq!(cells.as_ref().unwrap()[1..3], ["7", "aes"]);
}

#[test]
fn a_table_that_names_no_chip_is_found_before_its_rows_are_read() {
    for (file, expected) in [
        (
            "name,uid\nA,\nB,04AABBCC112233\nC,04AABBCC112234\n",
            Some(3),
        ),
        ("name,uid,technology\nA,04AABBCC112233,\n", Some(2)),
        (
            "name,uid,technology\nA,04AABBCC112233,\nB,04AABBCC112234,ntag213\n",
            None,
        ),
        ("name,uid,template\nA,04AABBCC112233,Reel\n", None),
        ("name,uid\nA,\n", None),
        ("name\nA\n", None),
    ] {
        let survey = table(file, &Layout::default()).survey(0);
        assert_eq!(survey.without_chip, expected, "{file}");
    }
}

#[test]
fn a_counter_is_asked_about_if_nothing_says_how_it_is_written() {
    let file =
        |heading: &str, counter: &str| format!("name,uid,{heading}\nA,04AABBCC112233,{counter}\n");
    let with = |counter| Layout {
        counter,
        ..of("csv")
    };
    for (heading, cell, counter, expected) in [
        ("read counter", "000021", None, "33"),
        ("read counter", "00001E", None, "30"),
        ("read counter", "21", Some(Digits::Hex), "33"),
        ("read counter", "21", Some(Digits::Decimal), "21"),
        ("last_counter", "21", None, "21"),
        ("last_counter", "000021", None, "33"),
        ("read counter", "", None, ""),
    ] {
        let file = file(heading, cell);
        let layout = with(counter);
        assert_eq!(rows(&file, &layout)[0].as_ref().unwrap()[2], expected);
        assert_eq!(table(&file, &layout).survey(0).unclear, None);
    }
    let unclear = table(&file("read counter", "21"), &with(None))
        .survey(0)
        .unclear;
    let unclear = unclear.unwrap();
    for part in ["\"read counter\"", "row 2", "33", "counter=hex"] {
        assert!(unclear.contains(part), "{unclear}");
    }
    let notes = table(&file("counter", "000021"), &with(None))
        .survey(0)
        .notes;
    assert!(notes[0].contains("\"000021\" in row 2 is 33"), "{notes:?}");
}

#[test]
fn a_slug_with_an_apostrophe_is_no_date() {
    let layout = Layout::default();
    let cells = rows(
        "name,slug\na,2023-11-04\nb,'2023-11-04\nc,bottle-41\n",
        &layout,
    );
    assert!(cells[0].as_ref().unwrap_err().contains("a date"));
    assert_eq!(cells[1].as_ref().unwrap()[1], "2023-11-04");
    assert_eq!(cells[2].as_ref().unwrap()[1], "bottle-41");
}

#[test]
fn cells_are_read_without_the_protection_from_a_spreadsheet() {
    let key = "0c3b25d92b38ae443229dd59ad34b85d";
    for (before, after) in [("=\"", "\""), ("'", ""), ("\u{202d}", "\u{202c}")] {
        let cell = |text: &str| format!("{before}{text}{after}");
        let file = format!(
            "name,slug,uid,file_key\na,{},{},{}\n",
            cell("1042"),
            cell("04A1B2C3D4E580"),
            cell(key)
        );
        let cells = rows(&file, &Layout::default());
        let expected = ["a", "1042", "04A1B2C3D4E580", key];
        assert_eq!(cells[0].as_ref().unwrap()[..], expected, "{file}");
    }
    let file = "name,slug,uid\na,=\"2023-11-04\",0x04A1B2C3D4E580\n";
    let cells = rows(file, &Layout::default());
    let expected = ["a", "2023-11-04", "04A1B2C3D4E580"];
    assert_eq!(cells[0].as_ref().unwrap()[..], expected);
}
