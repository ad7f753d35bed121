//! The forms of staff pages: what they change, for whom, and from where.

use serde_json::{Value, json};
use tapdesk_tests::fixtures::on_templates;
use tapdesk_tests::{Answering as _, TestService, TestTag};

use super::{Phone, origin, phone, phone_with, sheet};

/// A tag with a variable, and a phone that may do everything that phones can.
async fn at_work(service: &TestService) -> (TestTag, Phone) {
    let more = json!({"variables": {"owner": "Ada"}});
    let tag = service.redirecting_tag(more).await;
    let staff = phone(service, &["read", "tags", "encode", "keys"]).await;
    (tag, staff)
}

const BOB: [(&str, &str); 3] = [("action", "value"), ("key", "owner"), ("value", "Bob")];

async fn owner(service: &TestService, tag: &TestTag) -> String {
    let owner = service.variable(tag, "owner").await;
    owner.expect("the tag has it")
}

/// The newest row of the audit log.
async fn newest_row(service: &TestService) -> Value {
    service.admin_get("/audit?limit=1").await["items"][0].clone()
}

#[tokio::test]
async fn a_form_changes_its_tag_and_the_phone_is_the_actor() {
    let service = TestService::start().await;
    let (tag, staff) = at_work(&service).await;
    let path = staff.staff_tap(&tag.path()).await;
    let answer = staff.send(&path, &BOB).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
    let done = answer.header("location").expect("the page").to_owned();
    assert_eq!(done, format!("{path}?done=value"));
    let page = staff.open(&done).await;
    assert!(page.body.contains("Value saved"), "{}", page.body);
    assert_eq!(owner(&service, &tag).await, "Bob");
    let row = newest_row(&service).await;
    let actor = json!({"kind": "phone", "id": staff.id, "name": "Bench"});
    assert_eq!(
        (&row["actor"], &row["action"]),
        (&actor, &json!("tags.variables.set"))
    );
    assert_eq!(row["object"], format!("tags/{}/variables/owner", tag.id));

    let other = service.redirect("https://owner.example/other").await;
    let id = other.to_string();
    let fields = [("action", "experience"), ("experience_id", &*id)];
    assert_eq!(staff.send(&path, &fields).await.status, 303);
    let changed = service.admin_get(&tag.admin_path()).await;
    assert_eq!(changed["experience_id"], other);
    let row = newest_row(&service).await;
    assert_eq!(
        (&row["actor"], &row["action"]),
        (&actor, &json!("tags.update"))
    );
    assert_eq!(row["object"], format!("tags/{}", tag.id));
}

#[tokio::test]
async fn an_inlay_moves_to_the_tag_that_a_form_names() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let other = service.redirecting_tag(json!({"name": "Other"})).await;
    let staff = phone(&service, &["read", "keys"]).await;
    let path = staff.staff_tap(&inlay.url(&tag)).await;
    let fields = [("action", "inlay"), ("slug", "nobody-has-this")];
    let refused = staff.send(&path, &fields).await;
    assert_eq!(refused.status, 422);
    assert!(
        refused.body.contains("No tag has the slug"),
        "{}",
        refused.body
    );
    let typed = r#"name="slug" value="nobody-has-this""#;
    assert!(refused.body.contains(typed), "{}", refused.body);
    let fields = [("action", "inlay"), ("slug", &*other.slug)];
    let moved = staff.send(&path, &fields).await;
    assert_eq!(moved.status, 303, "{}", moved.body);
    let inlay = service.admin_get(&format!("/inlays/{}", inlay.id)).await;
    assert_eq!(inlay["tag_id"], other.id);
    assert_eq!(newest_row(&service).await["action"], "inlays.update");
}

