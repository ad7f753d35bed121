//! Tables from practice: changed by a spreadsheet, from another service, or in another encoding.
//! The sources are public threads of people who import such files.

mod chips;
mod headings;

use tapdesk_tests::tables::{
    BOLTCARD_KEYS, COUNTERS, NOT_UTF_8, NUMBERS, TOO_MANY_CELLS, UNICODE_TEXT, UTF_8_TABS,
    UTF_16_SEMICOLONS,
};

use super::*;

/// The response to an import; `query` begins with `?` or is empty.
async fn asked(service: &TestService, query: &str, file: impl AsRef<[u8]>) -> Answer {
    service
        .admin_request(Method::POST, &format!("/tags/import{query}"))
        .header("content-type", "text/csv")
        .body(file.as_ref().to_vec())
        .answer()
        .await
}

/// The result of an import, after checking that its dry run predicted every row.
async fn import(service: &TestService, query: &str, file: impl AsRef<[u8]>) -> Value {
    let sign = if query.is_empty() { '?' } else { '&' };
    let dry = format!("{query}{sign}dry_run=true");
    let foreseen = asked(service, &dry, &file).await.expect(200);
    let done = asked(service, query, &file).await.expect(200);
    for member in ["encoding", "separator", "ignored_columns", "notes", "rows"] {
        assert_eq!(foreseen[member], done[member], "{member}");
    }
    assert_eq!(outcomes(&foreseen), outcomes(&done));
    done
}

/// Row, outcome and reason of each row.
fn outcomes(result: &Value) -> Vec<(u64, String, String)> {
    let results = result["results"].as_array().unwrap().iter();
    let text = |row: &Value, member: &str| row[member].as_str().unwrap_or_default().to_owned();
    results
        .map(|row| {
            let number = row["row"].as_u64().unwrap();
            (number, text(row, "outcome"), text(row, "reason"))
        })
        .collect()
}

fn refused(result: &Value) -> Vec<(u64, String)> {
    let outcomes = outcomes(result).into_iter();
    outcomes
        .filter(|(_, outcome, _)| outcome == "refused")
        .map(|(row, _, reason)| (row, reason))
        .collect()
}

