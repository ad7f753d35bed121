//! Tags that are found at URL templates: by a slug, by the UID in clear, or by PICC data that one
//! of the template's shared meta keys opens; and chips that are no inlays, found by a key that all
//! chips share. A million inlays share the address. Each way alternates with the slug.

use std::time::Duration;

use anyhow::{Result, ensure};
use tapdesk_service::entropy::{OsEntropy, SeededEntropy, bytes};
use tapdesk_service::id::UrlTemplateId;
use tapdesk_service::inlay::Technology;
use tapdesk_service::inlay::check::Read;
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys};
use tapdesk_service::inlay::technology::Mode;
use tapdesk_service::inlay::template::{Template, TemplateSettings};
use tapdesk_service::inventory::{
    CREATE_LIMIT_MAX, ChipPlace, SealedKey, SharedKey, SharedKeySource, UnlistedMode, UnlistedRule,
    UrlTemplateFields,
};
use tapdesk_service::storage::ExperienceFilter;
use tapdesk_service::text::Name;

use crate::CONNECTIONS;
use crate::fixture::{FILE_KEY, Fixture, slug, uid};
use crate::load::{self, Case, Supply};
use crate::server::{self, Server};
use crate::visitors::{Visitors, request};

/// Number of inlays behind the address.
const TAGS: u32 = 1_000_000;
/// The variable that sets a smaller number, to try the benchmark.
const FEWER: &str = "TAPDESK_BENCH_TAGS";
/// Number of rounds; odd, so that one of them is the median. With those of the other parts, and
/// their longer turns, this part would take ten minutes.
const ROUNDS: usize = 3;
/// Duration of a turn.
const TURN: Duration = Duration::from_millis(600);
/// Taps that are prepared per connection and turn. Preparing one in LRP mode takes about 0.1 ms.
const TAPS: usize = 300;
/// The URL template of all inlays: the first one of its database.
const TEMPLATE: UrlTemplateId = UrlTemplateId::new(1);
const HOST: &str = "tags.example";
/// The numbers of chips that are no inlays, and that are not listed as such.
const NEWCOMERS: u32 = 1 << 30;
/// The meta key that all inlays share.
const META_KEY: [u8; 16] = [0xa5; 16];

/// The way to find a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Slug,
    /// By its slug, by the earlier build of the service.
    SlugBefore,
    /// By its slug in capitals, which is found in another case.
    Capitals,
    /// By its slug, where the experience and the texts come from groups, four levels above it.
    Grouped,
    Uid,
    /// By PICC data in AES mode with this number of shared keys, of which the last one fits.
    Picc(u8),
    /// The same in LRP mode.
    Lrp(u8),
    /// By PICC data of unknown keys, which find nothing, with this number of shared keys.
    Nothing(u8),
    /// First taps of chips that are no inlays, beside this number of unlisted chips. They are kept.
    Unlisted(u32),
    /// The same, and each tap creates its tag.
    Created,
}

/// All ways, the slug first.
const WAYS: [Way; 13] = [
    Way::Slug,
    Way::SlugBefore,
    Way::Capitals,
    Way::Grouped,
    Way::Uid,
    Way::Picc(1),
    Way::Picc(64),
    Way::Nothing(64),
    Way::Lrp(1),
    Way::Lrp(4),
    Way::Unlisted(0),
    Way::Unlisted(TAGS),
    Way::Created,
];

/// The cost of one way, and of the slug next to it.
pub(crate) struct Found {
    pub(crate) way: Way,
    pub(crate) rounds: Vec<Beside>,
}

/// A turn of a way, and the turn of the slug before it.
#[derive(Clone, Copy)]
pub(crate) struct Beside {
    pub(crate) ours: Turn,
    pub(crate) slug: Turn,
}

/// The figures of one turn.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    /// How many requests are answered per second.
    pub(crate) rate: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    /// The server's processor time per response.
    pub(crate) cpu: Duration,
}