#[tokio::test]
async fn good_and_bad_are_rows_of_an_open_sheet() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let sheet = json!({"name": "Delivery", "planned": 60});
    let sheet = service.admin_create("/sheets", sheet).await["id"].to_string();
    let staff = phone(&service, &["encode"]).await;
    let path = staff.staff_tap(&inlay.url(&tag)).await;
    let good = [("action", "good"), ("sheet", &*sheet), ("note", "")];
    // A person presses twice.
    for _ in 0..2 {
        assert_eq!(staff.send(&path, &good).await.status, 303);
    }
    let row = newest_row(&service).await;
    assert_eq!(row["action"], "sheets.rows.create");
    assert_eq!(row["actor"]["kind"], "phone");
    let page = staff.open(&path).await;
    assert!(
        page.body.contains("Row 1 is about this tag already: Good."),
        "{}",
        page.body
    );
    // The row that was just made is no warning.
    let saved = staff.open(&format!("{path}?done=row")).await.body;
    assert!(
        page.body.contains(r#"class="wrong""#) && !saved.contains(r#"class="wrong""#),
        "{saved}"
    );
    let path = staff.staff_tap(&inlay.url(&tag)).await;
    let bad = [("action", "bad"), ("sheet", &*sheet), ("note", " torn ")];
    assert_eq!(staff.send(&path, &bad).await.status, 303);
    let stored = service.admin_get(&format!("/sheets/{sheet}")).await;
    let rows = stored["rows"].as_array().expect("rows").iter();
    let rows: Vec<_> = rows
        .map(|row| {
            (
                &row["verdict"],
                &row["reason"],
                &row["counter"],
                &row["reader"],
            )
        })
        .collect();
    let expected = [
        json!(["ok", "", 1, "Bench"]),
        json!(["bad", "torn", 2, "Bench"]),
    ];
    let expected = expected
        .iter()
        .map(|row| (&row[0], &row[1], &row[2], &row[3]));
    assert_eq!(rows, expected.collect::<Vec<_>>());

    let closed = json!({"closed": true});
    service
        .admin_patch(&format!("/sheets/{sheet}"), closed)
        .await;
    let page = staff.open(&path).await.body;
    assert!(!page.contains("name=\"sheet\""), "{page}");
}

/// Two sheets are open, and a person works through the older one.
#[tokio::test]
async fn the_sheet_of_the_last_row_is_the_first_to_choose_at_the_next_tap() {
    let service = TestService::start().await;
    let (tag, staff) = at_work(&service).await;
    let mut sheets = Vec::new();
    for name in ["Older", "Newer"] {
        sheets.push(sheet(&service, name).await);
    }
    let chosen = |page: &str| {
        let (_, options) = page.split_once("<option value=\"").expect("a choice");
        options.split('"').next().expect("a value").to_owned()
    };
    let path = staff.staff_tap(&tag.path()).await;
    assert_eq!(chosen(&staff.open(&path).await.body), sheets[1]);
    let good = [("action", "good"), ("sheet", &*sheets[0]), ("note", "")];
    let saved = staff.send(&path, &good).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    let noted = saved.header("set-cookie").expect("the sheet").to_owned();
    assert!(noted.contains("; Path=/staff;") && noted.contains("; HttpOnly"));
    let noted = noted.split(';').next().expect("a pair");
    let path = staff.staff_tap(&tag.path()).await;
    let open = async |cookie: &str| {
        let cookies = format!("{}; {cookie}", staff.cookie);
        let page = staff.client.get(&path).header("cookie", cookies);
        page.answer().await.body
    };
    let page = open(noted).await;
    assert_eq!(chosen(&page), sheets[0]);
    assert!(
        page.contains("Row 1 of \u{201c}Older\u{201d} is about this tag already: Good."),
        "{page}"
    );
    // A sheet that is not open changes nothing.
    for other in ["tapdesk_sheet=999", "tapdesk_sheet=x", "tapdesk_sheet="] {
        assert_eq!(chosen(&open(other).await), sheets[1], "{other}");
    }
}

