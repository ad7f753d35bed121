//! Rows of test sheets that several phones add, and the sheets that they are offered.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, TestService};

use super::{phone, sheet};

/// The verdicts of its rows. The rows are numbered without a gap.
async fn verdicts(service: &TestService, sheet: &str) -> Vec<String> {
    let stored = service.admin_get(&format!("/sheets/{sheet}")).await;
    let rows = stored["rows"].as_array().expect("rows");
    for (number, row) in (1..).zip(rows) {
        assert_eq!(row["position"], json!(number), "{stored}");
    }
    let verdict = |row: &Value| row["verdict"].as_str().expect("a verdict").to_owned();
    rows.iter().map(verdict).collect()
}

fn press<'a>(action: &'a str, sheet: &'a str) -> [(&'a str, &'a str); 3] {
    [("action", action), ("sheet", sheet), ("note", "")]
}

/// A long job has a sheet of its own beside those of many deliveries.
#[tokio::test]
async fn an_open_sheet_is_offered_behind_many_closed_ones() {
    let service = TestService::start().await;
    let tag = service.redirecting_tag(Value::Null).await;
    let staff = phone(&service, &["encode"]).await;
    sheet(&service, "All year").await;
    for number in 0..25 {
        let delivery = sheet(&service, &format!("Delivery {number}")).await;
        let path = format!("/sheets/{delivery}");
        service.admin_patch(&path, json!({"closed": true})).await;
    }
    let page = staff.open(&staff.staff_tap(&tag.path()).await).await.body;
    assert!(
        page.contains("All year") && !page.contains("Delivery"),
        "{page}"
    );
}

/// Both presses arrive before either is stored.
#[tokio::test]
async fn good_that_is_pressed_twice_at_once_is_one_row() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let poster = service.redirecting_tag(json!({"name": "Poster"})).await;
    let staff = phone(&service, &["encode"]).await;
    for url in [inlay.url(&tag), poster.path()] {
        let sheet = sheet(&service, "Delivery").await;
        let path = staff.staff_tap(&url).await;
        let token = staff.token(&path).await;
        let fields = [
            ("token", &*token),
            ("action", "good"),
            ("sheet", &*sheet),
            ("note", ""),
        ];
        let send = || staff.form(&path, &fields).answer();
        let (one, two, three, four) = tokio::join!(send(), send(), send(), send());
        for answer in [one, two, three, four] {
            assert_eq!(answer.status, 303, "{}", answer.body);
        }
        let rows = async || {
            let sheet = service.admin_get(&format!("/sheets/{sheet}")).await;
            sheet["rows"].as_array().expect("rows").len()
        };
        assert_eq!(rows().await, 1, "{url}");
        // A code without a counter is on many labels, so a later row is another label's.
        service.advance(2_000);
        assert_eq!(send().await.status, 303);
        let expected = if url == poster.path() { 2 } else { 1 };
        assert_eq!(rows().await, expected, "{url}");
    }
}

/// Each tap is judged by the person who made it, and one tap by two persons.
#[tokio::test]
async fn two_phones_fill_one_sheet_at_once_and_no_row_is_lost() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let sheet = sheet(&service, "Delivery").await;
    let one = phone(&service, &["encode"]).await;
    let other = phone(&service, &["encode"]).await;
    let (good, bad) = (press("good", &sheet), press("bad", &sheet));
    for is_one_tap in [false, false, true] {
        let first = one.staff_tap(&inlay.url(&tag)).await;
        let second = if is_one_tap {
            first.clone()
        } else {
            other.staff_tap(&inlay.url(&tag)).await
        };
        let (saved, also) = tokio::join!(one.send(&first, &good), other.send(&second, &bad));
        assert_eq!((saved.status, also.status), (303, 303), "{}", also.body);
    }
    let verdicts = verdicts(&service, &sheet).await;
    let count = |verdict: &str| verdicts.iter().filter(|found| *found == verdict).count();
    assert_eq!((count("ok"), count("bad")), (3, 3), "{verdicts:?}");
}

/// The page was open before the desk signed the sheet off.
#[tokio::test]
async fn a_sheet_that_is_signed_off_takes_no_row_of_a_phone() {
    let service = TestService::start().await;
    let (tag, mut inlay) = service.bottle().await;
    let sheet = sheet(&service, "Delivery").await;
    let staff = phone(&service, &["encode"]).await;
    let path = staff.staff_tap(&inlay.url(&tag)).await;
    let saved = staff.send(&path, &press("good", &sheet)).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    let signed = json!({"signer": "Anna Berg", "row_count": 1});
    let sign = format!("/sheets/{sheet}/sign-off");
    service.admin(Method::POST, &sign, signed).await.expect(200);
    let refused = staff.send(&path, &press("bad", &sheet)).await;
    assert_eq!(refused.status, 409, "{}", refused.body);
    let said = refused.body.contains("The sheet is signed off");
    assert!(said, "{}", refused.body);
    assert_eq!(verdicts(&service, &sheet).await, ["ok"]);
    // Nor is it offered at the next tap.
    let page = staff.open(&staff.staff_tap(&inlay.url(&tag)).await).await;
    assert!(!page.body.contains("name=\"sheet\""), "{}", page.body);
}
