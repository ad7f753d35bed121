//! `import` and `export`.

use std::fmt::Write as _;
use std::fs;

use serde_json::json;
use tapdesk_tests::{ServiceProcess, tables, workbooks};

use super::{Ran, launch, run_at};

#[tokio::test]
async fn good_rows_go_in_and_each_bad_one_is_named() {
    let service = launch().start().await;
    let file = service.folder().join("tags.csv");
    fs::write(&file, "slug,name,variable:registered\nbottle-41,Bottle 41,false\nbottle-42,,\nbottle-43,Bottle 43,=1+1\n").unwrap();
    let import = ["import", file.to_str().unwrap()];

    let rehearsed = run_at(&service, &[&import[..], &["--dry-run"]].concat()).await;
    assert_eq!(rehearsed.code, Some(1));
    assert!(
        rehearsed.stdout.contains("2 tags would be created"),
        "{}",
        rehearsed.stdout
    );
    assert_eq!(
        service.admin_get("/tags").await["items"]
            .as_array()
            .unwrap()
            .len(),
        0
    );

    let none = run_at(&service, &[&import[..], &["--on-error", "abort"]].concat()).await;
    assert!(
        none.stdout
            .contains("0 tags created, 0 updated; 1 row refused, 2 left out."),
        "{}",
        none.stdout
    );
    assert_eq!(
        service.admin_get("/tags").await["items"]
            .as_array()
            .unwrap()
            .len(),
        0
    );

    let imported = run_at(&service, &import).await;
    assert_eq!(imported.code, Some(1), "a refused row is no success");
    assert!(
        imported.stdout.starts_with("row 3: "),
        "{}",
        imported.stdout
    );
    assert!(
        imported
            .stdout
            .contains("2 tags created, 0 updated; 1 row refused, 0 left out.")
    );
    assert!(
        imported.stderr.contains("1 row was refused"),
        "{}",
        imported.stderr
    );
}

#[tokio::test]
async fn what_was_exported_can_be_imported_again() {
    let service = launch().start().await;
    let file = service.folder().join("tags.csv");
    let mut rows = "slug,name,variable:registered\n".to_owned();
    for number in 0..1_200 {
        writeln!(
            rows,
            "bottle-{number:04},Bottle {number},\"=no \"\"formula\"\"\""
        )
        .unwrap();
    }
    fs::write(&file, rows).unwrap();
    let said = run_at(&service, &["import", file.to_str().unwrap()])
        .await
        .good();
    assert_eq!(
        said,
        "1200 tags created, 0 updated; 0 rows refused, 0 left out.\n"
    );

    let exported = service.folder().join("exported.csv");
    let export = ["export", exported.to_str().unwrap()];
    run_at(&service, &export).await.good();
    let text = fs::read_to_string(&exported).unwrap();
    assert_eq!(text.lines().count(), 1_201);
    assert!(text.contains("'=no"), "it runs nothing in a spreadsheet");
    assert_eq!(run_at(&service, &["export", "-"]).await.good(), text);
    let said = run_at(&service, &export).await.refused();
    assert!(said.contains("exists already"), "{said}");

    let other = launch().start().await;
    let import = ["import", exported.to_str().unwrap()];
    run_at(&other, &import).await.good();
    // Only the address of the service differs.
    let moved = text.replace(service.base(), other.base());
    assert_eq!(run_at(&other, &["export", "-"]).await.good(), moved);
    let again = run_at(&other, &[&import[..], &["--mode", "upsert"]].concat())
        .await
        .good();
    assert!(again.starts_with("0 tags created, 1200 updated"), "{again}");
}