/// No form loses what was typed.
#[tokio::test]
async fn a_form_that_is_refused_keeps_what_was_typed() {
    let service = TestService::start().await;
    let (tag, staff) = at_work(&service).await;
    let sheet = sheet(&service, "Delivery").await;
    let path = staff.staff_tap(&tag.path()).await;
    let token = staff.token(&path).await;
    let refused = async |fields: &[(&str, &str)]| {
        let answer = staff.send(&path, fields).await;
        assert!([409, 422].contains(&answer.status), "{}", answer.body);
        answer.body
    };
    let value = [("action", "value"), ("key", "owner"), ("value", "a\0<b>")];
    let page = refused(&value).await;
    assert!(page.contains("&#60;b&#62;\" maxlength"), "{page}");
    // Its part of the page is open.
    assert_eq!(page.matches("<details open>").count(), 1, "{page}");
    assert_eq!(owner(&service, &tag).await, "Ada");
    let row = [("action", "good"), ("sheet", "999"), ("note", "torn")];
    assert!(refused(&row).await.contains("torn</textarea>"));

    // An hour later the form is refused with a new token, which sends it again.
    service.advance(60 * 60_000);
    let old = [
        ("token", &*token),
        ("action", "bad"),
        ("sheet", &*sheet),
        ("note", "two lines\r\nof a note"),
    ];
    let page = staff.form(&path, &old).answer().await;
    assert_eq!(page.status, 403);
    assert!(page.body.contains("of a note</textarea>"), "{}", page.body);
    assert!(page.body.contains("This page is too old"), "{}", page.body);
    let (_, fresh) = page
        .body
        .split_once(r#"name="token" value=""#)
        .expect("a form");
    let fresh = fresh.split('"').next().expect("a value");
    let mut again = old;
    again[0].1 = fresh;
    assert_eq!(staff.form(&path, &again).answer().await.status, 303);
}

#[tokio::test]
async fn a_row_for_a_sheet_that_was_closed_meanwhile_is_refused_in_words() {
    let service = TestService::start().await;
    let (tag, staff) = at_work(&service).await;
    let sheet = sheet(&service, "Delivery").await;
    let path = staff.staff_tap(&tag.path()).await;
    service
        .admin_patch(&format!("/sheets/{sheet}"), json!({"closed": true}))
        .await;
    let good = [("action", "good"), ("sheet", &*sheet), ("note", "")];
    let refused = staff.send(&path, &good).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert!(refused.body.contains("role=\"alert\""), "{}", refused.body);
}

/// The page of a tap was stolen: somebody has the token of its forms.
#[tokio::test]
async fn the_token_of_a_page_is_of_no_use_elsewhere() {
    let service = TestService::start().await;
    let (tag, staff) = at_work(&service).await;
    let thief = phone(&service, &["read", "tags", "encode"]).await;
    let path = staff.staff_tap(&tag.path()).await;
    let token = staff.token(&path).await;
    let fields = |token: &str| {
        let mut fields = vec![("token".to_owned(), token.to_owned())];
        fields.extend(BOB.map(|(name, value)| (name.to_owned(), value.to_owned())));
        fields
    };
    let send = async |phone: &Phone, path: &str, token: &str| {
        let fields = fields(token);
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| (&**name, &**value))
            .collect();
        phone.form(path, &fields).answer().await.status
    };
    // By another phone, at the same tap and at one of its own.
    assert_eq!(send(&thief, &path, &token).await, 403);
    let own = thief.staff_tap(&tag.path()).await;
    assert_eq!(send(&thief, &own, &token).await, 403);
    // By the phone itself, at another tag, and changed.
    let other = service
        .redirecting_tag(json!({"variables": {"owner": "Ada"}}))
        .await;
    let at_other = staff.staff_tap(&other.path()).await;
    assert_eq!(send(&staff, &at_other, &token).await, 403);
    let longer = token.replacen('1', "9", 1);
    for wrong in ["", ".", "1", &token[1..], &longer] {
        assert_eq!(send(&staff, &path, wrong).await, 403, "{wrong}");
    }
    // By a browser without a phone.
    let all = fields(&token);
    let all: Vec<_> = all
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    let request = service
        .post_form(&path, &all)
        .header("origin", origin(&service));
    assert_eq!(request.answer().await.status, 404);
    // After an hour.
    service.advance(60 * 60_000);
    assert_eq!(send(&staff, &path, &token).await, 403);
    for tag in [&tag, &other] {
        assert_eq!(owner(&service, tag).await, "Ada");
    }
    let fresh = staff.token(&path).await;
    assert_eq!(send(&staff, &path, &fresh).await, 303);
}

#[tokio::test]
async fn a_form_of_another_site_changes_nothing() {
    let service = TestService::start().await;
    let (tag, staff) = at_work(&service).await;
    let path = staff.staff_tap(&tag.path()).await;
    let token = staff.token(&path).await;
    let mut fields = vec![("token", &*token)];
    fields.extend(BOB);
    let own = origin(&service);
    for (origin, site) in [
        (Some("https://evil.example"), None),
        (Some("null"), None),
        (None, None),
        (Some(&*own), Some("cross-site")),
        (Some(&*own), Some("same-site")),
        (Some(&*own), Some("none")),
    ] {
        let request = staff.client.post_form(&path, &fields);
        let mut request = request.header("cookie", &staff.cookie);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        if let Some(site) = site {
            request = request.header("sec-fetch-site", site);
        }
        let status = request.answer().await.status;
        assert_eq!(status, 403, "{origin:?} {site:?}");
    }
    assert_eq!(owner(&service, &tag).await, "Ada");
    // Some proxies add the default port to `Host`.
    if !on_templates() {
        let request = staff.client.post_form(&path, &fields);
        let request = request.header("cookie", &staff.cookie);
        let request = request.header("host", "tags.example:80");
        let request = request.header("origin", "http://tags.example");
        assert_eq!(request.answer().await.status, 303);
    }
    let request = staff.form(&path, &fields);
    let own = request.header("sec-fetch-site", "same-origin");
    assert_eq!(own.answer().await.status, 303);
    assert_eq!(owner(&service, &tag).await, "Bob");
}

