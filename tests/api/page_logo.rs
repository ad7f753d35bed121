//! `/admin/v1/settings/logo`, and the logo on pages.

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_tests::{Answer, Answering as _, TestService};

const PATH: &str = "/settings/logo";

/// A picture of `width` x 2 pixels.
fn png(width: u32) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = image::RgbImage::from_pixel(width, 2, image::Rgb([200, 40, 40]));
    let written = picture.write_to(&mut bytes, image::ImageFormat::Png);
    written.expect("a picture can be written");
    bytes.into_inner()
}

async fn put(service: &TestService, bytes: Vec<u8>) -> Answer {
    let request = service.admin_request(Method::PUT, PATH);
    request.body(bytes).answer().await
}

/// The newest row of the audit log.
async fn newest_row(service: &TestService) -> Value {
    service.admin_get("/audit?limit=1").await["items"][0].clone()
}

/// The address of the logo on the page of an unknown tag.
async fn shown(service: &TestService) -> Option<String> {
    let page = service.get("/t/nobody-has-this").answer().await;
    let (_, after) = page.body.split_once("<img class=\"logo\" src=\"")?;
    Some(after.split('"').next()?.to_owned())
}

#[tokio::test]
async fn a_logo_is_on_plain_pages_until_it_is_deleted() {
    let service = TestService::start().await;
    let get = async || service.admin(Method::GET, PATH, Value::Null).await.status;
    assert_eq!((shown(&service).await, get().await), (None, 404));
    let saved = put(&service, png(3)).await.expect(200);
    assert_eq!(saved["type"], "image/png");
    let settings = service.admin_get("/settings").await;
    assert_eq!(settings["pages"]["logo"], saved);
    assert_eq!(settings["pages"]["source"], "default");

    let address = shown(&service).await.expect("a logo");
    let answer = service.get(&address).send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "image/png");
    assert_eq!(header("x-content-type-options"), "nosniff");
    let policy = header("content-security-policy");
    assert_eq!(policy, "default-src 'none'; sandbox");
    assert!(header("cache-control").contains("immutable"));
    let bytes = answer.bytes().await.expect("a body");
    let picture = image::load_from_memory(&bytes).expect("a picture");
    assert_eq!((picture.width(), picture.height()), (3, 2));

    // The same logo again is no change.
    let row = newest_row(&service).await;
    assert_eq!(put(&service, png(3)).await.expect(200), saved);
    assert_eq!(newest_row(&service).await, row);
    // Another one has another address, and the former one is gone.
    put(&service, png(4)).await.expect(200);
    let other = shown(&service).await.expect("a logo");
    assert_ne!(other, address);
    assert_eq!(service.get(&address).answer().await.status, 404);

    let service = service.restart(0).await;
    assert_eq!(shown(&service).await, Some(other));
    let delete = async || {
        let answer = service.admin(Method::DELETE, PATH, Value::Null).await;
        answer.status
    };
    assert_eq!((delete().await, delete().await), (204, 404));
    assert_eq!(shown(&service).await, None);
}

#[tokio::test]
async fn what_is_no_picture_or_too_large_is_no_logo() {
    let service = TestService::start().await;
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script/></svg>".to_vec();
    put(&service, svg).await.expect(415);
    // A picture of 90 megapixels, of which only the head is read.
    let mut large = png(3);
    large[16..20].copy_from_slice(&9_000_u32.to_be_bytes());
    large[20..24].copy_from_slice(&10_000_u32.to_be_bytes());
    let checksum = crc32(&large[12..29]);
    large[29..33].copy_from_slice(&checksum.to_be_bytes());
    let refused = put(&service, large).await.expect(422);
    let detail = refused["detail"].as_str().expect("a text");
    assert!(detail.contains("9000 x 10000 pixels"), "{detail}");
    let settings = service.admin_get("/settings").await;
    assert_eq!(settings["pages"]["logo"], json!(null));
}

/// The checksum of a PNG's chunk (ISO 3309), bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let rest = bytes.iter().fold(u32::MAX, |mut rest, byte| {
        rest ^= u32::from(*byte);
        for _ in 0..8 {
            let low = rest & 1;
            rest = (rest >> 1) ^ (0xEDB8_8320 * low);
        }
        rest
    });
    !rest
}
