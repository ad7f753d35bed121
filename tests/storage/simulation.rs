//! Seeded interleavings of taps, replays, updates, replaced keys, passing time, restarts and
//! crashes, compared with a small model.
//!
//! These properties must always hold: the accepted counter of an inlay and its keys only rises; a
//! key updates at most once; an expired or consumed key never updates again; acknowledged writes
//! are stored; simulated data is in no live view. A failure prints its seed and step; `run(seed)`
//! repeats it.

use std::collections::BTreeMap;

use serde_json::json;
use tapdesk_service::clock::{Millis, Timestamp};
use tapdesk_service::entropy::{Entropy as _, SeededEntropy};
use tapdesk_service::id::{InlayId, TagId};
use tapdesk_service::interaction::{Refusal, Verdict};
use tapdesk_service::inventory::InlayFields;
use tapdesk_service::rolling_key::{Consumed, KeyHash, is_live};
use tapdesk_service::storage::{
    InlayFilter, TagFilter, TagList, TagOrder, UpdateRefusal, Updated, VariableUpdate,
};
use tapdesk_service::world;

use crate::storage::backend::{Backend, DAY, Database, MINUTE, START, Tap, Tapped, keys};

/// Interleavings of a default run. A soak has ten times as many.
pub(super) const SEEDS: u32 = 8;
const STEPS: u32 = 300;
/// The number of keys that are checked after each step; at the end all are checked.
const YOUNGEST: usize = 20;

/// The model's state of a tag and its inlay.
struct Bottle {
    tag: TagId,
    inlay: InlayId,
    simulated: bool,
    /// The number of the inlay's present keys, which counts their replacements.
    keys: u8,
    key_version: u32,
    /// The highest accepted counter for each of its keys so far.
    accepted: BTreeMap<u8, u32>,
    /// Codes that were sent, for replays: key version and counter.
    sent: Vec<(u32, u32)>,
    scans: u64,
    registered: String,
}

/// The model's state of a rolling key.
struct Issued {
    bottle: usize,
    tapped: Tapped,
    /// Its row is gone: swept, or from a later clock.
    gone: bool,
    consumed: Option<Consumed>,
    /// It was seen as expired. A real key never comes back from that.
    expired: bool,
}

struct World<B> {
    db: Database<B>,
    dice: SeededEntropy,
    bottles: Vec<Bottle>,
    issued: Vec<Issued>,
    /// The offset of simulated time.
    offset: i64,
    /// The time of the last real tap.
    newest_real: Option<Timestamp>,
}

/// Runs the interleaving that this seed draws.
pub(super) async fn run<B: Backend>(seed: u64) {
    println!("seed {seed}");
    let mut world = World::<B>::new(seed).await;
    for step in 0..STEPS {
        println!("step {step}");
        world.step().await;
        world.check().await;
        world.check_keys(YOUNGEST).await;
    }
    world.check_keys(usize::MAX).await;
}

impl<B: Backend> World<B> {
    async fn new(seed: u64) -> Self {
        let db = Database::create().await;
        let mut bottles = Vec::new();
        for (number, simulated) in [false, false, true, true].into_iter().enumerate() {
            let slug = format!("bottle-{number}");
            let fields = json!({
                "slug": slug,
                "experience_id": db.experience(&slug).await.get(),
                "variables": {"registered": "no"},
            });
            let tag = if simulated {
                db.simulated_tag(fields).await
            } else {
                db.tag(fields).await
            };
            let number = u8::try_from(number).unwrap();
            bottles.push(Bottle {
                tag,
                inlay: db.inlay_on(tag, number * 10).await,
                simulated,
                keys: number * 10,
                key_version: 1,
                accepted: BTreeMap::new(),
                sent: Vec::new(),
                scans: 0,
                registered: "no".to_owned(),
            });
        }
        Self {
            db,
            dice: SeededEntropy::new(seed),
            bottles,
            issued: Vec::new(),
            offset: 0,
            newest_real: None,
        }
    }

    /// A number below `sides`.
    fn roll(&self, sides: usize) -> usize {
        let mut bytes = [0; 8];
        self.dice.fill(&mut bytes);
        usize::from_le_bytes(bytes) % sides
    }

    fn roll_millis(&self, below: i64) -> i64 {
        i64::try_from(self.roll(usize::try_from(below).unwrap())).unwrap()
    }

