//! One decision about a chip: its inputs are read and opened before, and sealed and stored after
//! it.

use super::{EncodeError, PlacedChip, finished, form, journal};
use crate::service::Service;
use domain::clock::Timestamp;
use domain::id::{EncodingRootId, TagId};
use encoding::machine::Means;
use encoding::turn::Turn;
use encoding::{
    Encoding, Exchange, Form, Goal, Journal, Plan, Progress, Reason, Roots, Source, State,
};
use inlay::uid::RANDOM_ID;
use inlay::{Technology, Uid};
use storage::{ChipState, EncodingTurn, Ending, KeptPlace, StoredEncoding};

/// A chip with all stored facts about it, while one decision is made.
pub(super) struct Case<'a> {
    pub(super) state: &'a ChipState,
    pub(super) roots: Roots,
    /// Roots that others may know.
    pub(super) compromised: Vec<EncodingRootId>,
    pub(super) journal: Journal,
    pub(super) exchanges: Vec<Exchange>,
}

/// The facts that the next encoding of a chip has to know after one of this form was given up; `None`
/// if there are none. A chip whose password was to be removed has none to get back.
fn left_by(form: Option<&Form>, given_up: &Progress) -> Option<Progress> {
    let form = form?;
    let removes = form.lock || form.write_password == Some(false);
    (given_up.chip.had_password && !removes).then(|| given_up.remains())
}

impl<'a> Case<'a> {
    /// Reads and opens the stored facts about a chip.
    pub(super) async fn of(
        service: &Service,
        uid: Uid,
        state: &'a ChipState,
    ) -> Result<Self, EncodeError> {
        let (roots, compromised) = journal::roots(service).await?;
        let mut journal = match &state.journal {
            Some(stored) => journal::open(service, stored)?,
            None => Journal::new(uid),
        };
        if let Some(inlay) = &state.inlay {
            journal.imported = journal::imported(service, inlay, &journal, &roots).await?;
        }
        Ok(Self {
            state,
            roots,
            compromised,
            journal,
            exchanges: Vec::new(),
        })
    }

    /// The chip's technology according to its inlay.
    pub(super) fn technology(&self) -> Option<Technology> {
        let inlay = self.state.inlay.as_ref();
        inlay.map(|inlay| inlay.fields.technology)
    }

    /// The encoding with its progress unwrapped. One that was given up has only what a later encoding
    /// of the chip needs.
    pub(super) fn open(service: &Service, stored: StoredEncoding) -> Result<Encoding, EncodeError> {
        let progress = match &stored.progress {
            Some(wrapped) => {
                let bytes = service.keyring.unwrap_secret(wrapped)?;
                Progress::from_bytes(&bytes)
            }
            None => None,
        };
        let progress = if matches!(stored.state, State::Abandoned(_)) {
            progress.and_then(|progress| left_by(stored.form.as_ref(), &progress))
        } else {
            progress
        };
        Ok(Encoding {
            id: stored.id,
            uid: stored.uid,
            goal: stored.goal,
            run_id: stored.run_id,
            form: stored.form,
            generation: stored.generation,
            state: stored.state,
            seq: stored.seq,
            created_at: stored.created_at,
            updated_at: stored.updated_at,
            progress,
        })
    }

    /// A new encoding; already rejected if the reason is known before any command is sent.
    pub(super) async fn new_encoding(
        &mut self,
        service: &Service,
        placed: &PlacedChip,
        now: Timestamp,
    ) -> Result<Encoding, EncodeError> {
        let mut encoding = Encoding {
            id: None,
            uid: placed.uid,
            goal: placed.goal,
            run_id: placed.run_id,
            form: None,
            generation: None,
            state: State::PLANNED,
            seq: 0,
            created_at: now,
            updated_at: now,
            progress: self.left(service),
        };
        self.ask(service, &mut encoding, placed).await?;
        Ok(encoding)
    }

