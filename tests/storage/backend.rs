//! A backend for the tests, and one of its databases.

use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;
use tapdesk_service::clock::{Clock, ManualClock, Millis, Timestamp};
use tapdesk_service::entropy::{self, Entropy, SeededEntropy};
use tapdesk_service::experience::{Content, ExperienceFields};
use tapdesk_service::id::{ExperienceId, InlayId, InteractionId, TagId};
use tapdesk_service::inlay::key::KeyFingerprint;
use tapdesk_service::inlay::technology::Mode;
use tapdesk_service::inlay::{MacFrom, Mirror, Technology, Uid};
use tapdesk_service::interaction::{
    Claim, Client, ClientId, CounterRule, KnownAt, NewInteraction, NewKey, Recorded, TapOrigin,
    Tech, Unchecked, Verdict,
};
use tapdesk_service::inventory::{InlayFields, NewInlay, SealedKey, SealedKeys};
use tapdesk_service::rolling_key::{self, KeyHash};
use tapdesk_service::storage::{Access, Storage, VariableUpdate};
use tapdesk_service::tag::{PropertyClass, PropertyKey, TagFields};
use tapdesk_tests::eventually;

/// A kind of storage: the place of its databases, and the way to open them.
pub(super) trait Backend {
    /// The place for a new database, which does not exist yet.
    fn new() -> Self;

    /// Opens the database, or creates it. The one opened before must be closed and dropped.
    fn open(&self, clock: Arc<dyn Clock>, entropy: &dyn Entropy) -> impl Future<Output = Storage>;

    /// Makes the database refuse writes to a table, or stops that.
    fn refuse(&self, table: &str, refuses: bool) -> impl Future<Output = ()>;

    /// Folds a few rows of taps, if this kind of storage folds. Returns whether more are left.
    fn fold(&self) -> impl Future<Output = bool> {
        std::future::ready(false)
    }
}

/// 2026-01-01T00:00:00Z, the time at which every test begins.
pub(super) const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);
pub(super) const MINUTE: i64 = 60_000;
pub(super) const DAY: i64 = 24 * 60 * MINUTE;
/// The lifetime of a rolling key, in milliseconds.
pub(super) const LIFETIME: i64 = rolling_key::LIFETIME.get();

/// Waits until a database is ready: on a busy machine, its answer may come too late.
pub(super) async fn is_ready(storage: &Access) {
    eventually("the database is ready", async || storage.ready().await.ok()).await;
}

/// An open database, and its operations for the service itself.
#[derive(Clone)]
pub(super) struct Opened {
    pub database: Storage,
    access: Access,
}

impl Opened {
    /// Closes the database, as a service that ends.
    pub(super) async fn close(&self) {
        self.database.close().await;
    }
}

impl<S: Into<Storage>> From<S> for Opened {
    fn from(storage: S) -> Self {
        let database = storage.into();
        Self {
            access: database.as_service(),
            database,
        }
    }
}

impl Deref for Opened {
    type Target = Access;

    fn deref(&self) -> &Access {
        &self.access
    }
}

/// An open database of a backend, and its clock.
pub(super) struct Database<B> {
    backend: B,
    pub clock: Arc<ManualClock>,
    entropy: SeededEntropy,
    storage: Option<Opened>,
}

impl<B> Deref for Database<B> {
    type Target = Opened;

    fn deref(&self) -> &Opened {
        self.storage
            .as_ref()
            .expect("open but while it is reopened")
    }
}

impl<B: Backend> Database<B> {
    /// A new database, at [`START`].
    pub(super) async fn create() -> Self {
        let mut database = Self {
            backend: B::new(),
            clock: Arc::new(ManualClock::new(START)),
            entropy: SeededEntropy::new(0),
            storage: None,
        };
        database.open().await;
        database
    }

    async fn open(&mut self) {
        let clock: Arc<dyn Clock> = Arc::clone(&self.clock) as _;
        self.storage = Some(self.backend.open(clock, &self.entropy).await.into());
    }

