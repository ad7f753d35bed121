//! Erases the data that persons entered, and the data recorded about them. The steps follow the
//! order of the operations of [`Access`] on personal data, so that an interrupted request can be
//! sent again.

use std::cmp::Reverse;

use domain::clock::Millis;
use domain::id::{ExperienceId, InteractionId, TagId};
use domain::rolling_key::LIFETIME;
use domain::submission::{Submission, SubmissionState};
use domain::world::World;
use storage::{
    Access, Entered, InteractionFilter, StorageError, SubmissionFilter, UpdateFilter, search,
};

/// Taps that are read in one step.
const LOOKED_AT: usize = 500;
/// Taps or submissions that are erased in one transaction. It is small because taps of other
/// visitors wait for it.
const AT_ONCE: usize = 100;
/// By how much the order of a history may differ from the order of its times. The clocks of nodes
/// differ by far less.
const DISORDER: Millis = Millis::hours(1);

/// The person whose data are erased, found by a text that they entered.
#[derive(Clone, Debug)]
pub struct Person {
    /// A whole value; upper and lower case are equal.
    pub value: String,
    /// Limits the search to this tag.
    pub tag_id: Option<TagId>,
    /// Limits the search to forms and taps of this experience.
    pub experience_id: Option<ExperienceId>,
    /// Whether to empty variables that still have a value of the person.
    pub empty_variables: bool,
}

impl Person {
    /// Selects the person's submissions.
    fn submissions(&self) -> SubmissionFilter {
        SubmissionFilter {
            value: Some(self.value.clone()),
            tag_id: self.tag_id,
            experience_id: self.experience_id,
            world: World::Both,
            state: SubmissionState::All,
            ..SubmissionFilter::default()
        }
    }

    /// Selects the person's updates.
    const fn updates(&self) -> UpdateFilter {
        UpdateFilter {
            tag_id: self.tag_id,
            experience_id: self.experience_id,
        }
    }
}

/// Erases the data about the visitor who made a tap, and returns how many taps that were. The tap
/// itself is erased last, because it proves the identity of the caller.
pub async fn erase_visitor(
    storage: &Access,
    tap: InteractionId,
    tag: TagId,
    empty_variables: bool,
) -> Result<u64, StorageError> {
    let mut taps = storage.taps_of_visitor(tap).await?;
    if let Some(entered) = storage.entered_at_taps(tag, taps.clone()).await? {
        forget(storage, entered, empty_variables).await?;
    }
    // From both ends, so that the remaining taps stay connected.
    taps.sort_by_key(|id| Reverse(id.get().abs_diff(tap.get())));
    let erased = taps.len() as u64;
    for some in taps.chunks(AT_ONCE) {
        storage.erase_taps(tag, some.to_vec()).await?;
    }
    storage.forget_erased().await;
    Ok(erased)
}

/// Erases one submission, and the same values in other places.
pub async fn erase_submission(
    storage: &Access,
    submission: Submission,
    empty_variables: bool,
) -> Result<(), StorageError> {
    erase_submissions(storage, vec![submission], empty_variables).await?;
    storage.forget_erased().await;
    Ok(())
}

/// Erases everything with this whole value: submissions, and updates without a form. Returns how
/// many there were.
pub async fn erase_person(storage: &Access, person: Person) -> Result<u64, StorageError> {
    let filter = person.submissions();
    let (mut erased, mut before) = (0, None);
    loop {
        let mut found = storage.submissions(filter.clone(), before, AT_ONCE).await?;
        before = found.last().map(|last| last.id);
        let is_last = found.len() < AT_ONCE;
        let wanted = search::fold_case(&person.value);
        found.retain(|one| {
            let mut fields = one.fields.iter();
            fields.any(|field| search::fold_case(&field.value) == wanted)
        });
        erased += found.len() as u64;
        erase_submissions(storage, found, person.empty_variables).await?;
        if is_last {
            break;
        }
    }
    erased += erase_updates(storage, person).await?;
    storage.forget_erased().await;
    Ok(erased)
}

/// How many [`erase_person`] would erase.
pub async fn count_person(storage: &Access, person: Person) -> Result<u64, StorageError> {
    let mut found = storage.count_submissions(person.submissions()).await?;
    let mut after = None;
    loop {
        let text = person.value.clone();
        let updates = storage.updates_with(text, person.updates(), after).await?;
        let taps: Vec<_> = updates.entered.iter().map(|(id, _)| *id).collect();
        let all = taps.len();
        let of_forms = storage.submissions_of_taps(taps).await?.len();
        found += all.saturating_sub(of_forms) as u64;
        match updates.next {
            next @ Some(_) => after = next,
            None => return Ok(found),
        }
    }
}

async fn erase_submissions(
    storage: &Access,
    sent: Vec<Submission>,
    empty_variables: bool,
) -> Result<(), StorageError> {
    if sent.is_empty() {
        return Ok(());
    }
    for entered in Entered::of_submissions(&sent) {
        forget(storage, entered, empty_variables).await?;
    }
    let taps = sent.iter().map(|one| one.interaction_id).collect();
    storage.erase_updates(taps).await
}

/// Erases the updates that set a variable to a text, and the text in later updates that have it as
/// the value before.
async fn erase_updates(storage: &Access, person: Person) -> Result<u64, StorageError> {
    let (mut erased, mut after) = (0, None);
    loop {
        let text = person.value.clone();
        let found = storage.updates_with(text, person.updates(), after).await?;
        for (id, entered) in found.entered {
            forget(storage, entered, person.empty_variables).await?;
            storage.erase_updates(vec![id]).await?;
            erased += 1;
        }
        for (id, before) in found.before {
            storage.forget_before(before, vec![id]).await?;
        }
        match found.next {
            next @ Some(_) => after = next,
            None => return Ok(erased),
        }
    }
}

/// Removes the entered data from all other places: from webhook events of the tag, and from later
/// updates that have it as the value before.
async fn forget(
    storage: &Access,
    entered: Entered,
    empty_variables: bool,
) -> Result<(), StorageError> {
    if entered.values.is_empty() {
        return Ok(());
    }
    storage
        .forget_entered(entered.clone(), empty_variables)
        .await?;
    let filter = InteractionFilter {
        tag_id: Some(entered.tag),
        world: World::Both,
        ..InteractionFilter::default()
    };
    // A tap is made at most this long before its update.
    let since = entered.since.minus(LIFETIME + DISORDER);
    let mut from = None;
    loop {
        let stretch = storage.interactions(filter, from, LOOKED_AT).await?;
        let taps = stretch.found.iter().map(|(tap, _)| tap.id).collect();
        let showing = storage.showing_before(entered.clone(), taps).await?;
        if !showing.is_empty() {
            storage.forget_before(entered.clone(), showing).await?;
        }
        let oldest = stretch.found.last();
        from = stretch
            .next
            .filter(|_| oldest.is_none_or(|(tap, _)| tap.at >= since));
        if from.is_none() {
            return Ok(());
        }
    }
}
