//! Importing a CSV file.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::fixtures::chip;
use tapdesk_tests::{Answering as _, TestService, length};

use super::{INLAY_COLUMNS, all, import, import_answer, inlay_cells, names};
use tapdesk_service::entropy::{OsEntropy, bytes};
use tapdesk_service::inlay::{MacFrom, Mirror};

/// The results of rows that were not stored, by row.
fn refused(result: &Value) -> Vec<(u64, &str)> {
    let results = result["results"].as_array().unwrap().iter();
    results
        .filter(|result| result["outcome"] == "refused")
        .map(|result| {
            (
                result["row"].as_u64().unwrap(),
                result["reason"].as_str().unwrap(),
            )
        })
        .collect()
}

/// How many rows a large file has: 100,000 in a soak.
fn many() -> u64 {
    length(10_000, 100_000)
}

/// [`many`] rows, of which row 11, row 5000 and the last one are bad.
fn many_rows() -> String {
    (2..=many() + 1).fold("name,slug,status\n".to_owned(), |mut file, row| {
        let line = match row {
            11 => format!(",tag-{row:06},active\n"),
            5_000 => format!("Tag {row},tag-000012,active\n"),
            row if row > many() => format!("Tag {row},tag-{row:06},broken\n"),
            _ => format!("Tag {row},tag-{row:06},active\n"),
        };
        file.push_str(&line);
        file
    })
}

fn bad_rows() -> [(u64, &'static str); 3] {
    [
        (11, "A tag needs a name of 1 to 200 characters."),
        (5_000, "Row 12 has the same slug."),
        (many() + 1, "status is active or archived."),
    ]
}

async fn count(service: &TestService) -> u64 {
    let page = service.admin_get("/tags?limit=1&count=true").await;
    page["count"].as_u64().unwrap()
}

#[tokio::test]
async fn bad_rows_are_named_and_the_others_go_in() {
    let service = TestService::start().await;
    let result = import(&service, "", many_rows()).await;
    assert_eq!(refused(&result), bad_rows());
    assert_eq!(result["rows"], many());
    assert_eq!(result["created"], many() - 3);
    assert_eq!(result["refused"], 3);
    let results = result["results"].as_array().unwrap();
    let rows: Vec<_> = results
        .iter()
        .map(|result| result["row"].as_u64().unwrap())
        .collect();
    assert!(rows.into_iter().eq(2..=many() + 1));
    let last = &results[results.len() - 2];
    assert_eq!(last["slug"], format!("tag-{:06}", many()));
    let tag = service.admin_get(&format!("/tags/{}", last["id"])).await;
    assert_eq!(tag["name"], format!("Tag {}", many()));
    assert_eq!(count(&service).await, many() - 3);
    assert_eq!(all(&service, "/tags?q=tag-009999", 50).await.len(), 1);
}

/// Commits of an import have few rows while others wait for them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_row_goes_in_once_and_in_its_order_while_others_write() {
    let service = TestService::start().await;
    let is_over = AtomicBool::new(false);
    let importing = async {
        let result = import(&service, "", many_rows()).await;
        is_over.store(true, Ordering::Relaxed);
        result
    };
    let writing = async {
        let mut others = 0;
        while !is_over.load(Ordering::Relaxed) {
            service.tag(json!({"name": "Another"})).await;
            others += 1;
        }
        others
    };
    let (result, others) = tokio::join!(importing, writing);
    assert_eq!(refused(&result), bad_rows());
    let results = result["results"].as_array().unwrap();
    let rows = results.iter().map(|result| result["row"].as_u64().unwrap());
    assert!(rows.eq(2..=many() + 1));
    let created = results.iter().filter_map(|result| result["id"].as_u64());
    let created: Vec<u64> = created.collect();
    assert_eq!(created.len() as u64, many() - 3);
    assert!(created.is_sorted(), "in the order of the file");
    assert_eq!(count(&service).await, many() - 3 + others);
}

#[tokio::test]
async fn bad_rows_are_named_and_nothing_goes_in_where_that_is_asked() {
    let service = TestService::start().await;
    let result = import(&service, "?on_error=abort", many_rows()).await;
    assert_eq!(refused(&result), bad_rows());
    assert_eq!(
        (&result["created"], &result["left_out"]),
        (&json!(0), &json!(many() - 3))
    );
    assert_eq!(count(&service).await, 0);

    let good = many_rows().lines().take(10).collect::<Vec<_>>().join("\n");
    let result = import(&service, "?on_error=abort", good).await;
    assert_eq!(
        (&result["created"], &result["left_out"]),
        (&json!(9), &json!(0))
    );
    assert_eq!(count(&service).await, 9);
}