    /// Closes and opens it again, like a restart of the service.
    pub(super) async fn reopen(&mut self) {
        if let Some(storage) = self.storage.take() {
            storage.close().await;
        }
        self.open().await;
    }

    /// Opens it again without closing it, like a start after a crash.
    pub(super) async fn crash(&mut self) {
        self.storage = None;
        self.open().await;
    }

    /// Closes it, and opens it with a wall clock at `now`.
    pub(super) async fn reopen_at(&mut self, now: Timestamp) {
        self.clock = Arc::new(ManualClock::new(now));
        self.reopen().await;
    }

    pub(super) fn backend(&self) -> &B {
        &self.backend
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Moves the clock by so many milliseconds.
    pub(super) fn advance(&self, millis: i64) {
        self.clock.advance(Millis::new(millis));
    }

    /// Stores a real tag from its JSON.
    pub(super) async fn tag(&self, fields: Value) -> TagId {
        self.insert(fields, false).await
    }

    /// Stores a simulated tag from its JSON.
    pub(super) async fn simulated_tag(&self, fields: Value) -> TagId {
        self.insert(fields, true).await
    }

    async fn insert(&self, fields: Value, simulated: bool) -> TagId {
        let inserted = self.insert_tags(vec![tag_fields(fields)], simulated).await;
        inserted.unwrap().pop().unwrap().unwrap()
    }

    /// Publishes a redirect to a page with this name.
    pub(super) async fn experience(&self, page: &str) -> ExperienceId {
        let fields = redirect(page);
        self.insert_experience(fields, true).await.unwrap().id
    }

    /// Stores a tag that leads to an experience and has the variable `registered`.
    pub(super) async fn registrable(&self, slug: &str, more: Value) -> TagId {
        let mut fields = more;
        fields["slug"] = slug.into();
        fields["experience_id"] = self.experience(slug).await.get().into();
        fields["variables"]["registered"] = "no".into();
        self.tag(fields).await
    }

    /// The value of a tag's variable `registered`.
    pub(super) async fn registered(&self, tag: TagId) -> String {
        let variables = self.properties(tag, PropertyClass::Variable).await.unwrap();
        variables.get("registered").unwrap().to_owned()
    }

    /// Stores an inlay on `tag`, real or simulated like the tag.
    pub(super) async fn inlay_on(&self, tag: TagId, number: u8) -> InlayId {
        let simulated = self.storage().tag(tag).await.unwrap().unwrap().simulated;
        let inlay = NewInlay {
            simulated,
            ..inlay(number, Some(tag))
        };
        self.insert_inlay(inlay).await.unwrap().id
    }

    /// Records a tap that gets a key.
    pub(super) async fn tap(&self, tap: Tap) -> Tapped {
        let hash = KeyHash(entropy::bytes(&self.entropy));
        let recorded = self.record_tap(tap.interaction(hash)).await.unwrap();
        Tapped {
            id: recorded.id,
            hash,
            recorded,
        }
    }

    /// The storage itself, for methods whose names are the same as here.
    pub(super) fn storage(&self) -> &Access {
        self
    }
}

/// A tag from its JSON; a missing name or slug is added.
pub(super) fn tag_fields(mut fields: Value) -> TagFields {
    let slug = fields["slug"].as_str().unwrap_or("bottle").to_owned();
    fields["slug"] = slug.clone().into();
    if fields["name"].is_null() {
        fields["name"] = slug.into();
    }
    serde_json::from_value(fields).unwrap()
}

/// An experience that redirects to a page with this name.
pub(super) fn redirect(page: &str) -> ExperienceFields {
    let json = format!(r#"{{"kind": "redirect", "target_url": "https://owner.example/{page}"}}"#);
    ExperienceFields::named(page, Content::from_json(&json).unwrap()).unwrap()
}

/// A real inlay that generates codes, identified by a number.
pub(super) fn inlay(number: u8, tag_id: Option<TagId>) -> NewInlay {
    NewInlay {
        uid: Uid::from_bytes([0x04, 0, 0, 0, 0, 0, number]),
        fields: InlayFields {
            technology: Technology::Ntag424Dna,
            mode: Mode::Aes,
            url_template_id: None,
            tag_id,
            mirror: Some(Mirror::Encrypted),
            mac_from: MacFrom::None,
            keys: Some(keys(number)),
            other_keys: None,
            blocked_at: None,
        },
        simulated: false,
        last_counter: 0,
    }
}

/// An inlay's keys, identified by a number.
pub(super) fn keys(number: u8) -> SealedKeys {
    SealedKeys::Own {
        meta: Some(sealed(number, 1)),
        file: sealed(number, 2),
    }
}

/// A sealed key. Storage does not decrypt it.
pub(super) fn sealed(number: u8, slot: u8) -> SealedKey {
    SealedKey {
        wrapped: vec![number, slot, 0xEE],
        fingerprint: KeyFingerprint::from_bytes([number.wrapping_mul(4).wrapping_add(slot); 16]),
    }
}

/// A tap that is to be recorded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tap {
    pub tag: TagId,
    pub claim: Claim,
    pub client: u16,
    /// The offset of simulated time, if the tag is simulated.
    pub simulated: Option<i64>,
    pub origin: TapOrigin,
}

impl Tap {
    /// A tap without a code.
    pub(super) fn of(tag: TagId) -> Self {
        Self {
            tag,
            claim: Claim::Decided(Verdict::NotChecked(Unchecked::NoCode)),
            client: 1,
            simulated: None,
            origin: TapOrigin::Visitor,
        }
    }