    async fn step(&mut self) {
        let bottle = self.roll(self.bottles.len());
        match self.roll(24) {
            0..=4 => {
                // Sometimes after reads that never reach the service.
                let Bottle {
                    key_version,
                    accepted,
                    keys,
                    ..
                } = &self.bottles[bottle];
                let last = accepted.get(keys).copied().unwrap_or(0);
                let counter = last + 1 + u32::try_from(self.roll(3)).unwrap();
                self.tap(bottle, Some((*key_version, counter))).await;
            }
            5..=6 if !self.bottles[bottle].sent.is_empty() => {
                let sent = &self.bottles[bottle].sent;
                let code = sent[self.roll(sent.len())];
                self.tap(bottle, Some(code)).await;
            }
            7 => self.tap(bottle, None).await,
            8..=12 if !self.issued.is_empty() => {
                // The younger keys are more likely to be valid.
                let age = self.roll(self.issued.len().min(12));
                let key = self.issued.len() - 1 - age;
                self.update(key).await;
            }
            13 => {
                self.db.advance(self.roll_millis(3 * MINUTE));
            }
            14 => self.offset += self.roll_millis(3 * MINUTE),
            15 => self.replace_keys(bottle).await,
            16 => self.sweep().await,
            17 => self.restart(false).await,
            18 => self.restart(true).await,
            19 => self.restart_earlier().await,
            // A pass over the taps begins, continues, or is interrupted by the next action.
            20..=23 => {
                self.db.backend().fold().await;
            }
            _ => {}
        }
    }

    async fn tap(&mut self, bottle: usize, code: Option<(u32, u32)>) {
        let mut events = self.db.events();
        let at = self.time(bottle);
        let Bottle {
            tag,
            inlay,
            simulated,
            keys,
            key_version,
            accepted,
            sent,
            scans,
            ..
        } = &mut self.bottles[bottle];
        let mut tap = Tap::of(*tag);
        if let Some((version, counter)) = code {
            tap = tap.with_code(*inlay, version, counter);
            sent.push((version, counter));
        }
        if *simulated {
            tap = tap.simulated(self.offset);
        }
        let tapped = self.db.tap(tap).await;

        assert_eq!(tapped.recorded.at, at);
        let last = accepted.entry(*keys).or_default();
        match (code, tapped.verdict()) {
            (None, verdict) => assert_eq!(verdict.tag_verified(), None),
            (
                Some((version, counter)),
                Verdict::Verified {
                    counter: c,
                    previous,
                },
            ) => {
                assert_eq!((version, counter, *last), (*key_version, c, previous));
                assert!(counter > *last, "the counter rises");
                *last = counter;
            }
            (Some((version, _)), Verdict::NotVerified(Refusal::KeysReplaced { .. })) => {
                assert_ne!(version, *key_version);
            }
            (Some((version, counter)), verdict) => {
                assert_eq!(verdict.tag_verified(), Some(false), "{verdict:?}");
                assert_eq!(version, *key_version);
                assert!(counter <= *last, "{verdict:?} after {last}");
            }
        }
        *scans += 1;
        let received = events.try_recv().expect("a tap is told");
        assert_eq!(received.simulated(), *simulated);
        if !*simulated {
            self.newest_real = Some(at);
        }
        self.issued.push(Issued {
            bottle,
            tapped,
            gone: false,
            consumed: None,
            expired: false,
        });
    }

    async fn update(&mut self, number: usize) {
        let request = [None, Some([1; 32]), Some([2; 32])][self.roll(3)];
        let value = format!("value {}", self.roll(1_000));
        let stranger = self.roll(8) == 0;
        let key = &self.issued[number];
        let hash = if stranger {
            KeyHash([0; 16])
        } else {
            key.tapped.hash
        };
        let update = VariableUpdate {
            hash,
            request,
            submission: None,
            simulated_offset: Millis::new(self.offset),
            ..key.tapped.update(&value)
        };
        let updated = self.db.update_variables(update).await.unwrap();

        let live = !key.gone && is_live(key.tapped.recorded.at, self.time(key.bottle));
        let refused = match &key.consumed {
            _ if stranger || !live => Some(Updated::Refused(UpdateRefusal::InvalidKey)),
            None => None,
            Some(by) if request.is_some() && by.request == request => Some(Updated::Repeated),
            Some(_) => Some(Updated::Refused(UpdateRefusal::Consumed)),
        };
        if let Some(refused) = refused {
            assert_eq!(updated, refused);
            return;
        }
        let Updated::Done(changes) = updated else {
            panic!("{updated:?} with a live key");
        };
        let revived = key.expired && !self.bottles[key.bottle].simulated;
        assert!(!revived, "an expired key updates");
        let bottle = &mut self.bottles[key.bottle];
        assert_eq!(changes[0].old.as_ref(), Some(&bottle.registered));
        bottle.registered = value;
        let at = self.time(self.issued[number].bottle);
        self.issued[number].consumed = Some(Consumed { at, request });
    }