#[tokio::test]
async fn what_is_deleted_is_said_before_and_after() {
    let service = launch().start().await;
    let file = service.folder().join("tags.csv");
    fs::write(
        &file,
        "slug,name,variable:owner\nbottle-41,Bottle 41,Ann\nbottle-42,Bottle 42,\n",
    )
    .unwrap();
    let import = ["import", file.to_str().unwrap()];
    run_at(&service, &import).await.good();
    fs::write(
        &file,
        "slug,variable:owner,experience\nbottle-41,(delete),Lost\nbottle-42,,\n",
    )
    .unwrap();

    let upsert = [&import[..], &["--mode", "upsert"]].concat();
    let said = run_at(&service, &upsert).await;
    assert!(
        said.stdout
            .contains("row 2: There is no experience named \"Lost\"."),
        "{}",
        said.stdout
    );
    let upsert = [&upsert[..], &["--unknown-experience", "ignore"]].concat();
    for (dry, deleted) in [
        (true, "1 value of tags would be deleted."),
        (false, "1 value of tags deleted."),
    ] {
        let dry = if dry { &["--dry-run"][..] } else { &[] };
        let said = run_at(&service, &[&upsert[..], dry].concat()).await.good();
        assert!(said.contains("row 2: deletes variable:owner\n"), "{said}");
        assert!(said.contains(deleted), "{said}");
    }
    let said = run_at(&service, &upsert).await.good();
    assert!(!said.contains("deleted"), "it is gone already: {said}");
}

#[tokio::test]
async fn a_file_that_is_none_is_refused_in_words() {
    let service = launch().start().await;
    let said = run_at(&service, &["import", "/nowhere/tags.csv"])
        .await
        .refused();
    assert!(said.contains("cannot be read"), "{said}");
    let file = service.folder().join("tags.csv");
    fs::write(&file, "colour\nred\n").unwrap();
    run_at(&service, &["import", file.to_str().unwrap()])
        .await
        .refused();
}

/// The command line sends the bytes of a file, and the service decodes them as for a screen.
#[tokio::test]
async fn a_table_of_any_usual_encoding_and_separator_is_read() {
    for (file, note) in [
        (&**tables::UNICODE_TEXT, ""),
        (&**tables::UTF_16_SEMICOLONS, ""),
        (&**tables::UTF_8_TABS, ""),
        (
            b"slug,name\nbottle-0001,K\xe4se\n",
            "The file is not UTF-8, and was read as Windows-1252",
        ),
    ] {
        let service = launch().start().await;
        let said = imported(&service, file, &[]).await.good();
        assert!(said.starts_with(note), "{said}");
        assert!(said.contains("1 tag created"), "{said}");
        let tags = service.admin_get("/tags").await;
        assert_eq!(tags["items"][0]["name"], "Käse");
    }
}

#[tokio::test]
async fn a_damaged_table_is_refused_by_its_rows_and_its_counters_are_asked_about() {
    let service = launch().start().await;
    let numbers = imported(&service, tables::NUMBERS.as_bytes(), &[]).await;
    for row in [
        "row 2: uid is a number",
        "row 3: ",
        "row 4: ",
        "1 tag created",
    ] {
        assert!(numbers.stdout.contains(row), "{}", numbers.stdout);
    }
    let ixkio = ["--preset", "ixkio"];
    let said = imported(&service, tables::TOO_MANY_CELLS, &ixkio).await;
    for row in [
        "row 2: The row has 4 cells, the header 3.",
        "row 3: The row has 1 cell, the header 3.",
    ] {
        assert!(said.stdout.contains(row), "{}", said.stdout);
    }
    let said = imported(&service, tables::NOT_UTF_8, &ixkio).await.good();
    assert!(
        said.contains("Windows-1252") && said.contains("2 tags created"),
        "{said}"
    );

    let file = "Titel;Farbe;Preis;read counter\nA;rot;3;21\n";
    let map = ["--map", "Titel:name", "--map", "Farbe:data:colour"];
    let counter = [&map[..], &["--map", "read counter:last_counter"]].concat();
    let asked = imported(&service, file.as_bytes(), &counter)
        .await
        .refused();
    assert!(asked.contains("counter=hex"), "{asked}");
    let left_out = [&map[..], &["--map", "read counter:"]].concat();
    let said = imported(&service, file.as_bytes(), &left_out).await.good();
    assert!(
        said.contains("Not imported: the columns Preis, read counter.\n"),
        "{said}"
    );
}