impl Way {
    /// The name in the table.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Slug => "by its slug".to_owned(),
            Self::SlugBefore => "by its slug, by the earlier build".to_owned(),
            Self::Capitals => "by its slug in capitals".to_owned(),
            Self::Grouped => "by its slug, led by groups of four levels".to_owned(),
            Self::Uid => "by the UID in clear".to_owned(),
            Self::Picc(keys) => format!("by PICC data, {keys} AES keys"),
            Self::Lrp(keys) => format!("by PICC data, {keys} LRP keys"),
            Self::Nothing(keys) => format!("nobody: PICC data of other keys, {keys} AES keys"),
            Self::Unlisted(0) => "first tap of an unlisted chip".to_owned(),
            Self::Unlisted(chips) => format!("the same, beside {chips} unlisted chips"),
            Self::Created => "first tap that creates its tag".to_owned(),
        }
    }

    fn case(self) -> Case {
        match self {
            Self::Nothing(_) | Self::Unlisted(_) => Case::Nobody,
            _ => Case::Tap,
        }
    }

    const fn is_lrp(self) -> bool {
        matches!(self, Self::Lrp(_))
    }

    fn keys(self) -> u8 {
        match self {
            Self::Slug
            | Self::SlugBefore
            | Self::Capitals
            | Self::Grouped
            | Self::Uid
            | Self::Unlisted(_)
            | Self::Created => 0,
            Self::Picc(keys) | Self::Lrp(keys) | Self::Nothing(keys) => keys,
        }
    }

    fn template(self) -> Result<Template> {
        let text = match self {
            Self::Slug | Self::SlugBefore | Self::Capitals | Self::Grouped => {
                "https://tags.example/{slug}?picc_data={picc}&cmac={mac}"
            }
            Self::Uid | Self::Unlisted(_) | Self::Created => {
                "https://tags.example/v?uid={uid}&ctr={counter}&cmac={mac}"
            }
            _ => "https://tags.example/v?picc_data={picc}&cmac={mac}",
        };
        let mut settings = TemplateSettings::new(text, Technology::Ntag424Dna);
        if self.is_lrp() {
            settings.mode = Mode::Lrp;
        }
        Ok(Template::new(settings)?)
    }
}

/// A server whose tags are found in one way, and its visitors.
struct Seat {
    way: Way,
    template: Template,
    server: Server,
    visitors: Visitors,
    /// The chips' source of randomness.
    random: SeededEntropy,
    keys: InlayKeys,
    /// The number of chips that were tapped first, for ways in which each tap is a first one.
    newcomers: u32,
    /// The database, which is deleted with this.
    _fixture: Fixture,
}

/// Measures each way by which a URL names a tag.
pub(crate) async fn each() -> Result<Vec<Found>> {
    let tags = match std::env::var(FEWER) {
        Ok(fewer) => fewer.parse()?,
        Err(_) => TAGS,
    };
    // A million inlays are updated once for each mode, and then copied.
    let tags = Fixture::sqlite(tags).await?;
    let meta_key = tags.keyring()?.wrap(&META_KEY, &OsEntropy)?;
    tags.at_template(TEMPLATE, Mode::Aes, &meta_key)?;
    let of_lrp = tags.copied()?;
    of_lrp.at_template(TEMPLATE, Mode::Lrp, &meta_key)?;
    let mut slug = Seat::new(Way::Slug, tags.copied()?).await?;
    let mut found = Vec::new();
    for way in WAYS {
        if way == Way::SlugBefore && server::before().is_none() {
            continue;
        }
        eprintln!("{}", way.name());
        // The slug compared with itself shows the random difference between two turns.
        let tags = if way.is_lrp() { &of_lrp } else { &tags };
        let mut seat = Seat::new(way, tags.copied()?).await?;
        let mut rounds = Vec::new();
        for round in 0..=ROUNDS {
            let beside = Beside {
                slug: slug.turn().await?,
                ours: seat.turn().await?,
            };
            // The first turn only warms up caches.
            if round > 0 {
                rounds.push(beside);
            }
        }
        found.push(Found { way, rounds });
    }
    Ok(found)
}