    /// The facts about the chip that its latest encoding left, unless it reached its goal.
    fn left(&self, service: &Service) -> Option<Progress> {
        let latest = self.state.latest.as_ref()?;
        if matches!(latest.state, State::Verified(_) | State::Reset) {
            return None;
        }
        // A state that cannot be read is one that nobody waits for.
        let latest = Self::open(service, latest.clone()).ok()?;
        latest.progress.map(|progress| progress.remains())
    }

    /// Decides the form from the present request, even if the encoding began earlier: an
    /// irreversible step must not follow from a request of last week.
    pub(super) async fn ask(
        &mut self,
        service: &Service,
        encoding: &mut Encoding,
        placed: &PlacedChip,
    ) -> Result<(), EncodeError> {
        let mut reason = None;
        if placed.goal != Goal::Factory {
            let progress = encoding.progress.as_ref();
            let wrote = progress.is_some_and(|progress| progress.wrote);
            let former = encoding.form.take();
            let begun = former.as_ref().filter(|_| wrote);
            let (form, refused) = self.form(service, placed, placed.goal.tag(), begun).await?;
            if former.is_some_and(|former| !form.writes_like(&former)) {
                // Keys that a chip had with another URL are not used with this one.
                encoding.generation = None;
            }
            reason = refused.or_else(|| Plan::new(&form).err().map(|error| error.reason()));
            encoding.form = Some(form);
        }
        if placed.uid.bytes()[0] == RANDOM_ID {
            reason = Some(Reason::RandomId);
        }
        if let Some(reason) = reason {
            encoding.state = State::Rejected(reason);
            encoding.seq += 1;
            let former = encoding.progress.take().unwrap_or_default();
            encoding.progress = Some(former.remains());
        } else if self.roots.active().is_none()
            && encoding
                .form
                .as_ref()
                .is_none_or(|form| form.needs_root(&self.roots))
        {
            journal::make_root(service).await?;
            (self.roots, self.compromised) = journal::roots(service).await?;
        }
        Ok(())
    }

    /// The form of the chip of a tag, and why it is not written. The tag is `None` if the chip's
    /// commit creates it. `begun` is the form that its encoding has begun to write; anyone who may
    /// encode may finish it.
    pub(super) async fn form(
        &self,
        service: &Service,
        placed: &PlacedChip,
        tag: Option<TagId>,
        begun: Option<&Form>,
    ) -> Result<(Form, Option<Reason>), EncodeError> {
        let new = placed.place.as_ref().and_then(|kept| kept.new.as_ref());
        let mut form = match (new, tag) {
            (Some(new), _) => form::of_slug(service, new.slug.to_string(), &placed.options).await?,
            (None, Some(tag)) => form::of_tag(service, tag, &placed.options).await?,
            (None, None) => return Err(EncodeError::Stale),
        };
        let mut reason = None;
        let bound = self
            .state
            .inlay
            .as_ref()
            .and_then(|inlay| inlay.fields.tag_id);
        if let Some(bound) = bound {
            let finished = self.state.finished.as_ref();
            let verified = finished
                .filter(|finished| finished.state.is_verified() && finished.goal.tag() == tag);
            match verified.and_then(|verified| verified.generation) {
                // Others may know its keys: the chip gets new ones and keeps its tag.
                _ if Some(bound) == tag && self.is_exposed() => {}
                Some(generation) if Some(bound) == tag => form.finished = Some(generation),
                // A bureau wrote its keys: the chip gets ours and keeps its tag.
                None if Some(bound) == tag && self.journal.bureau.is_some() => {}
                // The chip has no keys: correct pages stay, and the others are written.
                None if Some(bound) == tag && verified.is_some() && !form.has_keys() => {}
                _ if Some(bound) == tag && begun.is_some() => {}
                _ if placed.options.replace
                    || begun.is_some_and(|begun| begun.taken_from == Some(bound)) =>
                {
                    form.taken_from = Some(bound);
                }
                // The reason names the other run, so that the operator does not take the chip for a
                // duplicate.
                _ if self.is_of_another_run(placed.run_id) => reason = Some(Reason::InOtherRun),
                _ => reason = Some(Reason::AlreadyEncoded),
            }
        } else if !placed.options.replace && begun.is_none() && finished::is_imported(self.state) {
            reason = Some(Reason::AlreadyEncoded);
        }
        let joins = reason.is_none() && bound != tag && !placed.options.additional;
        if let Some(tag) = tag.filter(|_| joins)
            && form::has_inlay(service, tag, placed.uid).await?
        {
            reason = Some(Reason::TagHasInlay);
        }
        Ok((form, reason))
    }