#[tokio::test]
async fn counters_and_lost_keys_of_another_service_are_said() {
    let service = launch().start().await;
    let key = "0c3b25d92b38ae443229dd59ad34b85d";
    let template = service
        .admin_create(
            "/url-templates",
            json!({
                "name": "Bolt", "template": "https://tags.example/b?p={picc}&c={mac}",
                "technology": "ntag424dna", "meta_keys": [key],
            }),
        )
        .await;
    let id = template["id"].to_string();
    let card = ["--preset", "boltcard", "--url-template-id", &id];
    let said = imported(&service, tables::BOLTCARD_KEYS.as_bytes(), &card)
        .await
        .good();
    assert!(!said.contains("k0"), "no column is left out: {said}");

    let counters = tables::COUNTERS
        .lines()
        .enumerate()
        .map(|(row, line)| match row {
            0 => format!("{line},meta_key,file_key\n"),
            _ => format!("{line},{key},{key}\n"),
        });
    let counters: String = counters.collect();
    let chips = ["--preset", "csv", "--url-template-id", &id];
    let said = imported(&service, counters.as_bytes(), &chips).await.good();
    assert!(said.contains("\"000021\" in row 2 is 33."), "{said}");
    let inlays = service.admin_get("/inlays?uid=04494ACAFD1990").await;
    assert_eq!(inlays["items"][0]["last_counter"], 30);
}

async fn imported(service: &ServiceProcess, content: &[u8], options: &[&str]) -> Ran {
    let file = service.folder().join("table.csv");
    fs::write(&file, content).unwrap();
    run_at(
        service,
        &[&["import", file.to_str().unwrap()][..], options].concat(),
    )
    .await
}

#[tokio::test]
async fn a_workbook_goes_in_and_comes_out_again() {
    let service = launch().start().await;
    let file = service.folder().join("bottles.xlsx");
    let rows = json!([
        ["Bezeichnung", "Kurzlink", "Notiz"],
        ["Käse", "0041-bottle", "intern"],
        ["Brot", 1.234_567_890_123_45e18, null],
    ]);
    fs::write(&file, workbooks::xlsx_of(&rows)).unwrap();
    let import = ["import", file.to_str().unwrap()];
    let own = ["--map", "Bezeichnung:name", "--map", "Kurzlink:slug"];
    let said = run_at(&service, &[&import[..], &own].concat()).await;
    for part in [
        "Not imported: the columns Notiz.",
        "row 3: column \"Kurzlink\": slug is a number in scientific notation",
        "1 tag created, 0 updated; 1 row refused",
    ] {
        assert!(said.stdout.contains(part), "{}", said.stdout);
    }

    let exported = service.folder().join("tags.xlsx");
    let export = ["export", exported.to_str().unwrap()];
    run_at(&service, &export).await.good();
    assert!(fs::read(&exported).unwrap().starts_with(b"PK\x03\x04"));
    let import = ["import", exported.to_str().unwrap(), "--mode", "upsert"];
    let said = run_at(&service, &import).await.good();
    assert!(said.contains("0 tags created, 1 updated"), "{said}");

    let csv = service.folder().join("in fact csv.xlsx");
    let export = ["export", csv.to_str().unwrap(), "--format", "csv"];
    run_at(&service, &export).await.good();
    assert!(fs::read_to_string(&csv).unwrap().contains("slug"));
}

/// Small files that would unpack to gigabytes cost the service little memory.
#[tokio::test]
async fn a_bomb_costs_the_service_little_memory() {
    let service = launch().start().await;
    let peak = || {
        let status = fs::read_to_string(format!("/proc/{}/status", service.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
        kilobytes.parse::<u64>().unwrap() / 1024
    };
    let row = r#"<row r="2"><c r="A2" t="str"><v>"#;
    let header = r#"<row r="1"><c r="A1" t="str"><v>name</v></c></row>"#;
    let before = peak();
    for (name, rows) in [
        (
            "cell.xlsx",
            format!("{header}{row}{}", "x".repeat(300_000_000)),
        ),
        (
            "rows.xlsx",
            format!("{header}{}", "<row/>".repeat(2_000_000)),
        ),
    ] {
        let file = service.folder().join(name);
        let workbook = workbooks::raw_xlsx(&rows);
        assert!(workbook.len() < 2_000_000, "{}", workbook.len());
        fs::write(&file, workbook).unwrap();
        let said = run_at(&service, &["import", file.to_str().unwrap()]).await;
        assert_eq!(said.code, Some(1), "{said:?}");
    }
    let grown = peak() - before;
    assert!(grown < 150, "{grown} MB");
}