#[tokio::test]
async fn a_dry_run_says_what_an_import_would_do_and_writes_nothing() {
    let service = TestService::start().await;
    service
        .tag(json!({"name": "There", "slug": "taken-already"}))
        .await;
    let before = all(&service, "/tags", 500).await;
    let file = "name,slug,experience_id\nNew,new-one-0001,\nThere,taken-already,\nLost,lost-one-01,99\nAlso,,\n";
    for query in ["", "&on_error=abort"] {
        let result = import(&service, &format!("?dry_run=true{query}"), file).await;
        assert_eq!(result["dry_run"], true);
        assert_eq!(
            refused(&result),
            [
                (3, "The slug \"taken-already\" is taken by another tag."),
                (4, "There is no experience 99."),
            ]
        );
        assert_eq!(all(&service, "/tags", 500).await, before);
        assert!(all(&service, "/tags?q=new-one", 500).await.is_empty());
    }
    let foreseen = import(&service, "?dry_run=true", file).await;
    let done = import(&service, "", file).await;
    for count in ["created", "updated", "refused"] {
        assert_eq!(foreseen[count], done[count]);
    }
    assert_eq!(
        foreseen["results"][0],
        json!({"row": 2, "outcome": "created", "slug": "new-one-0001"})
    );
    assert_eq!(
        foreseen["results"][3],
        json!({"row": 5, "outcome": "created"})
    );
}

