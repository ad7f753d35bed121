//! URL templates (decisions, "URL templates"): tags that are tapped at other addresses than tag
//! URLs.

mod bluebite;
mod boltcard;
mod by_uid;
mod chips;
mod encoding_sheets;
mod former_lookup;
mod guesses;
mod hosts;
mod keys;
mod management;
mod moving;
mod named;
mod nxp_layout;
mod pasted;
mod places;
mod published;
mod shared_address;
mod slugs;
mod solving;
mod tables;
mod tamper;
mod unlisted;
mod written;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::entropy::{self, OsEntropy};
use tapdesk_service::inlay::check::Read;
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys};
use tapdesk_service::inlay::template::{Lookup, MacStart, Template, TemplateSettings};
use tapdesk_service::inlay::{Technology, Uid};
use tapdesk_tests::client::{Answer, Answering, TapResult};
use tapdesk_tests::fixtures::hex;
use tapdesk_tests::{TestService, TestTag};

/// The host of these templates.
const HOST: &str = "tags.example";

/// A chip that writes its URLs by a template.
struct Chip {
    template: Template,
    uid: Uid,
    keys: InlayKeys,
    counter: u32,
    tamper: &'static str,
    file_data: &'static [u8],
}

impl Chip {
    fn new(settings: TemplateSettings, keys: InlayKeys) -> Self {
        let mut uid = entropy::bytes::<7>(&OsEntropy);
        uid[0] = 0x04;
        Self {
            template: Template::new(settings).unwrap(),
            uid: Uid::from_bytes(uid),
            keys,
            counter: 0,
            tamper: "CC",
            file_data: b"",
        }
    }

    /// Path and query of the read with this counter.
    fn url_at(&self, counter: u32, slug: Option<&str>) -> String {
        let url = self.whole_url_at(counter, slug);
        url.split_once(HOST).unwrap().1.to_owned()
    }

    /// The complete URL of the read with this counter.
    fn whole_url_at(&self, counter: u32, slug: Option<&str>) -> String {
        let read = Read {
            uid: self.uid,
            counter,
            keys: &self.keys,
            picc: None,
            tamper: self.tamper,
            file_data: self.file_data,
            random: entropy::bytes(&OsEntropy),
        };
        let code = self.template.make_code(slug, &read).unwrap();
        self.template.url(slug, &code)
    }

    /// Path and query of the next read.
    fn url(&mut self, slug: Option<&str>) -> String {
        self.counter += 1;
        self.url_at(self.counter, slug)
    }
}

fn key(hex: &str) -> AesKey {
    AesKey::from_hex(&hex.repeat(16)).unwrap()
}

fn aes(meta: &str, file: &str) -> InlayKeys {
    InlayKeys::Aes(Keys {
        meta: Some(key(meta)),
        file: key(file),
    })
}

/// A template of an NTAG 424 DNA.
fn settings(template: &str) -> TemplateSettings {
    TemplateSettings::new(template, Technology::Ntag424Dna)
}

/// The form that sdm-backend made common: one address for all tags.
const ONE_ADDRESS: &str = "https://tags.example/v?picc_data={picc}&cmac={mac}";

/// The body for a template in the admin API.
fn template_json(settings: &TemplateSettings, meta_keys: &[&str]) -> Value {
    let mut template = serde_json::to_value(settings).unwrap();
    template["name"] = json!("Bottles 2024");
    let keys = meta_keys.iter().map(|key| key.repeat(16));
    template["meta_keys"] = keys.collect();
    template
}

async fn template(service: &TestService, settings: &TemplateSettings, keys: &[&str]) -> i64 {
    let created = service
        .admin_create("/url-templates", template_json(settings, keys))
        .await;
    created["id"].as_i64().unwrap()
}

/// The body for the chip's inlay in the admin API.
fn inlay_json(chip: &Chip, template: i64, tag: Option<&TestTag>) -> Value {
    let mut inlay = json!({
        "uid": chip.uid.to_string(), "technology": chip.template.settings().technology,
        "url_template_id": template, "tag_id": tag.map(|tag| tag.id),
    });
    match &chip.keys {
        InlayKeys::None => {}
        InlayKeys::Rolling(key) => inlay["file_key"] = hex(key.expose()).into(),
        InlayKeys::Aes(keys) => {
            inlay["file_key"] = hex(keys.file.expose()).into();
            if let Some(meta) = &keys.meta {
                inlay["meta_key"] = hex(meta.expose()).into();
            }
        }
    }
    inlay
}

/// Opens a path at the templates' host, like a phone.
async fn open(service: &TestService, path: &str) -> Answer {
    send(service, Method::GET, path, &[]).await
}

async fn send(
    service: &TestService,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
) -> Answer {
    let mut request = service.request(method, path).header("host", HOST);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.answer().await
}

async fn tap(service: &TestService, path: &str) -> TapResult {
    TapResult::of(open(service, path).await)
}

/// `tag_verified` and the reason of the newest interaction.
async fn last(service: &TestService) -> (Value, Value) {
    let newest = newest(service).await;
    (newest["tag_verified"].clone(), newest["reason"].clone())
}

async fn newest(service: &TestService) -> Value {
    let page = service.admin_get("/interactions?limit=1").await;
    page["items"][0].clone()
}