    /// Whether the chip's last keys come from a root that others may know, for whatever tag it was
    /// encoded.
    fn is_exposed(&self) -> bool {
        let generation = self.journal.confirmed;
        let source = generation.and_then(|number| self.journal.generation(number));
        let source = source.map(|one| &one.source);
        matches!(source, Some(Source::Root(root)) if self.compromised.contains(root))
    }

    /// Makes a decision with all its inputs.
    pub(super) fn step(
        &mut self,
        service: &Service,
        encoding: &mut Encoding,
        decide: impl FnOnce(&mut Encoding, &mut Journal, Means<'_>) -> Vec<Exchange>,
    ) -> Result<(), EncodeError> {
        let plan = match encoding.form.as_ref().map(Plan::new) {
            Some(Ok(plan)) => Some(plan),
            // The form was valid when the encoding began.
            Some(Err(_)) => return Err(EncodeError::Stale),
            None => None,
        };
        let form = encoding.form.clone();
        let inlay = self.state.inlay.as_ref();
        let means = Means {
            plan: plan.as_ref(),
            roots: &self.roots,
            entropy: &*service.entropy,
            own_keys: form.as_ref().is_some_and(|form| form.own_keys),
            replace: false,
            has_message: false,
            finished: form.as_ref().and_then(|form| form.finished),
            last_counter: inlay.map_or(0, |inlay| inlay.last_counter),
            is_inlay: inlay
                .and_then(|inlay| inlay.fields.tag_id)
                .is_some_and(|tag| encoding.goal == Goal::Tag(tag)),
            technology: self.technology(),
        };
        self.exchanges = decide(encoding, &mut self.journal, means);
        Ok(())
    }

    /// Stores the turn; `None` if another request was faster. `place` is the tag that a run
    /// reserves for the chip of a new encoding.
    pub(super) async fn store(
        self,
        service: &Service,
        encoding: Encoding,
        place: Option<KeptPlace>,
    ) -> Result<Option<Turn>, EncodeError> {
        let ending = match &encoding.state {
            State::Verified(outcome) => self.inlay(service, &encoding, outcome)?,
            State::Reset => Ending::Reset,
            _ => Ending::None,
        };
        let latest = self.state.latest.as_ref();
        let known = self.state.journal.as_ref();
        let known = known.map_or(&[][..], |journal| &journal.generations);
        let journal = journal::seal(service, &self.journal, known)?;
        let replaces = encoding.progress.as_ref().is_some_and(|one| one.replace);
        let progress = match &encoding.progress {
            Some(progress) => {
                let entropy = &*service.entropy;
                Some(service.keyring.wrap(&progress.to_bytes(), entropy)?)
            }
            None => None,
        };
        let turn = EncodingTurn {
            encoding: StoredEncoding {
                id: encoding.id,
                uid: encoding.uid,
                goal: encoding.goal,
                run_id: encoding.run_id,
                form: encoding.form.clone(),
                generation: encoding.generation,
                state: encoding.state.clone(),
                seq: encoding.seq,
                progress,
                created_at: encoding.created_at,
                updated_at: encoding.updated_at,
            },
            expected: latest.and_then(|latest| Some((latest.id?, latest.seq))),
            journal,
            exchanges: self.exchanges,
            ending,
            replaces,
            place,
        };
        let stored = service.storage.store_turn(turn).await?;
        Ok(stored.and_then(|stored| {
            let later = Encoding {
                id: stored.id,
                goal: stored.goal,
                state: stored.state,
                ..encoding
            };
            later.turn()
        }))
    }
}