async fn names(service: &TestService) -> Vec<String> {
    let tags = service.admin_get("/tags").await;
    let tags = tags["items"].as_array().unwrap().iter();
    let mut names: Vec<_> = tags
        .map(|tag| tag["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// C5 (directus/directus#12970): UTF-16, tabs and semicolons, as spreadsheets save them.
#[tokio::test]
async fn a_table_of_any_usual_encoding_and_separator_is_read() {
    let sep: Vec<u8> = b"sep=|\r\nslug|name\r\nbottle-0001|K\xc3\xa4se\r\n".to_vec();
    let bare: Vec<u8> = UNICODE_TEXT[2..].to_vec();
    for (file, encoding, separator) in [
        (UNICODE_TEXT.clone(), "utf-16le", "\t"),
        (UTF_16_SEMICOLONS.clone(), "utf-16le", ";"),
        (UTF_8_TABS.clone(), "utf-8", "\t"),
        (sep, "utf-8", "|"),
        (bare, "utf-16le", "\t"),
    ] {
        let service = TestService::start().await;
        let result = import(&service, "", &file).await;
        assert_eq!(
            (&result["encoding"], &result["separator"]),
            (&json!(encoding), &json!(separator))
        );
        assert_eq!(result["created"], 1, "{result}");
        assert_eq!(names(&service).await, ["Käse"]);
    }
}

/// The content decides, and not the media type that a browser or a program guessed.
#[tokio::test]
async fn a_type_is_only_a_hint() {
    let service = TestService::start().await;
    for (number, kind) in [
        Some("text/plain; charset=iso-8859-1"),
        Some("text/tab-separated-values"),
        Some("application/vnd.ms-excel"),
        Some("application/octet-stream"),
        None,
    ]
    .into_iter()
    .enumerate()
    {
        let mut request = service.admin_request(Method::POST, "/tags/import");
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        let file = format!("slug\tname\nkaese-00{number:02}\tKäse {number}\n");
        let result = request.body(file).answer().await.expect(200);
        assert_eq!(result["created"], 1, "{kind:?}: {result}");
    }
    assert_eq!(names(&service).await[0], "Käse 0");
}

/// C6 (TablePress/TablePress#198): one byte that is not UTF-8, with a preset.
#[tokio::test]
async fn one_byte_of_another_encoding_does_not_refuse_a_table() {
    let service = TestService::start().await;
    let result = import(&service, "?preset=ixkio", NOT_UTF_8).await;
    assert_eq!(result["encoding"], "windows-1252");
    assert!(
        result["notes"][0]
            .as_str()
            .unwrap()
            .contains("Windows-1252"),
        "{result}"
    );
    assert_eq!(names(&service).await, ["Brot", "Käse"]);
    // In a table of UTF-8, such a byte refuses only its row.
    let file = b"slug,name\nkaese-0001,K\xc3\xa4se\nkaese-0002,K\xe4se\nbrot-00001,Brot\n";
    let service = TestService::start().await;
    let result = import(&service, "", file).await;
    let refused = refused(&result);
    assert_eq!((refused.len(), refused[0].0), (1, 3), "{result}");
    assert!(refused[0].1.contains("name is not UTF-8"), "{refused:?}");
    assert_eq!(names(&service).await, ["Brot", "Käse"]);
}

/// C7 (TablePress/TablePress#198): an unquoted comma, and a row that is cut off.
#[tokio::test]
async fn a_row_with_more_or_fewer_cells_than_the_header_is_refused_with_every_preset() {
    let service = TestService::start().await;
    let result = import(&service, "?preset=ixkio", TOO_MANY_CELLS).await;
    let expected = [
        (2, "The row has 4 cells, the header 3.".to_owned()),
        (3, "The row has 1 cell, the header 3.".to_owned()),
    ];
    assert_eq!(refused(&result), expected);
    for preset in ["csv", "gototags", "boltcard"] {
        let file = "name,uid\nA,B,C\nD\n";
        let result = import(&service, &format!("?preset={preset}"), file).await;
        let rows: Vec<_> = refused(&result).into_iter().map(|(row, _)| row).collect();
        assert_eq!(
            (rows, &result["created"]),
            (vec![2, 3], &json!(0)),
            "{preset}"
        );
    }
    assert!(names(&service).await.is_empty());
}

/// Columns that no preset uses must not be dropped silently.
#[tokio::test]
async fn columns_that_are_left_out_are_named() {
    let service = TestService::start().await;
    let file = "XUID,TAGNAME,NFTCHAIN,STATUS\nk3v9qa2b,Red,x,On\n";
    let result = import(&service, "?preset=ixkio", file).await;
    assert_eq!(result["ignored_columns"], json!(["NFTCHAIN", "STATUS"]));
    // In a table of our own, a misspelt column refuses the table, unless the caller selects
    // columns.
    let own = "Name,Farbe,Preis,slug\nKäse,gelb,3,kaese-0001\n";
    let unknown = asked(&service, "", own).await.expect(422);
    assert!(
        unknown["detail"].as_str().unwrap().contains("\"Name\""),
        "{unknown}"
    );
    let query = "?map=Name:name&map=Farbe:attribute:colour";
    let result = import(&service, query, own).await;
    assert_eq!(result["ignored_columns"], json!(["Preis"]));
    let tags = service.admin_get("/tags?q=kaese-0001").await;
    assert_eq!(tags["items"][0]["attributes"], json!({"colour": "gelb"}));
    // A list that somebody wrote has columns of its own.
    let list = "Label,Farbe,SLUG\nBrot,braun,brot-00001\n";
    let result = import(&service, "?preset=csv", list).await;
    assert_eq!(result["created"], json!(1), "{result}");
    assert_eq!(result["ignored_columns"], json!(["Farbe"]));
    let unknown = asked(&service, "?preset=csv", "Farbe,Preis\nbraun,3\n").await;
    let words = unknown.expect(422)["detail"].to_string();
    assert!(words.contains("no column for a name"), "{words}");
    for (query, part) in [
        ("?map=Farbe:colour", "not HEADING:COLUMN"),
        (
            "?map=Name:name&map=Weight:data:weight",
            "no column \"Weight\"",
        ),
    ] {
        let refused = asked(&service, query, own).await.expect(422);
        assert!(
            refused["detail"].as_str().unwrap().contains(part),
            "{refused}"
        );
    }
}

/// Spreadsheets save columns that once had a value.
#[tokio::test]
async fn empty_columns_behind_the_last_heading_do_not_refuse_a_table() {
    let service = TestService::start().await;
    let file = "name,slug,,\nA,bottle-0001,,\nB,bottle-0002,, \nC,bottle-0003,,note\n";
    let result = import(&service, "", file).await;
    let why = "The row has a value in column 4, which has no heading.";
    assert_eq!(refused(&result), [(4, why.to_owned())]);
    assert_eq!(names(&service).await, ["A", "B"]);
    assert_eq!(result["ignored_columns"], json!([]));
    let between = asked(&service, "", "name,,slug\nA,,bottle-0004\n").await;
    let words = between.expect(422)["detail"].to_string();
    assert!(words.contains("no column"), "{words}");
}

/// A list that only adds a property must not rename 5,000 tags.
#[tokio::test]
async fn a_list_without_names_names_new_tags_only() {
    let service = TestService::start().await;
    let old = json!({"name": "Bottle 1", "slug": "bottle-0001"});
    service.admin_create("/tags", old).await;
    for (query, list) in [
        (
            "?preset=csv&map=Farbe:attribute:colour",
            "slug,Farbe\nbottle-0001,red\nbottle-0002,red\n",
        ),
        (
            "?map=Farbe:attribute:colour&map=Seriennummer:slug",
            "Farbe;Seriennummer\nblue;bottle-0001\nblue;bottle-0003\n",
        ),
        (
            "?preset=csv&on_error=abort",
            "slug,name,title\nbottle-0001,,Red\nbottle-0004,,Red\n",
        ),
    ] {
        let result = import(&service, &format!("{query}&mode=upsert"), list).await;
        let counts = (&result["created"], &result["updated"]);
        assert_eq!(counts, (&json!(1), &json!(1)), "{query}: {result}");
    }
    let mut expected = vec!["Bottle 1".to_owned()];
    expected.extend((2..=4).map(|number| format!("bottle-000{number}")));
    assert_eq!(names(&service).await, expected);
    // The columns that the caller chose are enough for new tags, too.
    let result = import(
        &service,
        "?map=Farbe:attribute:colour&map=Seriennummer:slug",
        "Farbe;Seriennummer\nred;bottle-0005\n",
    )
    .await;
    assert_eq!(result["created"], 1, "{result}");
    // Without a slug, the name is the UID.
    let list = "Uid,Colour\n04AABBCC112233,red\n";
    import(&service, "?preset=gototags&technology=ntag213", list).await;
    assert_eq!(names(&service).await[0], "04AABBCC112233");
}

/// C1 (sqlitebrowser/sqlitebrowser#160, dilshod/xlsx2csv#85, OpenRefine/OpenRefine#308,
/// microsoftgraph/powershell-intune-samples#140, bloom-housing/bloom#4458).
#[tokio::test]
async fn what_a_spreadsheet_turned_into_a_number_is_refused_and_not_completed() {
    let service = TestService::start().await;
    let result = import(&service, "", NUMBERS).await;
    let refused_rows = refused(&result);
    let rows: Vec<_> = refused_rows.iter().map(|(row, _)| *row).collect();
    assert_eq!(rows, [2, 3, 4], "{result}");
    for (_, reason) in &refused_rows {
        assert!(
            reason.starts_with("uid is a number") && reason.contains("spreadsheet"),
            "{reason}"
        );
    }
    let inlays = service.admin_get("/inlays").await;
    let uids = inlays["items"].as_array().unwrap().iter();
    let uids: Vec<_> = uids.map(|inlay| inlay["uid"].as_str().unwrap()).collect();
    assert_eq!(uids, ["04A1B2C3D4E580"]);

    let key = "1,11111111111111E+31";
    let file = format!(
        "name;slug;uid;technology;mirror;file_key\n\
         Key;;04A1B2C3D4E581;ntag424dna;plain;{key}\n\
         Date;04-Nov;;;;\n\
         Slug;1,23457E+18;;;;\n\
         Digits;1042;;;;\n\
         Float;;4112233445566.0;ntag213;;\n\
         Good;'2023-11-04;;;;\n"
    );
    let result = import(&service, "", file).await;
    let refused_rows = refused(&result);
    let rows: Vec<_> = refused_rows.iter().map(|(row, _)| *row).collect();
    // Digits can be a slug: many services number their tags.
    assert_eq!(rows, [2, 3, 4, 6], "{result}");
    for (_, reason) in &refused_rows {
        assert!(
            reason.contains("spreadsheet") && !reason.contains(key),
            "{reason}"
        );
    }
    // The export adds the apostrophe, so that neither a spreadsheet nor an import sees a date.
    let export = service
        .admin_request(Method::GET, "/tags/export")
        .answer()
        .await;
    assert!(export.body.contains("'2023-11-04"), "{}", export.body);
    let again = import(&service, "?mode=upsert", &export.body).await;
    assert_eq!(again["refused"], 0, "{again}");
}

/// Lists are protected from spreadsheets in several ways.
#[tokio::test]
async fn protected_cells_of_a_table_are_the_texts_in_them() {
    let service = TestService::start().await;
    let key = "0c3b25d92b38ae443229dd59ad34b85d";
    let header = "name,slug,uid,technology,mirror,file_key\n";
    let table = format!(
        "{header}A,=\"1042\",=\"04A1B2C3D4E580\",ntag424dna,plain,=\"{key}\"\n\
         B,'1043,'04A1B2C3D4E581,ntag424dna,plain,'{key}\n\
         C,1044,0x04A1B2C3D4E582,ntag424dna,plain,0x{key}\n\
         D,1045,\u{202d}04A1B2C3D4E583\u{202c},ntag424dna,plain,\u{202d}{key}\u{202c}\n\
         E,\"=\"\"1046\"\"\",\"=\"\"04A1B2C3D4E584\"\"\",ntag424dna,plain,{key}\n"
    );
    let result = import(&service, "", table).await;
    assert_eq!(result["created"], 5, "{result}");
    for number in 0..5 {
        let uid = format!("/inlays?uid=04A1B2C3D4E58{number}");
        let inlays = service.admin_get(&uid).await;
        assert_eq!(inlays["items"].as_array().unwrap().len(), 1, "{uid}");
        let slug = format!("104{}", number + 2);
        assert_eq!(result["results"][number]["slug"], slug, "{result}");
    }
}

/// A hostile or broken file gets an error message, and its good rows are still stored.
#[tokio::test]
async fn a_hostile_table_is_answered_in_words() {
    let service = TestService::start().await;
    let mut surrogate: Vec<u8> = "\u{feff}name\nLone "
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    surrogate.extend([0x3d, 0xd8]);
    let mut odd: Vec<u8> = "\u{feff}name\nOdd\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    odd.push(b'x');
    let wide = format!("{}\n", vec!["name"; 10_000].join(","));
    let long = format!("name\nlong{}\nShort\n", "x".repeat(8 * 1024 * 1024));
    for (file, created, refused_rows) in [
        (b"name\nN\0L\nGood\n".to_vec(), 1, 1),
        (surrogate, 0, 1),
        (odd, 1, 1),
        (b"name,title\nOpen,\"x\nLost,y\n".to_vec(), 0, 1),
        (b"name\r\nA\nB\rC\r\n".to_vec(), 3, 0),
        (long.into_bytes(), 1, 1),
        (b"name\n".to_vec(), 0, 0),
    ] {
        let result = import(&service, "", &file).await;
        let counts = (result["created"].as_u64(), result["refused"].as_u64());
        assert_eq!(counts, (Some(created), Some(refused_rows)), "{result}");
    }
    for (file, part) in [
        (&b""[..], "empty"),
        (b"\xff\xfe", "empty"),
        (b"na\0me\nx\n", "NUL"),
        (b"sep=\0\nname\nx\n", "no known separator"),
        (b"sep=abc\nname\nx\n", "no known separator"),
        (b"name,name\nx,y\n", "\"name\" is there twice"),
        (wide.as_bytes(), "at most 1000 columns"),
        (b"PK\x03\x04 a workbook", "cannot be read"),
    ] {
        let refused = asked(&service, "", file).await.expect(422);
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(part), "{detail}");
    }
}

/// A screen shows a file as the import reads it, and imports a large file in parts.
#[tokio::test]
async fn a_table_is_shown_as_it_is_imported_and_imported_in_parts() {
    let service = TestService::start().await;
    let view = async |query: &str, file: &[u8]| {
        let path = format!("/tags/import/table{query}");
        let request = service.admin_request(Method::POST, &path);
        let request = request.header("content-type", "text/csv");
        request.body(file.to_vec()).answer().await
    };
    let shown = view("", &UNICODE_TEXT).await.expect(200);
    assert_eq!(
        shown,
        json!({
            "format": "csv", "encoding": "utf-16le", "separator": "\t",
            "notes": [], "row_count": 1,
            "columns": [
                {"heading": "slug", "column": "slug", "guessed": false},
                {"heading": "name", "column": "name", "guessed": false},
            ],
            "rows": [{"row": 2, "cells": ["bottle-0001", "Käse"]}],
        })
    );
    let file = b"Tag UID;Response;Colour\n1;2;3\n\n4;5\n6;7;8\n9;10;11\n";
    let shown = view("?preset=ixkio&rows=4,6-9", file).await.expect(200);
    assert_eq!(shown["row_count"], 4);
    assert_eq!(
        shown["rows"],
        json!([{"row": 4, "cells": ["4", "5"]}, {"row": 6, "cells": ["9", "10", "11"]}])
    );
    let columns = shown["columns"].as_array().unwrap().iter();
    let columns: Vec<_> = columns
        .map(|column| (&column["column"], &column["guessed"]))
        .collect();
    let (uid, url) = (json!("uid"), json!("attribute:url"));
    let (yes, no, null) = (json!(true), json!(false), Value::Null);
    assert_eq!(columns, [(&uid, &yes), (&url, &no), (&null, &no)]);
    for query in ["?rows=x", "?rows=", "?preset=nobody"] {
        view(query, file).await.expect(422);
    }
    view("", b"name\n").await.expect(422);

    let rows = b"name\nA\n\nB\nC\nD\n";
    let mut after = 0;
    for expected in [vec![2, 4], vec![5, 6], vec![]] {
        let query = format!("?max_rows=2&after_row={after}");
        let part = asked(&service, &query, rows).await.expect(200);
        let numbers: Vec<_> = outcomes(&part).into_iter().map(|(row, _, _)| row).collect();
        assert_eq!(
            (part["rows"].as_u64(), &numbers),
            (Some(expected.len() as u64), &expected)
        );
        after = numbers.last().copied().unwrap_or_default();
    }
    assert_eq!(names(&service).await, ["A", "B", "C", "D"]);
}
