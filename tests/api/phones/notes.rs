//! Notes and photos that staff add to their taps.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256, Sha384};
use tapdesk_tests::fixtures::hex;
use tapdesk_tests::{Answer, Answering as _, TestService, TestTag};

use super::{Phone, jpeg, origin, phone, phone_with, sheet};

impl Phone {
    /// Sends the form of the note as its browser does, with the token of the page.
    async fn note(&self, path: &str, fields: &[(&str, &str)], photo: &[u8]) -> Answer {
        let token = self.token(path).await;
        self.note_with(path, &token, fields, photo).await
    }

    async fn note_with(
        &self,
        path: &str,
        token: &str,
        fields: &[(&str, &str)],
        photo: &[u8],
    ) -> Answer {
        let mut all = vec![("token", token), ("action", "note")];
        all.extend(fields);
        self.form_with_photo(path, &all, photo).await
    }

    /// The status and the bytes of a photo.
    async fn photo(&self, path: &str) -> (u16, Vec<u8>) {
        let request = self.client.get(&format!("{path}/photo"));
        let request = request.header("cookie", &self.cookie);
        let answer = request.send().await.expect("the service answers");
        let status = answer.status().as_u16();
        (status, answer.bytes().await.expect("a body").to_vec())
    }
}

/// A tag, a phone with these scopes that tapped it, and the path of its page.
async fn on_a_page(service: &TestService, scopes: &[&str]) -> (TestTag, Phone, String) {
    let tag = service.redirecting_tag(json!({})).await;
    let staff = phone(service, scopes).await;
    let path = staff.staff_tap(&tag.path()).await;
    (tag, staff, path)
}

/// The note of an interaction in the API.
async fn shown(service: &TestService, path: &str) -> Value {
    let id = path.rsplit('/').next().expect("an id");
    service.admin_get(&format!("/interactions/{id}")).await["staff_note"].clone()
}

#[tokio::test]
async fn a_note_and_a_photo_stay_with_their_tap_without_the_place_of_the_camera() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let staff = phone(&service, &["read", "tags"]).await;
    let path = staff.staff_tap(&inlay.url(&tag)).await;
    assert_eq!(shown(&service, &path).await, Value::Null);
    let note = [("note", " Label is torn\r\nat the top ")];
    let sent = staff.note(&path, &note, &jpeg()).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    assert_eq!(sent.header("location"), Some(&*format!("{path}?done=note")));

    let stored = shown(&service, &path).await;
    assert_eq!(stored["note"], "Label is torn\nat the top", "{stored}");
    assert_eq!(stored["phone"], "Bench");
    assert_eq!(stored["at"], "2026-01-01T12:00:00Z");
    assert_eq!(stored["photo"]["type"], "image/jpeg");
    let url = stored["photo_url"].as_str().expect("a URL");
    let below = url.strip_prefix("/admin/v1").expect("it is of the API");
    let answer = service.admin_request(Method::GET, below).send().await;
    let answer = answer.expect("the service answers");
    assert_eq!(answer.headers()["content-type"], "image/jpeg");
    let kept = answer.bytes().await.expect("a body").to_vec();
    assert!(!kept.windows(3).any(|window| window == b"GPS"));
    let picture = image::load_from_memory(&kept).expect("a picture");
    assert_eq!((picture.width(), picture.height()), (3, 2));
    let digest = hex(&Sha256::digest(&kept)).to_lowercase();
    assert_eq!(stored["photo"]["digest"], digest);

    // The audit log outlives the tap, so it does not repeat the text.
    let row = service.admin_get("/audit?limit=1").await["items"][0].clone();
    assert_eq!(row["action"], "interactions.note.set");
    assert_eq!(row["actor"]["kind"], "phone");
    assert!(!row.to_string().contains("torn"), "{row}");

    // The next tap of the tag shows both among the last taps.
    let next = staff.staff_tap(&inlay.url(&tag)).await;
    let page = staff.open(&next).await.body;
    assert!(page.contains("Label is torn\nat the top"), "{page}");
    assert!(page.contains(&format!("{path}/photo")), "{page}");
    assert_eq!(staff.photo(&path).await, (200, kept));
    assert_eq!(staff.photo(&next).await.0, 404);
    let stranger = service.get(&format!("{path}/photo")).answer().await;
    assert_eq!(stranger.status, 404);

    // A note without a new photo keeps the photo, until the form removes it.
    let other = [("note", "Glued")];
    assert_eq!(staff.note(&path, &other, b"").await.status, 303);
    assert_eq!(shown(&service, &path).await["photo"]["digest"], digest);
    let remove = [("note", "Glued"), ("remove_photo", "yes")];
    assert_eq!(staff.note(&path, &remove, b"").await.status, 303);
    let left = shown(&service, &path).await;
    assert_eq!(
        (&left["note"], &left["photo"]),
        (&json!("Glued"), &Value::Null)
    );
    let nothing = [("note", "")];
    assert_eq!(staff.note(&path, &nothing, b"").await.status, 303);
    assert_eq!(shown(&service, &path).await, Value::Null);
}

