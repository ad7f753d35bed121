//! A box of 20 chips for three products, encoded one after the other.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};
use tapdesk_service::clock::Stopwatch;

use super::first_chip::choose_address;
use crate::reader::encode::{blank, lay};
use crate::reader::made;
use crate::window::Desk;

const PRODUCTS: [&str; 3] = ["Riesling", "Silvaner", "Spätburgunder"];
const CHIPS: u8 = 20;

#[tokio::test]
async fn three_products_get_a_box_of_20_chips_in_one_run() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let mut csv = "name,experience\n".to_owned();
    for number in 1..=CHIPS {
        let product = PRODUCTS[usize::from(number) % PRODUCTS.len()];
        writeln!(csv, "{product} {number},{product}").unwrap();
    }
    let file = desk.path("box.csv");
    fs::write(&file, csv).unwrap();
    let window = desk.open_ready().await;
    for product in PRODUCTS {
        let target = "https://winery.example/register";
        let redirect = json!({"name": product, "kind": "redirect", "target_url": target});
        made(&window, "/experiences", redirect).await;
    }

    let way = desk.begin("box of 20 chips");
    window.press("//nav//a[normalize-space()='Encode']").await;
    window.click_named("New run").await;
    choose_address(&window).await;
    window
        .choose("Tags", "from a spreadsheet or CSV file")
        .await;
    window.choose_file(&file).await;
    window.see("//p[contains(., '20 rows')]").await;
    window
        .press("//*[@role='dialog']//button[normalize-space()='Create run']")
        .await;
    window
        .see("//p[normalize-space()='Place inlay 1 of 20 on the reader.']")
        .await;
    let watch = Stopwatch::start();
    for number in 1..=CHIPS {
        lay(&desk, &window, blank(number), "good", "Encoded").await;
    }
    window.see("//p[normalize-space()='All 20 encoded.']").await;
    let each = watch.elapsed().as_secs_f64() / f64::from(CHIPS);
    println!("box of 20 chips: {each:.2} s each, from one chip to the next");
    way.done(10, 0);

    let (_, run) = window
        .call("GET", "/admin/v1/encoding-runs/1", &Value::Null)
        .await;
    assert_eq!(run["verified_count"], CHIPS, "{run}");
    // Each chip belongs to its own product.
    for (id, product) in (1..).zip(PRODUCTS) {
        let path = format!("/admin/v1/tags?experience_id={id}&limit=100");
        let (_, tags) = window.call("GET", &path, &Value::Null).await;
        let tags = tags["items"].as_array().unwrap();
        assert!((6..=7).contains(&tags.len()), "{tags:?}");
        let of_product = |tag: &Value| tag["name"].as_str().unwrap().starts_with(product);
        assert!(tags.iter().all(of_product), "{tags:?}");
    }
    window.quit().await;
}