impl Seat {
    async fn new(way: Way, fixture: Fixture) -> Result<Self> {
        let template = way.template()?;
        let keyring = fixture.keyring()?;
        let others = (1..way.keys()).map(|other| [other; 16]);
        let keys = others.chain((way.keys() > 0).then_some(META_KEY));
        let keys = keys.map(|key| {
            Ok(SharedKey {
                fingerprint: AesKey::from_bytes(key).fingerprint(),
                source: SharedKeySource::Own(keyring.wrap(&key, &OsEntropy)?),
                opens: true,
            })
        });
        let storage = fixture.open().await?;
        let experience = storage
            .as_service()
            .experiences(ExperienceFilter::default(), None, 1)
            .await?;
        let unlisted = match way {
            Way::Unlisted(_) | Way::Created => UnlistedRule {
                mode: match way {
                    Way::Created => UnlistedMode::Create,
                    _ => UnlistedMode::Refuse,
                },
                create_limit: CREATE_LIMIT_MAX,
                place: ChipPlace {
                    experience_id: experience.first().map(|experience| experience.id),
                    group_id: None,
                },
                file_key: Some(SealedKey::seal(
                    &AesKey::from_bytes(FILE_KEY),
                    &keyring,
                    &OsEntropy,
                )?),
            },
            _ => UnlistedRule::default(),
        };
        let stored = storage
            .as_service()
            .insert_url_template(UrlTemplateFields {
                name: Name::new("A URL template", way.name())?,
                template: template.clone(),
                keys: keys.collect::<Result<_>>()?,
                unlisted,
            })
            .await?;
        storage.close().await;
        ensure!(stored.id == TEMPLATE, "the inlays have another template");
        if let Way::Unlisted(chips) = way {
            fixture.with_unlisted_chips(stored.id, chips)?;
        }
        if way == Way::Grouped {
            fixture.in_groups()?;
        }
        let meta = match way {
            Way::Nothing(_) => [0x77; 16],
            _ => META_KEY,
        };
        let server = match (way, server::before()) {
            (Way::SlugBefore, Some(build)) => Server::of_build(&build, &fixture)?,
            _ => Server::service(&fixture)?,
        };
        server.rests().await?;
        Ok(Self {
            way,
            template,
            server,
            visitors: Visitors::of(&fixture, CONNECTIONS),
            random: SeededEntropy::new(7),
            keys: InlayKeys::Aes(Keys {
                meta: Some(AesKey::from_bytes(meta)),
                file: AesKey::from_bytes(FILE_KEY),
            }),
            newcomers: 0,
            _fixture: fixture,
        })
    }

    async fn turn(&mut self) -> Result<Turn> {
        let supplies = (0..CONNECTIONS).map(|connection| {
            let taps = (0..TAPS).map(|_| self.tap(connection));
            Supply::once(taps.collect())
        });
        let supplies = supplies.collect();
        let before = self.server.cpu()?;
        let load = load::run(&[self.server.address], self.way.case(), supplies, TURN).await?;
        let cpu = self.server.cpu()?.saturating_sub(before);
        Ok(Turn {
            rate: load.rate(),
            p50: load.percentile(50),
            p99: load.percentile(99),
            cpu: cpu.div_f64(load.answers()),
        })
    }

    fn tap(&mut self, connection: u32) -> Vec<u8> {
        let (id, counter) = match self.way {
            Way::Unlisted(_) | Way::Created => {
                self.newcomers += 1;
                (NEWCOMERS + self.newcomers, 1)
            }
            _ => self.visitors.tap(connection),
        };
        let read = Read {
            uid: uid(id),
            counter,
            keys: &self.keys,
            picc: None,
            tamper: "",
            file_data: &[],
            random: bytes(&self.random),
        };
        let slug = slug(id);
        let code = self.template.make_code(Some(&slug), &read);
        let code = code.expect("the chip has keys of its kind");
        let url = self.template.url(Some(&slug), &code);
        let (_, path) = url.split_once(HOST).expect("the host is the template's");
        let path = match self.way {
            Way::Capitals => path.replacen(&slug, &slug.to_uppercase(), 1),
            _ => path.to_owned(),
        };
        request("GET", &path, HOST, u64::from(id % 16), "")
    }
}