#[tokio::test]
async fn a_note_that_is_refused_says_why_and_keeps_its_text() {
    let service = TestService::start().await;
    let (_, staff, path) = on_a_page(&service, &["encode"]).await;
    let refused = async |fields: &[(&str, &str)], photo: &[u8]| {
        let answer = staff.note(&path, fields, photo).await;
        assert_eq!(answer.status, 422, "{}", answer.body);
        answer.body
    };
    let page = refused(&[("note", "torn")], b"not a picture").await;
    assert!(page.contains("no JPEG, PNG or WebP"), "{page}");
    assert!(page.contains("torn</textarea>"), "{page}");
    let page = refused(&[("note", " ")], b"").await;
    assert!(page.contains("Write a note, or choose a photo"), "{page}");
    let long = "\u{e9}".repeat(1_001);
    let page = refused(&[("note", &long)], &jpeg()).await;
    assert!(page.contains("at most 1000 characters"), "{page}");
    assert!(page.contains("Choose the photo again"), "{page}");
    let old = staff
        .note_with(&path, "1.x", &[("note", "torn")], b"")
        .await;
    assert_eq!(old.status, 403);
    assert!(old.body.contains("torn</textarea>"), "{}", old.body);
    assert_eq!(shown(&service, &path).await, Value::Null);
    // A form with a photo has no more room for texts than one without.
    let texts = "x".repeat(65 * 1024);
    let texts = staff.note(&path, &[("note", &texts)], &jpeg()).await;
    assert_eq!(texts.status, 413, "{}", texts.body);
    assert!(!texts.body.contains("xxx"), "{}", texts.body);
}

/// A phone's largest photo. The browser shows no answer before it has sent everything, and the button
/// is behind the photo.
#[tokio::test]
async fn a_form_whose_photo_is_too_large_keeps_its_note() {
    let service = TestService::start().await;
    let (_, staff, path) = on_a_page(&service, &["encode"]).await;
    let sheet = sheet(&service, "Delivery").await;
    let token = staff.token(&path).await;
    let large = vec![0; 40 * 1024 * 1024];
    let note = [("token", &*token), ("action", "note"), ("note", "torn")];
    let row = [("token", &*token), ("sheet", &*sheet), ("note", "torn")];
    for (before, after, place) in [
        (note, &[][..], "id=\"tap-note\""),
        (row, &[("action", "bad")][..], "id=\"note\""),
    ] {
        let sent = staff.form_in_order(&path, &before, &large, after).await;
        assert_eq!(sent.status, 413, "{}", sent.body);
        let why = "This photo is too large. Take it with fewer pixels.";
        assert!(sent.body.contains(why), "{}", sent.body);
        let (_, field) = sent.body.split_once(place).expect("the form");
        let (field, _) = field.split_once("</textarea>").expect("a note");
        assert!(field.ends_with("torn"), "{}", sent.body);
        assert_eq!(sent.body.matches("torn").count(), 1, "{}", sent.body);
    }
    assert_eq!(shown(&service, &path).await, Value::Null);
    let stored = service.admin_get(&format!("/sheets/{sheet}")).await;
    assert_eq!(stored["row_count"], 0);
    // The same note with a smaller photo is stored.
    let note = [("note", "torn")];
    assert_eq!(staff.note(&path, &note, &jpeg()).await.status, 303);
}

