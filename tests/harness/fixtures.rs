//! Experiences, tags and inlays, created through the admin API like an owner does.

use serde_json::{Value, json};
use tapdesk_service::entropy::{self, OsEntropy};
use tapdesk_service::inlay::check::Read;
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys};
use tapdesk_service::inlay::template::{Template, TemplateSettings};
use tapdesk_service::inlay::virtual_inlay::{OneTimeCode, VirtualInlay};
use tapdesk_service::inlay::{MacFrom, Mirror, Technology, Uid};

use crate::client::Client;

/// Default destination of the tests' redirects. It does not exist.
pub const LANDING: &str = "https://owner.example/landing";

/// The members of a URL template that the answers of `solve` also have.
pub const TEMPLATE_MEMBERS: [&str; 7] = [
    "template",
    "technology",
    "mode",
    "mac_from",
    "ndef_prefix",
    "enc_length",
    "tamper_at",
];

/// A tag that was created in a service.
#[derive(Clone, Debug)]
pub struct TestTag {
    /// Its id in the admin API.
    pub id: i64,
    /// The last part of its URL.
    pub slug: String,
}

/// A registered inlay, and the chip that generates its codes.
#[derive(Clone, Debug)]
pub struct TestInlay {
    /// Its id in the admin API.
    pub id: i64,
    /// The chip in software.
    pub chip: VirtualInlay,
}

impl TestTag {
    /// The path of its tag URL.
    pub fn path(&self) -> String {
        if on_templates() {
            return format!("/{}/en", self.slug);
        }
        format!("/t/{}", self.slug)
    }

    /// Path and query of its URL with a one-time code whose MAC input is empty.
    pub fn with(&self, code: &OneTimeCode) -> String {
        let mirror = if code.uid.len() == 14 {
            Mirror::Plain
        } else {
            Mirror::Encrypted
        };
        self.with_window(code, mirror, MacFrom::None)
    }

    fn with_window(
        &self,
        OneTimeCode { uid, token }: &OneTimeCode,
        mirror: Mirror,
        mac_from: MacFrom,
    ) -> String {
        let place = if on_templates() {
            format!("/{}/{}", self.slug, segment(mirror, mac_from))
        } else {
            self.path()
        };
        format!("{place}?uid={uid}&token={token}")
    }

    /// Its path below `/admin/v1`.
    pub fn admin_path(&self) -> String {
        format!("/tags/{}", self.id)
    }
}

impl TestInlay {
    /// The next one-time code.
    ///
    /// # Panics
    /// When the chip's counter is at its end.
    pub fn code(&mut self) -> OneTimeCode {
        self.chip
            .tap(entropy::bytes(&OsEntropy))
            .expect("the counter has room")
    }

    /// The code of the read with this counter.
    pub fn code_at(&self, counter: u32) -> OneTimeCode {
        self.chip.code_at(counter, entropy::bytes(&OsEntropy))
    }

    /// Path and query of the next tap with this inlay on `tag`.
    pub fn url(&mut self, tag: &TestTag) -> String {
        tag.with_window(&self.code(), self.chip.mirror, self.chip.mac_from)
    }
}

/// A chip with its own UID and keys, unknown to any service.
pub fn chip(mirror: Mirror, mac_from: MacFrom) -> VirtualInlay {
    let mut uid = entropy::bytes::<7>(&OsEntropy);
    uid[0] = 0x04;
    let key = || AesKey::from_bytes(entropy::bytes(&OsEntropy));
    VirtualInlay {
        uid: Uid::from_bytes(uid),
        mirror,
        mac_from,
        keys: Keys {
            meta: (mirror == Mirror::Encrypted).then(key),
            file: key(),
        },
        counter: 0,
    }
}

/// The chip as a body for the admin API.
pub fn chip_json(chip: &VirtualInlay) -> Value {
    let mut inlay = json!({
        "uid": chip.uid.to_string(),
        "technology": "ntag424dna",
        "mirror": chip.mirror.as_str(),
        "mac_from": chip.mac_from.as_str(),
        "file_key": hex(chip.keys.file.expose()),
    });
    if let Some(meta) = &chip.keys.meta {
        inlay["meta_key"] = hex(meta.expose()).into();
    }
    inlay
}