#[tokio::test]
async fn a_form_needs_the_scope_of_its_change() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let sheet = sheet(&service, "Delivery").await;
    // Each phone has a form, so that it has a token.
    for (scopes, allowed) in [
        (&["encode"][..], "good"),
        (&["tags"][..], "experience"),
        (&["keys"][..], "inlay"),
    ] {
        let staff = phone(&service, scopes).await;
        let path = staff.staff_tap(&inlay.url(&tag)).await;
        for fields in [
            &[("action", "good"), ("sheet", &*sheet)][..],
            &[("action", "experience"), ("experience_id", "1")],
            &[("action", "value"), ("key", "owner"), ("value", "")],
            &[("action", "inlay"), ("slug", &*tag.slug)],
        ] {
            let action = fields[0].1;
            let expected = match action {
                _ if action == allowed => 303,
                // The tag has no such variable.
                "value" if allowed == "experience" => 422,
                _ => 403,
            };
            let answer = staff.send(&path, fields).await;
            assert_eq!(
                answer.status, expected,
                "{scopes:?} {action}: {}",
                answer.body
            );
        }
    }
}

#[tokio::test]
async fn a_phone_of_a_group_has_neither_sheets_nor_inlays() {
    let service = TestService::start().await;
    let group = json!({"kind": "product", "name": "Wine"});
    let group = service.admin_create("/groups", group).await["id"].clone();
    let more = json!({"group_id": group, "variables": {"owner": "Ada"}});
    let tag = service.redirecting_tag(more).await;
    let sheet = sheet(&service, "Delivery").await;
    let limit = json!({"group_ids": [group]});
    let staff = phone_with(&service, &["read", "tags", "encode", "keys"], limit).await;
    let path = staff.staff_tap(&tag.path()).await;
    let page = staff.open(&path).await;
    assert!(!page.body.contains("Delivery"), "{}", page.body);
    let row = [("action", "good"), ("sheet", &*sheet), ("note", "")];
    assert_eq!(staff.send(&path, &row).await.status, 422);
    let inlay = [("action", "inlay"), ("slug", &*tag.slug)];
    assert_eq!(staff.send(&path, &inlay).await.status, 422);
    assert_eq!(staff.send(&path, &BOB).await.status, 303);
    assert_eq!(owner(&service, &tag).await, "Bob");
}

/// The field of the page lets 4096 characters pass.
#[tokio::test]
async fn a_value_that_is_too_long_is_refused_in_the_language_of_the_phone() {
    let service = TestService::start().await;
    let (tag, staff) = at_work(&service).await;
    let path = staff.staff_tap(&tag.path()).await;
    let token = staff.token(&path).await;
    let long = "\u{645}".repeat(2_049);
    let fields = [
        ("token", &*token),
        ("action", "value"),
        ("key", "owner"),
        ("value", &*long),
    ];
    let form = staff.form(&path, &fields).header("accept-language", "de");
    let refused = form.answer().await;
    assert_eq!(refused.status, 422, "{}", refused.body);
    let said = refused.body.contains("Dieser Wert ist zu lang.");
    assert!(said && refused.body.contains(&long), "{}", refused.body);
}

#[tokio::test]
async fn a_form_with_wrong_fields_changes_nothing() {
    let service = TestService::start().await;
    let (tag, staff) = at_work(&service).await;
    let path = staff.staff_tap(&tag.path()).await;
    let long = "x".repeat(4_097);
    for (fields, status) in [
        (&[][..], 400),
        (&[("action", "delete")][..], 400),
        (&[("action", "good"), ("sheet", "x")][..], 400),
        (
            &[("action", "experience"), ("experience_id", "-1")][..],
            400,
        ),
        (&[("action", "good"), ("sheet", "999")][..], 422),
        (
            &[("action", "experience"), ("experience_id", "999")][..],
            409,
        ),
        (
            &[("action", "value"), ("key", "other"), ("value", "")][..],
            422,
        ),
        (
            &[("action", "value"), ("key", "owner"), ("value", "a\0b")],
            422,
        ),
        (
            &[("action", "value"), ("key", "owner"), ("value", &*long)],
            422,
        ),
        (&[("action", "inlay"), ("slug", &*tag.slug)][..], 422),
    ] {
        let answer = staff.send(&path, fields).await;
        assert_eq!(answer.status, status, "{fields:?}: {}", answer.body);
    }
    let json = staff.client.post(&path).header("cookie", &staff.cookie);
    let json = json.header("origin", origin(&service)).json(&json!({}));
    assert_eq!(json.answer().await.status, 415);
    let too_large = "x".repeat(65 * 1024);
    let large = staff.form(&path, &[("value", &*too_large)]);
    assert_eq!(large.answer().await.status, 413);
    assert_eq!(owner(&service, &tag).await, "Ada");
}