#[tokio::test]
async fn a_slug_that_a_tag_has_is_refused_or_changes_that_tag() {
    let service = TestService::start().await;
    let tag = service
        .tag(json!({
            "name": "Before", "slug": "cellar-door-1", "title": "Old", "description": "stays",
            "data": {"a": "1", "b": "2", "c": "3"},
        }))
        .await;
    let file = "slug;name;title;data:a;data:b\ncellar-door-1;After;;9;\nbrand-new-tag;New;T;;\n";
    let refused_one = import(&service, "", file).await;
    assert_eq!(refused(&refused_one)[0].0, 2);
    let result = import(&service, "?mode=upsert", file).await;
    assert_eq!(
        (&result["updated"], &result["created"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(result["results"][0]["id"], tag.id);
    let after = service.admin_get(&tag.admin_path()).await;
    // Filled cells replace values; empty cells and missing columns change nothing.
    assert_eq!(after["name"], "After");
    assert_eq!(after["title"], "Old");
    assert_eq!(after["description"], "stays");
    assert_eq!(after["data"], json!({"a": "9", "b": "2", "c": "3"}));
    assert_eq!(names(&all(&service, "/tags?q=after", 50).await), ["After"]);
    // A deleted tag keeps its slug.
    service
        .admin(Method::DELETE, &tag.admin_path(), Value::Null)
        .await
        .expect(204);
    let result = import(&service, "?mode=upsert", file).await;
    assert_eq!(
        refused(&result),
        [(2, "The slug \"cellar-door-1\" is taken by another tag.")]
    );
}

/// The result of a row contains the tag's former state, which another import restores.
#[tokio::test]
async fn what_an_import_changed_is_restored_from_its_answer() {
    let service = TestService::start().await;
    let experience = service.redirect("https://owner.example/").await;
    let tag = service
        .tag(json!({
            "name": "Before", "slug": "cellar-door-1", "title": "Old", "experience_id": experience,
            "data": {"a": "1", "b": "2", "e": ""},
        }))
        .await;
    let before = service.admin_get(&tag.admin_path()).await;
    let file = "slug;name;title;experience_id;data:a;data:b;data:c;data:e;status\n\
        cellar-door-1;=After;(delete);(delete);9;(delete);new;full;archived\n";
    for on_error in ["skip", "abort"] {
        let query = format!("?mode=upsert&on_error={on_error}");
        let result = import(&service, &query, file).await;
        let row = &result["results"][0];
        assert_eq!(row["outcome"], "updated", "{result}");
        let expected = json!({
            "name": "Before", "title": "Old", "experience_id": experience.to_string(), "data:a": "1",
            "data:b": "2", "data:c": "(delete)", "data:e": "'", "status": "active",
        });
        assert_eq!(row["before"], expected);
        let changed = service.admin_get(&tag.admin_path()).await;
        assert_eq!(changed["name"], "=After");

        let former = row["before"].as_object().unwrap();
        let columns: Vec<_> = former.keys().map(String::as_str).collect();
        let cells: Vec<_> = former.values().filter_map(Value::as_str).collect();
        let back = format!(
            "slug;{}\ncellar-door-1;{}\n",
            columns.join(";"),
            cells.join(";")
        );
        let result = import(&service, "?mode=upsert&add_variables=false", back).await;
        assert_eq!(result["updated"], 1, "{result}");
        let mut restored = service.admin_get(&tag.admin_path()).await;
        restored["updated_at"] = before["updated_at"].clone();
        assert_eq!(restored, before);
    }
    // A row that changes nothing has nothing to restore.
    let result = import(
        &service,
        "?mode=upsert",
        "slug;name\ncellar-door-1;Before\n",
    )
    .await;
    assert_eq!(result["results"][0]["before"], Value::Null, "{result}");
    let result = import(&service, "", "name\nNew\n").await;
    assert_eq!(result["results"][0]["before"], Value::Null, "{result}");
}

#[tokio::test]
async fn an_inlay_comes_with_its_tag_or_neither_does() {
    let service = TestService::start().await;
    let mut chips = [
        chip(Mirror::Encrypted, MacFrom::None),
        chip(Mirror::Plain, MacFrom::Uid),
    ];
    let mut file = format!("name,{INLAY_COLUMNS}\n");
    for chip in &chips {
        let inlay = tapdesk_tests::fixtures::chip_json(chip);
        writeln!(file, "Bottle,{}", inlay_cells(&inlay, INLAY_COLUMNS)).unwrap();
    }
    let secret = "00112233445566778899AABBCCDDEEF";
    writeln!(file, "No inlay,,,,,,").unwrap();
    writeln!(file, "Again,{},ntag213,,,,", chips[0].uid).unwrap();
    writeln!(file, "Bad key,04AABBCCDDEE01,ntag424dna,plain,,,{secret}").unwrap();
    writeln!(file, "No uid,,ntag213,,,,").unwrap();
    let result = import(&service, "", file.clone()).await;
    let reasons = refused(&result);
    assert_eq!(
        reasons.iter().map(|(row, _)| *row).collect::<Vec<_>>(),
        [5, 6, 7],
        "{reasons:?}"
    );
    for ((_, reason), part) in
        reasons
            .into_iter()
            .zip(["Row 2 has the same uid", "32 hex digits", "uid"])
    {
        assert!(
            reason.contains(part) && !reason.contains(secret),
            "{reason}"
        );
    }
    assert_eq!(count(&service).await, 3);
    for (chip, row) in chips.iter_mut().zip(result["results"].as_array().unwrap()) {
        let code = chip.tap(bytes(&OsEntropy)).unwrap();
        let url = format!(
            "/t/{}?uid={}&token={}",
            row["slug"].as_str().unwrap(),
            code.uid,
            code.token
        );
        assert_eq!(service.tap(&url).await.status, 200);
        let inlay = service
            .admin_get(&format!("/inlays/{}", row["inlay_id"]))
            .await;
        assert_eq!(
            (&inlay["tag_id"], &inlay["last_counter"]),
            (&row["id"], &json!(1))
        );
    }
    // The same UIDs again: no tag remains without its inlay.
    let again = import(&service, "", file).await;
    assert_eq!(again["created"], 1, "{again}");
    assert_eq!(count(&service).await, 4);
}

#[tokio::test]
async fn a_file_that_is_not_understood_is_refused_in_words() {
    let service = TestService::start().await;
    for (query, file, part) in [
        ("", "", "The file is empty"),
        ("", "name,colour\nx,red\n", "no column \"colour\""),
        ("", "title\nx\n", "needs a column \"name\""),
        ("?mode=upsert", "name\nx\n", "needs a column \"slug\""),
        ("?on_error=stop", "name\nx\n", "unknown variant `stop`"),
    ] {
        let answer = import_answer(&service, query, file).await;
        let detail = answer.expect(422)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(part), "{detail}");
    }
    let request = service.admin_request(Method::POST, "/tags/import");
    let json = request.json(&json!({"name": "x"})).answer().await;
    json.expect(415);
}

#[tokio::test]
async fn cells_are_read_as_people_write_them() {
    let service = TestService::start().await;
    let file = "\u{feff}name;status;verifier_enabled;slug;data:note\n".to_owned()
        + "\"Käse; \"\"alt\"\"\";archived;FALSE;;'=1+1\r\n"
        + "\r\n"
        + " padded ; active ; WAHR ; k3v9qa ;\"two\nlines\"\r\n"
        + "short;row\r\n";
    let result = import(&service, "", file).await;
    assert_eq!(
        refused(&result),
        [(5, "The row has 2 cells, the header 5.")]
    );
    let tags = all(&service, "/tags", 50).await;
    assert_eq!(names(&tags), ["Käse; \"alt\"", " padded "]);
    assert_eq!(tags[0]["status"], "archived");
    assert_eq!(tags[0]["verifier_enabled"], false);
    assert_eq!(tags[0]["data"], json!({"note": "=1+1"}));
    assert_eq!(tags[1]["slug"], "k3v9qa");
    assert_eq!(tags[1]["verifier_enabled"], true);
    assert_eq!(tags[1]["data"], json!({"note": "two\nlines"}));
    assert!(
        result["results"][1]["warning"]
            .as_str()
            .unwrap()
            .contains("guessed")
    );
}