/// Bytes in the admin API's hexadecimal form.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02X}").expect("writing into a string does not fail");
        text
    })
}

impl Client {
    /// Creates an experience from its JSON. Returns its id.
    pub async fn experience(&self, experience: Value) -> i64 {
        id(&self.admin_create("/experiences", experience).await)
    }

    /// Creates and publishes a redirect to `target`. Returns its id.
    pub async fn redirect(&self, target: &str) -> i64 {
        self.experience(json!({"name": "Redirect", "kind": "redirect", "target_url": target}))
            .await
    }

    /// Creates a tag from its JSON.
    pub async fn tag(&self, tag: Value) -> TestTag {
        if on_templates() {
            self.url_templates().await;
        }
        let tag = self.admin_create("/tags", tag).await;
        TestTag {
            id: id(&tag),
            slug: tag["slug"].as_str().expect("a tag has a slug").to_owned(),
        }
    }

    /// A tag that redirects to [`LANDING`], and whose variable `registered` is `false`. `more` adds
    /// or replaces members.
    pub async fn redirecting_tag(&self, more: Value) -> TestTag {
        self.tag_to(LANDING, more).await
    }

    /// The same with another target.
    pub async fn tag_to(&self, target: &str, more: Value) -> TestTag {
        let mut tag = json!({
            "name": "Bottle 41",
            "experience_id": self.redirect(target).await,
            "variables": {"registered": "false"},
        });
        if let (Some(tag), Value::Object(more)) = (tag.as_object_mut(), more) {
            tag.extend(more);
        }
        self.tag(tag).await
    }

    /// Creates an inlay from its JSON. Returns its id.
    pub async fn inlay(&self, inlay: Value) -> i64 {
        id(&self.admin_create("/inlays", inlay).await)
    }

    /// A new rolling-code inlay on `tag`.
    pub async fn rolling_inlay(
        &self,
        tag: &TestTag,
        mirror: Mirror,
        mac_from: MacFrom,
    ) -> TestInlay {
        self.register(chip(mirror, mac_from), tag).await
    }

    /// Registers `chip` as an inlay of `tag`.
    pub async fn register(&self, chip: VirtualInlay, tag: &TestTag) -> TestInlay {
        let mut inlay = chip_json(&chip);
        inlay["tag_id"] = tag.id.into();
        if on_templates() {
            inlay["url_template_id"] = self.url_template(chip.mirror, chip.mac_from).await.into();
            if let Some(inlay) = inlay.as_object_mut() {
                // The template contains both settings.
                inlay.remove("mirror");
                inlay.remove("mac_from");
            }
        }
        TestInlay {
            id: self.inlay(inlay).await,
            chip,
        }
    }

    /// The templates of this service, which are created if there are none.
    async fn url_templates(&self) -> Value {
        let found = self.admin_get("/url-templates").await["items"].clone();
        if found.as_array().is_some_and(|found| !found.is_empty()) {
            return found;
        }
        for (mirror, code, start) in [
            (Mirror::Plain, "uid={uid}&token={counter}{mac}", "uid"),
            (Mirror::Encrypted, "uid={picc}&token={mac}", "picc"),
        ] {
            for mac_from in [MacFrom::None, MacFrom::Uid] {
                let place = segment(mirror, mac_from);
                let start = if mac_from == MacFrom::None {
                    "none"
                } else {
                    start
                };
                let template = json!({
                    "name": place, "technology": "ntag424dna", "mac_from": start,
                    "template": format!("https://{TEMPLATE_HOST}/{{slug}}/{place}?{code}"),
                });
                self.admin_create("/url-templates", template).await;
            }
        }
        self.admin_get("/url-templates").await["items"].clone()
    }

    /// The id of the template for these codes.
    async fn url_template(&self, mirror: Mirror, mac_from: MacFrom) -> i64 {
        let templates = self.url_templates().await;
        let templates = templates.as_array().expect("a list");
        let name = json!(segment(mirror, mac_from));
        let template = templates.iter().find(|template| template["name"] == name);
        id(template.expect("a template for each kind of code"))
    }

