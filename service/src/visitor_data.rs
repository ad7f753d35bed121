//! What is kept of one visitor of a tag, for whoever holds it: they tap it, and that proves it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::{InteractionId, TagId};
use crate::interaction::{Interaction, TagName};
use crate::rolling_key::is_live;
use crate::settings::Settings;
use crate::storage::{InteractionFilter, Storage, StorageError};
use crate::world::World;

/// Taps that are looked at in one step: taps of others wait while a step is erased.
const AT_ONCE: usize = 500;

/// Whether a tap proves that a person holds the tag now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Proof {
    /// It was verified, and its rolling key lives.
    Valid,
    /// It was not verified: whoever has the URL can open it.
    NotVerified,
    /// Its rolling key has expired, or it has none.
    Expired,
}

impl Proof {
    /// What a tap proves.
    pub(crate) async fn of(storage: &dyn Storage, tap: &Interaction) -> Result<Self, StorageError> {
        if tap.verdict.tag_verified() != Some(true) {
            return Ok(Self::NotVerified);
        }
        if !tap.key_issued || tap.tag_id.is_none() {
            return Ok(Self::Expired);
        }
        let key = storage.issued_key(tap.id).await?;
        let lives = key.is_some_and(|(key, tap)| is_live(key.issued_at, tap.read_at));
        Ok(if lives { Self::Valid } else { Self::Expired })
    }

    /// Why it is none, and the way out.
    pub(crate) const fn refusal(self) -> Option<&'static str> {
        match self {
            Self::Valid => None,
            Self::NotVerified => Some(
                "Only a verified tap proves that a person holds the tag. Use the submissions that have what they \
                 entered, or all visitor data of the tag.",
            ),
            Self::Expired => Some(
                "The rolling key of this tap has expired. Ask the person to tap the tag again.",
            ),
        }
    }
}

/// The taps of a tag, the newest first, step by step.
pub(crate) struct Taps {
    of: TagId,
    /// Where the next step begins; `None` for the newest.
    from: Option<InteractionId>,
    is_over: bool,
}

impl Taps {
    /// All of a tag.
    pub(crate) const fn of(tag: TagId) -> Self {
        Self {
            of: tag,
            from: None,
            is_over: false,
        }
    }

    /// The next ones; `None` at the end.
    pub(crate) async fn step(
        &mut self,
        storage: &dyn Storage,
    ) -> Result<Option<Vec<(Interaction, Option<TagName>)>>, StorageError> {
        if self.is_over {
            return Ok(None);
        }
        let filter = InteractionFilter {
            tag_id: Some(self.of),
            world: World::Both,
            ..InteractionFilter::default()
        };
        let stretch = storage.interactions(filter, self.from, AT_ONCE).await?;
        (self.from, self.is_over) = (stretch.next, stretch.next.is_none());
        Ok(Some(stretch.found))
    }

    /// The next ones that the visitor of `tap` made.
    pub(crate) async fn step_of_visitor(
        &mut self,
        storage: &dyn Storage,
        tap: InteractionId,
    ) -> Result<Option<Vec<Interaction>>, StorageError> {
        let Some(found) = self.step(storage).await? else {
            return Ok(None);
        };
        let ids = found.iter().map(|(found, _)| found.id).collect();
        let theirs = storage.taps_of_visitor(tap, ids).await?;
        let found = found.into_iter().map(|(found, _)| found);
        Ok(Some(
            found.filter(|found| theirs.contains(&found.id)).collect(),
        ))
    }
}

/// Erases what is kept of the visitor who made a tap, and answers how many taps it were. The tap
/// itself goes last: what is broken off before can be sent again while its key lives.
pub(crate) async fn erase(
    storage: &dyn Storage,
    tap: InteractionId,
    tag: TagId,
    empty_variables: bool,
) -> Result<u64, StorageError> {
    let (mut taps, mut erased) = (Taps::of(tag), 0);
    while let Some(found) = taps.step(storage).await? {
        let others = found.iter().map(|(found, _)| found.id);
        let others = others.filter(|id| *id != tap).collect();
        erased += storage
            .erase_taps_of_visitor(tap, others, empty_variables)
            .await?;
    }
    let last = storage
        .erase_taps_of_visitor(tap, vec![tap], empty_variables)
        .await?;
    Ok(erased + last)
}

/// Something that is kept of visitors, and why.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = KeptData)]
pub(crate) struct Kept {
    /// What it is.
    what: &'static str,
    /// Why it is kept.
    why: &'static str,
    /// After how many months it is deleted; `null` if it is not by its age.
    months: Option<u32>,
    /// Whether it is erased with the data of a visitor.
    erased: bool,
}

/// All that is kept of visitors, in words for them.
pub(crate) fn kept(settings: &Settings) -> Vec<Kept> {
    let taps = Some(settings.retention_months);
    let kept = |what, why, months, erased| Kept {
        what,
        why,
        months,
        erased,
    };
    vec![
        kept(
            "Country, operating system, language and group of each tap, and whether the visitor had come before",
            "Pages and redirects depend on them, and reports count them.",
            taps,
            true,
        ),
        kept(
            "A code made from network address and browser, from which neither can be recovered",
            "It recognises a returning visitor of the same tag.",
            taps,
            true,
        ),
        kept(
            "Values sent with forms, and the consent",
            "The owner of the tag asked for it.",
            Some(settings.submission_months),
            true,
        ),
        kept(
            "The values that an update changed",
            "They show what a tap did.",
            taps,
            true,
        ),
        kept(
            "Events about these taps that webhooks keep or have not sent yet",
            "They are sent again if a receiver fails, and the last 1,000 are kept. Delivered events cannot be erased.",
            taps,
            true,
        ),
        kept(
            "Time, verdict, counter and destination of each tap",
            "Copies of a tag are recognised by them. Without the data above they name nobody.",
            taps,
            false,
        ),
        kept(
            "The present values of the tag's variables",
            "They belong to the tag. They can be emptied if they still have a value of the visitor.",
            None,
            false,
        ),
        kept(
            "Counts by the hour and the day",
            "Reports are made from them. Nobody can be recognised in them.",
            None,
            false,
        ),
        kept(
            "That data was exported or erased, by whom and when, in the audit log",
            "The owner can show that it was done. The data itself is not in it.",
            Some(settings.audit_months),
            false,
        ),
    ]
}