    async fn replace_keys(&mut self, bottle: usize) {
        let number = self.roll(3);
        let Bottle {
            inlay,
            keys: current,
            key_version,
            ..
        } = &mut self.bottles[bottle];
        let other = *current / 10 * 10 + u8::try_from(number).unwrap();
        let edit = move |mut fields: InlayFields| {
            fields.keys = Some(keys(other));
            Ok(fields)
        };
        let epoch = self.db.configuration_epoch();
        self.db.edit_inlay(*inlay, Box::new(edit)).await.unwrap();
        let is_other = other != *current;
        assert_eq!(self.db.configuration_epoch() > epoch, is_other);
        if other != *current {
            *key_version += 1;
            *current = other;
        }
    }

    async fn sweep(&mut self) {
        while self.db.sweep(Timestamp::default()).await.unwrap().more {}
        // Keys before an expired one are expired, too, whatever clock they are dated by.
        let now = self.db.now();
        let of_age = |key: &Issued| {
            let at = key.tapped.recorded.at;
            at <= now && !is_live(at, now)
        };
        if let Some(last) = self.issued.iter().rposition(of_age) {
            self.issued[..=last]
                .iter_mut()
                .for_each(|key| key.gone = true);
        }
    }

    async fn restart(&mut self, crash: bool) {
        if crash {
            self.db.crash().await;
        } else {
            self.db.reopen().await;
        }
        self.forget_keys_from_later();
    }

    /// A restart with a wall clock that was set back.
    async fn restart_earlier(&mut self) {
        // Housekeeping runs every few seconds, so expired keys are gone by now.
        self.sweep().await;
        let earlier = self
            .db
            .now()
            .minus(Millis::new(self.roll_millis(10 * MINUTE)));
        self.db.reopen_at(earlier).await;
        self.forget_keys_from_later();
    }

    fn forget_keys_from_later(&mut self) {
        let now = self.db.now();
        let behind = self.newest_real.is_some_and(|newest| newest > now);
        let ahead = self.issued.iter().any(|key| key.tapped.recorded.at > now);
        for key in &mut self.issued {
            key.gone |= behind || ahead && self.bottles[key.bottle].simulated;
        }
    }

    /// The time for a tag: real or simulated.
    fn time(&self, bottle: usize) -> Timestamp {
        let offset = if self.bottles[bottle].simulated {
            self.offset
        } else {
            0
        };
        self.db.now().plus(Millis::new(offset))
    }

    /// Asserts that the stored data equals the model, folded or not.
    async fn check(&self) {
        let storage = self.db.storage();
        for bottle in &self.bottles {
            let tag = storage.tag(bottle.tag).await.unwrap().unwrap();
            assert_eq!(tag.scan_count, bottle.scans);
            assert_eq!(self.db.registered(bottle.tag).await, bottle.registered);
            let inlay = storage.inlay(bottle.inlay).await.unwrap().unwrap();
            let accepted = bottle.accepted.get(&bottle.keys).copied().unwrap_or(0);
            assert_eq!(inlay.last_counter, accepted);
        }
        let scans: u64 = self.bottles.iter().map(|bottle| bottle.scans).sum();
        let (first, last) = (
            START.minus(Millis::new(DAY)),
            START.plus(Millis::new(7 * DAY)),
        );
        let overview = storage.overview(first, last, world::World::Both).await;
        let counted = overview.unwrap().counts.into_iter();
        assert_eq!(counted.map(|(_, _, count)| count).sum::<u64>(), scans);
        let live = TagList {
            filter: TagFilter::default(),
            order: TagOrder::ScansDescending,
            after: None,
            limit: 100,
        };
        let tags = storage.tags(live).await.unwrap();
        assert!(tags.len() == 2 && tags.iter().all(|(tag, _)| !tag.simulated));
        let live = InlayFilter {
            simulated: Some(false),
            ..InlayFilter::default()
        };
        assert_eq!(storage.count_inlays(live).await.unwrap(), 2);
    }

    /// Asserts that the youngest stored keys equal the model.
    async fn check_keys(&mut self, count: usize) {
        for number in self.issued.len().saturating_sub(count)..self.issued.len() {
            let key = &self.issued[number];
            let found = self.db.issued_key(key.tapped.id).await.unwrap();
            assert_eq!(found.is_none(), key.gone, "{:?}", key.tapped);
            if let Some((stored, interaction)) = found {
                let simulated = self.bottles[key.bottle].simulated;
                assert_eq!(stored.hash, key.tapped.hash);
                let consumed = |by: Consumed| (by.at, by.request);
                let expected = key.consumed.clone().map(consumed);
                assert_eq!(stored.consumed.map(consumed), expected);
                assert_eq!(interaction.verdict, key.tapped.verdict());
                assert_eq!(interaction.simulated, simulated);
            }
            let live = is_live(key.tapped.recorded.at, self.time(key.bottle));
            self.issued[number].expired |= key.gone || !live;
        }
    }
}
