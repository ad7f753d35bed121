//! Exporting to a CSV file.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, TestService, injections};

use super::{all, export, import};

/// The owner's choices for each tag, without members that the service adds.
pub(super) async fn decided(service: &TestService) -> Vec<Value> {
    let mut tags = all(service, "/tags", 500).await;
    for tag in &mut tags {
        let tag = tag.as_object_mut().unwrap();
        for added in [
            "id",
            "scan_count",
            "last_scan_at",
            "created_at",
            "updated_at",
            "url",
        ] {
            tag.remove(added);
        }
    }
    tags
}

#[tokio::test]
async fn hostile_cells_survive_a_round_trip_and_no_cell_is_a_formula() {
    let service = TestService::start().await;
    let texts = [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "'=1",
        "''=1",
        "'",
        "''",
        "\"",
        "\"\"",
        ",",
        ";",
        "a,b;c\"d\"",
        "line\nbreak",
        "cr\rlf\r\n",
        " padded ",
        "\u{feff}bom",
        "Käse 🧀",
        "",
        "\u{ff1d}1",
        "(none)",
        "(delete)",
        " (Delete) ",
        "'(none)",
        "plain",
    ];
    let possible = |text: &String| !text.contains('\0') && text.len() <= 2_000;
    let hostile = injections().into_iter().filter(possible);
    for text in texts.into_iter().map(str::to_owned).chain(hostile) {
        let short: String = text.chars().take(200).collect();
        let short = if short.trim().is_empty() {
            "blank".to_owned()
        } else {
            short
        };
        let tag = json!({
            "name": short, "title": text, "description": text,
            "attributes": {"a": text}, "data": {"d.1": text}, "variables": {"v-_": text},
        });
        service.tag(tag).await;
    }
    // Absent properties, and members that are not texts.
    service.tag(json!({"name": "bare"})).await;
    service
        .tag(json!({
            "name": "full", "experience_id": null, "status": "archived", "verifier_enabled": false,
            "updates_require_verified": true, "has_qr_code": true, "track_location": true,
            "language_code": "de_DE", "widget_settings": {"w": {"colour": "=red", "n": [1, null]}},
            "location": {"id": 7, "lat": -33.5, "lon": 151.25, "venue": {"name": "Café, \"Bar\""}},
        }))
        .await;
    let before = decided(&service).await;
    let file = export(&service, "").await;
    for record in cells(&file).iter().flatten() {
        assert!(
            !record.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']),
            "{record:?}"
        );
    }

    let other = TestService::start().await;
    let result = import(&other, "?on_error=abort", file.clone()).await;
    assert_eq!(result["refused"], 0, "{result}");
    assert_eq!(decided(&other).await, before);
    // Only the address of the service differs.
    let moved = file.replace(service.base(), other.base());
    assert_eq!(export(&other, "").await, moved);

    // Imported over the same tags, it changes nothing, and it restores values that were changed.
    service
        .admin_patch("/tags/1", json!({"title": "other", "data": {"d.1": null}}))
        .await;
    assert_ne!(decided(&service).await, before);
    let result = import(&service, "?mode=upsert", file).await;
    assert_eq!(result["updated"], before.len());
    assert_eq!(decided(&service).await, before);
}

/// Parses the cells of a file like a spreadsheet (RFC 4180).
fn cells(file: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (vec![], vec![], String::new(), false);
    let mut characters = file.trim_start_matches('\u{feff}').chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => cell.extend(characters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            character => cell.push(character),
        }
    }
    rows
}

#[tokio::test]
async fn a_spreadsheet_can_open_the_file() {
    let service = TestService::start().await;
    service
        .tag(json!({"name": "Bottle", "slug": "cellar-door-1", "data": {"size": "75"}}))
        .await;
    let request = service.admin_request(Method::GET, "/tags/export");
    let answer = request.answer().await;
    assert_eq!(
        answer.header("content-type"),
        Some("text/csv; charset=utf-8")
    );
    assert_eq!(
        answer.header("content-disposition"),
        Some("attachment; filename=\"tags.csv\"")
    );
    assert_eq!(answer.header("tapdesk-total"), Some("1"));
    assert_eq!(
        answer.body,
        format!(
            "\u{feff}slug,url,name,title,description,language_code,status,experience_id,experience,group_id,group,verifier_enabled,\
             updates_require_verified,has_qr_code,track_location,location,widget_settings,data:size\r\n\
             cellar-door-1,{}/t/cellar-door-1,Bottle,,,,active,,,,,true,false,false,false,,,75\r\n",
            service.base()
        )
    );
}

#[tokio::test]
async fn an_export_has_what_its_filter_selects_and_nothing_simulated_or_deleted() {
    let service = TestService::start().await;
    for (name, status) in [
        ("lantern", "active"),
        ("vase", "archived"),
        ("gone", "active"),
    ] {
        service
            .tag(json!({"name": name, "status": status, "data": {"only": name}}))
            .await;
    }
    service
        .admin(Method::DELETE, "/tags/3", Value::Null)
        .await
        .expect(204);
    service
        .admin_create("/simulator/inlays", json!({"tag_id": 1}))
        .await;
    let simulated = service.admin_get("/tags?simulated=true&count=true").await;
    assert_eq!(simulated["count"], 1);
    let names = |file: &str| {
        cells(file)
            .into_iter()
            .skip(1)
            .map(|row| row[2].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&export(&service, "").await), ["lantern", "vase"]);
    assert_eq!(names(&export(&service, "?status=archived").await), ["vase"]);
    assert_eq!(names(&export(&service, "?q=lantern").await), ["lantern"]);
    for query in ["simulated=true", "simulated=all", "colour=red"] {
        let path = format!("/tags/export?{query}");
        service
            .admin(Method::GET, &path, Value::Null)
            .await
            .expect(422);
    }
}

#[tokio::test]
async fn more_tags_than_one_piece_are_exported_in_order() {
    let service = TestService::start().await;
    let file = (0..1_203).fold("name\n".to_owned(), |file, n| format!("{file}tag {n:04}\n"));
    import(&service, "", file).await;
    let names: Vec<_> = cells(&export(&service, "").await)
        .into_iter()
        .skip(1)
        .map(|row| row[2].clone())
        .collect();
    assert_eq!(names.len(), 1_203);
    assert!(names.is_sorted());
}