/// The tag leaves the groups of the phone while a person writes, so the page of the tap is gone.
#[tokio::test]
async fn a_note_about_a_tap_that_is_gone_is_shown_to_be_copied() {
    let service = TestService::start().await;
    let group = json!({"kind": "folder", "name": "Wine"});
    let group = service.admin_create("/groups", group).await["id"].clone();
    let tag = service.redirecting_tag(json!({"group_id": group})).await;
    let staff = phone_with(&service, &["tags"], json!({"group_ids": [group]})).await;
    let path = staff.staff_tap(&tag.path()).await;
    let token = staff.token(&path).await;
    let left = json!({"group_id": null});
    service.admin_patch(&tag.admin_path(), left).await;
    let send = async |note: &str| {
        let note = [("note", note)];
        staff.note_with(&path, &token, &note, b"").await.body
    };
    let page = send("torn <b>").await;
    assert!(page.contains("Copy your text."), "{page}");
    assert!(page.contains("torn &#60;b&#62;</textarea>"), "{page}");
    // Without a text there is nothing to copy.
    let page = send("").await;
    assert!(page.contains("Not in the groups of this phone"), "{page}");
    assert!(!page.contains("</textarea>"), "{page}");
    assert_eq!(shown(&service, &path).await, Value::Null);
}

/// Bodies that no browser sends, with the token of the page.
#[tokio::test]
async fn a_malformed_form_with_a_photo_changes_nothing() {
    let service = TestService::start().await;
    let (_, staff, path) = on_a_page(&service, &["encode"]).await;
    let token = staff.token(&path).await;
    let part = |named: &str, content: &str| {
        format!("--x\r\nContent-Disposition: form-data; {named}\r\n\r\n{content}\r\n")
    };
    let fields = [("token", &*token), ("action", "note"), ("note", "torn")];
    let fields = fields.map(|(name, value)| part(&format!("name=\"{name}\""), value));
    let fields = fields.concat();
    let file = |named: &str| part(&format!("name=\"photo\"; filename={named}"), "x");
    let form = "multipart/form-data; boundary=x";
    let long = format!("multipart/form-data; boundary={}", "x".repeat(71));
    let many = part("name=\"a\"", "").repeat(14);
    let head = file(&format!("\"{}\"", "a".repeat(64 * 1024)));
    for (content_type, body, status) in [
        (form, fields.clone(), 400),
        (form, format!("{fields}--x"), 400),
        (form, format!("{fields}--y--"), 400),
        (form, format!("{fields}{many}--x--"), 400),
        (form, format!("{fields}{head}--x--"), 400),
        (form, format!("{fields}--x\r\n\r\n\r\n--x--"), 400),
        (form, format!("preamble\r\n{fields}--x--"), 400),
        ("multipart/form-data", format!("{fields}--x--"), 415),
        ("multipart/mixed; boundary=x", format!("{fields}--x--"), 415),
        (&*long, format!("{fields}--x--"), 415),
        // A field within the name of a file is none, and the file is no picture.
        (form, format!("{fields}{}--x--", file("\"a; name=\"")), 422),
    ] {
        let request = staff.client.post(&path).body(body);
        let request = request.header("content-type", content_type);
        let request = request.header("origin", origin(&staff.client));
        let sent = request.header("cookie", &staff.cookie).answer().await;
        assert_eq!(sent.status, status, "{content_type}: {}", sent.body);
    }
    assert_eq!(shown(&service, &path).await, Value::Null);
    // The last of two fields with one name counts, and the end of the body may be missing.
    let again = part("name=\"note\"", "glued");
    let request = staff
        .client
        .post(&path)
        .body(format!("{fields}{again}--x--"));
    let request = request.header("content-type", form);
    let request = request.header("origin", origin(&staff.client));
    let sent = request.header("cookie", &staff.cookie).answer().await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    assert_eq!(shown(&service, &path).await["note"], "glued");
}