    /// The URL of a tag with such an inlay, without the one-time part.
    pub fn address(&self, slug: &str, mirror: Mirror, mac_from: MacFrom) -> String {
        if on_templates() {
            let place = segment(mirror, mac_from);
            return format!("https://{TEMPLATE_HOST}/{slug}/{place}");
        }
        format!("{}/t/{slug}", self.base())
    }

    /// The usual case: a [redirecting tag](Self::redirecting_tag) with an inlay
    /// of the encrypted mirror and the empty MAC window.
    pub async fn bottle(&self) -> (TestTag, TestInlay) {
        let tag = self.redirecting_tag(Value::Null).await;
        let inlay = self
            .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
            .await;
        (tag, inlay)
    }

    /// The value of a tag's variable; `None` if the tag has none of that name.
    pub async fn variable(&self, tag: &TestTag, key: &str) -> Option<String> {
        let tag = self.admin_get(&tag.admin_path()).await;
        tag["variables"][key].as_str().map(str::to_owned)
    }

    /// The number of recorded taps of a tag.
    pub async fn scan_count(&self, tag: &TestTag) -> u64 {
        let tag = self.admin_get(&tag.admin_path()).await;
        tag["scan_count"].as_u64().expect("a tag has a scan count")
    }
}

/// The host of the tests' URL templates.
pub const TEMPLATE_HOST: &str = "tags.example";

/// The URLs of chips that are no inlays.
const UNLISTED: &str = "https://tags.example/unlisted?uid={uid}&ctr={counter}&cmac={mac}";

/// A URL template whose chips share a file key, so that it knows chips that are no inlays.
///
/// # Panics
///
/// When `more` is no object.
pub fn unlisted_template(more: &Value) -> Value {
    let mut template = json!({
        "name": "Bottles", "template": UNLISTED, "technology": "ntag424dna",
        "shared_file_key": "22".repeat(16),
    });
    let members = template.as_object_mut().expect("it is an object");
    members.extend(more.as_object().expect("they are members").clone());
    template
}

/// The UID of the chip of this template with this number.
pub fn unlisted_uid(number: u8) -> Uid {
    Uid::from_bytes([4, 0x11, 0x22, 0x33, 0x44, 0x55, number])
}

/// Path and query of a read of that chip.
///
/// # Panics
///
/// Never: the chip has the keys that its template needs.
pub fn unlisted_url(number: u8, counter: u32) -> String {
    let settings = TemplateSettings::new(UNLISTED, Technology::Ntag424Dna);
    let template = Template::new(settings).expect("a chip can write it");
    let keys = InlayKeys::Aes(Keys {
        meta: None,
        file: AesKey::from_bytes([0x22; 16]),
    });
    let read = Read {
        uid: unlisted_uid(number),
        counter,
        keys: &keys,
        picc: None,
        tamper: "",
        file_data: b"",
        random: [9; 24],
    };
    let code = template.make_code(None, &read).expect("it has the keys");
    let url = template.url(None, &code);
    let (_, path) = url.split_once(TEMPLATE_HOST).expect("it has the host");
    path.to_owned()
}

/// Whether `TAPDESK_TEST_URLS` selects URL templates for the taps. The chips and their codes are
/// the same; only their place in the URL differs.
pub fn on_templates() -> bool {
    std::env::var("TAPDESK_TEST_URLS").is_ok_and(|urls| urls == "template")
}

/// The path segment after the slug: each kind of code has its own template.
fn segment(mirror: Mirror, mac_from: MacFrom) -> &'static str {
    match (mirror, mac_from) {
        (Mirror::Plain, MacFrom::None) => "pn",
        (Mirror::Plain, MacFrom::Uid) => "pu",
        (Mirror::Encrypted, MacFrom::None) => "en",
        (Mirror::Encrypted, MacFrom::Uid) => "eu",
    }
}

fn id(created: &Value) -> i64 {
    created["id"].as_i64().expect("what is created has an id")
}