    /// A tap with an authentic code of the inlay's first keys.
    pub(super) fn code(tag: TagId, inlay_id: InlayId, counter: u32) -> Self {
        Self::of(tag).with_code(inlay_id, 1, counter)
    }

    pub(super) fn with_code(mut self, inlay_id: InlayId, key_version: u32, counter: u32) -> Self {
        self.claim = Claim::Counter {
            inlay_id,
            key_version,
            counter,
            rule: CounterRule::Proof,
        };
        self
    }

    pub(super) fn by(mut self, client: u16) -> Self {
        self.client = client;
        self
    }

    pub(super) fn simulated(mut self, offset: i64) -> Self {
        self.simulated = Some(offset);
        self
    }

    /// Marks it as an announced test tap.
    pub(super) fn made_by(mut self, origin: TapOrigin) -> Self {
        self.origin = origin;
        self
    }

    /// The tap in the form that storage records.
    pub(super) fn interaction(self, hash: KeyHash) -> NewInteraction {
        NewInteraction {
            key: Some(NewKey {
                hash,
                url_digest: [7; 8],
            }),
            client: client(self.client),
            country: "CH".to_owned(),
            simulated: self.simulated.is_some(),
            time_offset: Millis::new(self.simulated.unwrap_or(0)),
            origin: self.origin,
            ..NewInteraction::new(
                KnownAt::Tag(self.tag),
                Client([0; 16]),
                self.claim,
                Tech::Nfc,
            )
        }
    }
}

/// Clients by their number, in order.
fn client(number: u16) -> ClientId {
    let [high, low] = number.to_be_bytes();
    let mut id = [low; 16];
    id[0] = high;
    ClientId(id)
}

/// A recorded tap, and its key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tapped {
    pub id: InteractionId,
    pub hash: KeyHash,
    pub recorded: Recorded,
}

impl Tapped {
    /// An update of the variable `registered` with its key.
    pub(super) fn update(&self, value: &str) -> VariableUpdate {
        VariableUpdate {
            id: self.id,
            hash: self.hash,
            request: None,
            data: vec![(PropertyKey::parse("registered").unwrap(), value.to_owned())],
            submission: None,
            simulated_offset: Millis::ZERO,
        }
    }

    pub(super) fn verdict(&self) -> Verdict {
        self.recorded.verdict
    }

    pub(super) fn verified(&self) -> bool {
        self.verdict().tag_verified() == Some(true)
    }
}