/// Each refusal of a row has its reason, and the note again.
#[tokio::test]
async fn a_row_that_is_refused_keeps_its_note() {
    let service = TestService::start().await;
    let (tag, staff, path) = on_a_page(&service, &["encode"]).await;
    let sheet = sheet(&service, "Delivery").await;
    let token = staff.token(&path).await;
    let send = async |token: &str, photo: &[u8]| {
        let before = [("token", token), ("sheet", &*sheet), ("note", "torn")];
        let bad = [("action", "bad")];
        staff.form_in_order(&path, &before, photo, &bad).await
    };
    let damaged = jpeg();
    let damaged = &damaged[..damaged.len() / 4];
    let gif = b"GIF89a\x01\0\x01\0";
    for (token, photo, status, why) in [
        (&*token, &b"no picture"[..], 422, "no JPEG, PNG or WebP"),
        (&*token, &gif[..], 422, "no JPEG, PNG or WebP"),
        (&*token, damaged, 422, "cannot be read"),
        ("1.x", &b""[..], 403, "too old"),
    ] {
        let answer = send(token, photo).await;
        assert_eq!(answer.status, status, "{why}: {}", answer.body);
        assert!(answer.body.contains(why), "{why}: {}", answer.body);
        let is_kept = answer.body.contains("torn</textarea>");
        assert!(is_kept, "{why}: {}", answer.body);
    }
    // The sheet is closed meanwhile, and no other is open: the form stays, and can be sent again.
    let at = format!("/sheets/{sheet}");
    service.admin_patch(&at, json!({"closed": true})).await;
    let answer = send(&token, b"").await;
    assert_eq!(answer.status, 409, "{}", answer.body);
    assert!(answer.body.contains("torn</textarea>"), "{}", answer.body);
    let again = format!("name=\"sheet\" value=\"{sheet}\"");
    assert!(answer.body.contains(&again), "{}", answer.body);
    // A phone without the right to add rows does not see the sheet by such a form.
    let other = phone(&service, &["tags"]).await;
    let of_other = other.staff_tap(&tag.path()).await;
    let row = [("action", "bad"), ("sheet", &*sheet), ("note", "torn")];
    let refused = other.send(&of_other, &row).await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    assert!(!refused.body.contains("Delivery"), "{}", refused.body);
    service.admin_patch(&at, json!({"closed": false})).await;
    assert_eq!(send(&token, b"").await.status, 303);
    let stored = service.admin_get(&at).await;
    assert_eq!(stored["rows"][0]["reason"], "torn");
}

#[tokio::test]
async fn a_note_needs_a_scope_of_work_and_a_tag_within_the_groups() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(json!({})).await;
    let group = json!({"kind": "folder", "name": "Wine"});
    let group = service.admin_create("/groups", group).await["id"].clone();
    let staff = phone(&service, &["tags"]).await;
    let path = staff.staff_tap(&tag.path()).await;
    assert_eq!(
        staff.note(&path, &[("note", "seen")], b"").await.status,
        303
    );
    let reading = phone(&service, &["read"]).await;
    let page = reading.open(&path).await.body;
    assert!(page.contains("seen") && !page.contains("<form"), "{page}");
    let limited = phone_with(&service, &["read", "tags"], json!({"group_ids": [group]})).await;
    assert_eq!(limited.photo(&path).await.0, 404);
    let page = limited.open(&path).await.body;
    assert!(!page.contains("seen"), "{page}");
}

#[tokio::test]
async fn a_note_goes_when_the_visitors_of_its_tag_are_erased() {
    let service = TestService::start().await;
    let (tag, staff, path) = on_a_page(&service, &["tags"]).await;
    let sent = staff.note(&path, &[("note", "seen")], &jpeg()).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let traces = format!("{}/traces", tag.admin_path());
    let erased = service.admin(Method::DELETE, &traces, Value::Null).await;
    assert!(erased.status < 300, "{}", erased.body);
    assert_eq!(shown(&service, &path).await, Value::Null);
    assert_eq!(staff.photo(&path).await.0, 404);
}

