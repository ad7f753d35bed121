//! `/admin/v1/phones`, and the phones of staff themselves.

mod figures;
mod forms;
mod notes;
mod pairing;
mod sheets;
mod taps;

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use tapdesk_tests::fixtures::{TEMPLATE_HOST, on_templates};
use tapdesk_tests::{Answer, Answering as _, Client, TapResult, TestService};

/// A paired phone: a browser with its cookie.
pub(super) struct Phone {
    id: i64,
    cookie: String,
    client: Client,
}

/// The origin of the pages at the host of taps.
fn origin(client: &Client) -> String {
    if on_templates() {
        format!("https://{TEMPLATE_HOST}")
    } else {
        client.base().to_owned()
    }
}

/// The path of a pair URL.
fn path_of(created: &Value) -> String {
    let url = created["pair_url"].as_str().expect("a pair URL");
    let at = url.find("/staff/").expect("it is below /staff");
    url[at..].to_owned()
}

/// Presses the button of the page of a pair URL.
async fn press(client: &Client, path: &str) -> Answer {
    let request = client.post(path).header("origin", origin(client));
    request.answer().await
}

async fn create(service: &TestService, scopes: &[&str], more: Value) -> Value {
    let mut phone = json!({"name": "Bench", "scopes": scopes});
    if let Some(more) = more.as_object() {
        phone
            .as_object_mut()
            .expect("an object")
            .extend(more.clone());
    }
    service.admin_create("/phones", phone).await
}

/// A JPEG of 3 x 2 pixels whose camera wrote where it was.
fn jpeg() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let picture = image::RgbImage::from_pixel(3, 2, image::Rgb([200, 40, 40]));
    let written = picture.write_to(&mut bytes, image::ImageFormat::Jpeg);
    written.expect("a picture can be written");
    let bytes = bytes.into_inner();
    let exif = b"Exif\0\0GPSLatitude";
    let length = u16::try_from(exif.len() + 2).expect("it is short");
    let (start, rest) = bytes.split_at(2);
    let length = length.to_be_bytes();
    let parts: [&[u8]; 5] = [start, &[0xFF, 0xE1], &length, exif, rest];
    parts.concat()
}

/// A new sheet; returns its id.
async fn sheet(service: &TestService, name: &str) -> String {
    let sheet = service.admin_create("/sheets", json!({"name": name})).await;
    sheet["id"].to_string()
}

/// A new phone with these scopes, already paired.
pub(super) async fn phone(service: &TestService, scopes: &[&str]) -> Phone {
    phone_with(service, scopes, Value::Null).await
}

async fn phone_with(service: &TestService, scopes: &[&str], more: Value) -> Phone {
    let created = create(service, scopes, more).await;
    let answer = press(service, &path_of(&created)).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let cookie = answer.header("set-cookie").expect("a cookie");
    let cookie = cookie.split(';').next().expect("a pair").to_owned();
    Phone {
        id: created["id"].as_i64().expect("an id"),
        cookie,
        client: service.another(),
    }
}

impl Phone {
    async fn tap(&self, url: &str) -> TapResult {
        self.client.tap_with_cookie(url, &self.cookie).await
    }

    /// Taps, and returns the path of the staff page.
    pub(super) async fn staff_tap(&self, url: &str) -> String {
        let tap = self.tap(url).await;
        assert_eq!(tap.status, 303, "{:?}", tap.answer);
        let location = tap.location.expect("a page");
        assert!(location.starts_with("/staff/taps/"), "{location}");
        location
    }

    async fn open(&self, path: &str) -> Answer {
        let request = self.client.get(path).header("cookie", &self.cookie);
        request.answer().await
    }

    /// The token of the forms on a page.
    pub(super) async fn token(&self, path: &str) -> String {
        let page = self.open(path).await;
        assert_eq!(page.status, 200, "{}", page.body);
        let (_, rest) = page
            .body
            .split_once(r#"name="token" value=""#)
            .expect("a form");
        rest.split('"').next().expect("a value").to_owned()
    }

    /// A form of the page at `path`, as its browser sends it.
    fn form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let request = self.client.post_form(path, fields);
        let request = request.header("origin", origin(&self.client));
        request.header("cookie", &self.cookie)
    }

    /// Sends a form with a file, as a browser does.
    pub(super) async fn form_with_photo(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        photo: &[u8],
    ) -> Answer {
        self.form_in_order(path, fields, photo, &[]).await
    }

    /// The same with fields before and behind the file, which browsers send in the order of the page.
    async fn form_in_order(
        &self,
        path: &str,
        before: &[(&str, &str)],
        photo: &[u8],
        behind: &[(&str, &str)],
    ) -> Answer {
        let texts = |fields: &[(&str, &str)]| {
            let texts = fields.iter().map(|(name, value)| {
                format!(
                    "--edge\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
                )
            });
            texts.collect::<String>().into_bytes()
        };
        let mut body = texts(before);
        body.extend(
            b"--edge\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"a.jpg\"\r\n",
        );
        body.extend(b"Content-Type: image/jpeg\r\n\r\n");
        body.extend(photo);
        body.extend(b"\r\n");
        body.extend(texts(behind));
        body.extend(b"--edge--\r\n");
        let request = self.client.post(path).body(body);
        let request = request.header("content-type", "multipart/form-data; boundary=edge");
        let request = request.header("origin", origin(&self.client));
        request.header("cookie", &self.cookie).answer().await
    }

    /// Sends a form of the page at `path` with its token.
    async fn send(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let token = self.token(path).await;
        let mut all = vec![("token", token.as_str())];
        all.extend(fields);
        self.form(path, &all).answer().await
    }

    async fn end(&self, service: &TestService) {
        let path = format!("/phones/{}", self.id);
        let ended = service.admin(Method::DELETE, &path, Value::Null).await;
        assert_eq!(ended.status, 204, "{}", ended.body);
    }
}
