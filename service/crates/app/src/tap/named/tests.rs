//! A code with no valid MAC takes the same work, whether its UID belongs to an inlay or not. The
//! tests count work, which is more reliable than a clock.

use std::sync::atomic::{AtomicUsize, Ordering};

use tracing::span::{Attributes, Id};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt as _};

use super::*;
use crate::s3_server::S3Server;
use crate::service::Parts;
use domain::clock::{Clock, SystemClock};
use domain::entropy::OsEntropy;
use domain::inventory::{
    InlayFields, NewInlay, SealedKey, SealedKeys, SharedKey, SharedKeySource, UnlistedRule,
    UrlTemplateFields,
};
use domain::keyring::Keyring;
use domain::settings::Layers;
use domain::tag::TagFields;
use domain::text::Name;
use inlay::MacFrom;
use inlay::check::Read;
use inlay::effort;
use inlay::key::SomeKey;
use inlay::technology::{Mode, Technology};
use inlay::template::{Addressed, TemplateSettings};
use storage::sqlite::SqliteStorage;

/// Counts the queries to the database.
#[derive(Clone, Default)]
struct Asked(Arc<AtomicUsize>);

impl<S: tracing::Subscriber> Layer<S> for Asked {
    fn on_new_span(&self, span: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        // Each database operation opens its own span.
        if ["storage", "tag_tap"].contains(&span.metadata().name()) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A service with its data in `folder`.
pub(in crate::tap) async fn service(folder: &tempfile::TempDir) -> Arc<Service> {
    let file = folder.path().join("tapdesk.db");
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let storage = SqliteStorage::open(&file, Arc::clone(&clock), &OsEntropy).unwrap();
    let service = Service::new(Parts {
        storage: storage.into(),
        clock,
        entropy: Arc::new(OsEntropy),
        keyring: Keyring::open(&[1; 32]),
        layers: Layers::default(),
        tag_cache: 1 << 20,
        s3_server: S3Server::default(),
    });
    service.await.unwrap()
}

fn uid(number: u8) -> Uid {
    Uid::from_bytes([4, 0x11, 0x22, 0x33, 0x44, 0x55, number])
}

/// Chips whose URLs have this form: one on a tag, one on none, and two that no service knows.
struct World {
    service: Arc<Service>,
    template: Arc<TapTemplate>,
    other: Arc<TapTemplate>,
    tag: TagId,
    asked: Asked,
}

const ON_TAG: u8 = 1;
const LOOSE: u8 = 2;
const OF_OTHER: u8 = 3;
const UNKNOWN: u8 = 4;

fn file_key(technology: Technology, byte: u8) -> SomeKey {
    match technology.family() {
        Family::Sic43Nt => SomeKey::Rolling(Sic43ntKey::from_bytes([byte; 10])),
        _ => SomeKey::Aes(AesKey::from_bytes([byte; 16])),
    }
}

impl World {
    async fn new(folder: &tempfile::TempDir, form: &str, technology: Technology) -> Self {
        let service = service(folder).await;
        let storage = &service.storage;
        let mut templates = Vec::new();
        for path in ["v", "w"] {
            let text = format!("https://tags.example/{path}?{form}");
            let template = Template::new(TemplateSettings::new(text, technology)).unwrap();
            let shared = AesKey::from_bytes([7; 16]);
            let keys = if template.has(Field::Picc) {
                vec![SharedKey {
                    fingerprint: shared.fingerprint(),
                    source: SharedKeySource::Own(
                        service.keyring.wrap(shared.expose(), &OsEntropy).unwrap(),
                    ),
                    opens: true,
                }]
            } else {
                Vec::new()
            };
            // With a key for chips that are no inlays, a wrong code is tried with it, too.
            let file_key = match file_key(technology, 0x44) {
                SomeKey::Aes(key) => {
                    Some(SealedKey::seal(&key, &service.keyring, &OsEntropy).unwrap())
                }
                SomeKey::Rolling(_) => None,
            };
            let unlisted = UnlistedRule {
                file_key,
                ..UnlistedRule::default()
            };
            let name = Name::new("A URL template", path).unwrap();
            let fields = UrlTemplateFields {
                name,
                template,
                keys,
                unlisted,
            };
            templates.push(storage.insert_url_template(fields).await.unwrap().id);
        }
        let mut fields = TagFields::named("Bottle 41".to_owned());
        fields.slug = fields.slug.or_generate(&OsEntropy);
        let tag = storage.insert_tag(fields, false).await.unwrap().0.id;
        for (number, tag_id, template) in [
            (ON_TAG, Some(tag), templates[0]),
            (LOOSE, None, templates[0]),
            (OF_OTHER, Some(tag), templates[1]),
        ] {
            let key = file_key(technology, 0x22);
            let inlay = NewInlay {
                uid: uid(number),
                fields: InlayFields {
                    technology,
                    mode: Mode::Aes,
                    url_template_id: Some(template),
                    tag_id,
                    mirror: None,
                    mac_from: MacFrom::None,
                    keys: Some(SealedKeys::Own {
                        meta: form
                            .contains("{picc}")
                            .then(|| SomeKey::Aes(AesKey::from_bytes([7; 16])))
                            .map(|key| {
                                SealedKey::seal_some(&key, &service.keyring, &OsEntropy).unwrap()
                            }),
                        file: SealedKey::seal_some(&key, &service.keyring, &OsEntropy).unwrap(),
                    }),
                    other_keys: None,
                    blocked_at: None,
                },
                simulated: false,
                last_counter: 0,
            };
            storage.insert_inlay(inlay).await.unwrap();
        }
        let kept = service.templates.current().await.unwrap();
        let [template, other] = [0, 1].map(|index| Arc::clone(kept.get(templates[index]).unwrap()));
        Self {
            service,
            template,
            other,
            tag,
            asked: Asked::default(),
        }
    }

    /// A code of the chip with this number, made with the wrong key.
    fn code(&self, number: u8) -> Filled {
        let technology = self.template.template.settings().technology;
        let keys = match file_key(technology, 0x33) {
            SomeKey::Rolling(key) => InlayKeys::Rolling(key),
            SomeKey::Aes(file) => InlayKeys::Aes(Keys {
                meta: Some(AesKey::from_bytes([7; 16])),
                file,
            }),
        };
        let read = Read {
            uid: uid(number),
            counter: 41,
            keys: &keys,
            picc: None,
            tamper: "00",
            file_data: b"",
            random: [9; 24],
        };
        self.template.template.make_code(None, &read).unwrap()
    }

    /// How many database queries a code causes, and how many blocks and keys are processed.
    async fn work(&self, code: Filled) -> (usize, usize) {
        let mut place = Place::Template {
            template: Arc::clone(&self.template),
            addressed: Box::new(Addressed {
                slug: None,
                code: Ok(Some(code)),
            }),
            path: "/v".to_owned(),
            others: Vec::new(),
        };
        let asked = self.asked.0.load(Ordering::Relaxed);
        let blocks = effort::so_far();
        let named = Named::by(&self.service, Occasion::Visit, &mut place).await;
        assert!(matches!(named, Ok(Named::Nobody)));
        (
            self.asked.0.load(Ordering::Relaxed) - asked,
            effort::so_far() - blocks,
        )
    }
}

#[tokio::test]
async fn a_wrong_code_takes_the_same_work_for_every_uid() {
    for (form, technology) in [
        ("u={uid}&c={counter}&m={mac}", Technology::Ntag424Dna),
        ("p={picc}&m={mac}", Technology::Ntag424Dna),
        ("d={uid}{tamper}{counter}{mac}", Technology::Sic43Nt),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::new(&folder, form, technology).await;
        let subscriber = tracing_subscriber::registry().with(world.asked.clone());
        let _counts = tracing::subscriber::set_default(subscriber);
        assert_ne!(world.template.id, world.other.id);

        let unknown = world.work(world.code(UNKNOWN)).await;
        assert_eq!(unknown.0, 1, "{form}: the database is asked once");
        assert!(unknown.1 > 1, "{form}: a key is opened, and a MAC is made");
        assert_eq!(world.work(world.code(LOOSE)).await, unknown, "{form}");
        // First without its tag in the cache, then with it.
        assert_eq!(world.work(world.code(ON_TAG)).await, unknown, "{form}");
        let at_hand = world.service.tags.get(TagKey::Id(world.tag)).await;
        assert!(at_hand.unwrap().is_some());
        for _ in 0..3 {
            assert_eq!(world.work(world.code(ON_TAG)).await, unknown, "{form}");
            assert_eq!(world.work(world.code(OF_OTHER)).await, unknown, "{form}");
            assert_eq!(world.work(world.code(UNKNOWN)).await, unknown, "{form}");
        }
        if world.template.template.has(Field::Picc) {
            let mut unopened = world.code(UNKNOWN);
            unopened.set(Field::Picc, "00112233445566778899AABBCCDDEEFF");
            assert_eq!(world.work(unopened).await, unknown, "{form}");
        }
        world.service.close().await;
    }
}