#[tokio::test]
async fn a_staff_page_is_in_the_language_of_the_phone() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let staff = phone(&service, &["read", "tags"]).await;
    let path = staff.staff_tap(&inlay.url(&tag)).await;
    for (wanted, language, verdict) in [
        ("de-AT, en;q=0.5", "de", "Verifiziert"),
        ("ar", "ar", "تم التحقق"),
        ("xx", "en", "Verified"),
    ] {
        let request = staff.client.get(&path).header("cookie", &staff.cookie);
        let page = request.header("accept-language", wanted).answer().await;
        let html = format!("<html lang=\"{language}\"");
        assert!(page.body.contains(&html), "{}", page.body);
        let verdict = format!("<strong>{verdict}</strong>");
        assert!(page.body.contains(&verdict), "{}", page.body);
    }
}

/// The policy of the page allows its own script by a nonce, and the page names its digest.
#[tokio::test]
async fn a_staff_page_loads_one_script_of_its_own() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(json!({})).await;
    let staff = phone(&service, &["read"]).await;
    let page = staff.open(&staff.staff_tap(&tag.path()).await).await;
    let script = service.get("/staff/scan.js").answer().await;
    assert_eq!(script.status, 200);
    let digest = STANDARD.encode(Sha384::digest(&script.body));
    let policy = page.header("content-security-policy").expect("a policy");
    let (_, nonce) = policy.split_once("script-src 'nonce-").expect("a nonce");
    let nonce = nonce.split('\'').next().expect("a nonce");
    let element = format!("integrity=\"sha384-{digest}\" nonce=\"{nonce}\" defer></script>");
    assert!(page.body.contains(&element), "{}", page.body);
    assert_eq!(page.body.matches("<script").count(), 1, "{}", page.body);
}

/// Its script compares the size of a photo with this one.
#[tokio::test]
async fn a_page_names_the_size_above_which_it_sends_no_photo() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    sheet(&service, "Delivery").await;
    let staff = phone(&service, &["encode"]).await;
    let page = staff.open(&staff.staff_tap(&inlay.url(&tag)).await).await;
    let limit = "data-max=\"16777216\" data-large=\"This photo is too large.";
    assert_eq!(page.body.matches(limit).count(), 2, "{}", page.body);
    let script = service.get("/staff/scan.js").answer().await;
    assert!(script.body.contains("dataset.max"), "{}", script.body);
}

#[tokio::test]
async fn a_row_of_a_phone_has_its_own_photo() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let sheet = sheet(&service, "Delivery").await;
    let staff = phone(&service, &["encode"]).await;
    let path = staff.staff_tap(&inlay.url(&tag)).await;
    let token = staff.token(&path).await;
    let fields = [
        ("token", &*token),
        ("sheet", &*sheet),
        ("note", "torn"),
        ("action", "bad"),
    ];
    // A person presses twice.
    for _ in 0..2 {
        let sent = staff.form_with_photo(&path, &fields, &jpeg()).await;
        assert_eq!(sent.status, 303, "{}", sent.body);
    }
    let sent = staff.form_with_photo(&path, &fields, b"").await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let stored = service.admin_get(&format!("/sheets/{sheet}")).await;
    let rows = stored["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2, "{stored}");
    assert_eq!(rows[0]["photo"]["type"], "image/jpeg", "{stored}");
    assert_eq!(rows[1]["photo"], Value::Null, "{stored}");
    let photo = |position: u32| {
        let path = format!("/sheets/{sheet}/rows/{position}/photo");
        service.admin_request(Method::GET, &path).send()
    };
    let answer = photo(1).await.expect("the service answers");
    assert_eq!(answer.headers()["content-type"], "image/jpeg");
    let kept = answer.bytes().await.expect("a body").to_vec();
    assert!(!kept.windows(3).any(|window| window == b"GPS"));
    let digest = hex(&Sha256::digest(&kept)).to_lowercase();
    assert_eq!(rows[0]["photo"]["digest"], digest);
    assert_eq!(photo(2).await.expect("an answer").status(), 404);
    // The photo is the row's, and not the tap's.
    assert_eq!(shown(&service, &path).await, Value::Null);
}
