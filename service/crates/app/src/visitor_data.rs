//! The stored data about one visitor of a tag, for the person who holds the tag. A tap proves that
//! they hold it.

mod erase;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use erase::{Person, count_person, erase_person, erase_submission, erase_visitor};

use domain::interaction::Interaction;
use domain::rolling_key::is_live;
use domain::settings::Settings;
use storage::{Access, StorageError};

/// Days for which a client is recognised.
const CLIENT_DAYS: u32 = 30;

/// Whether a tap proves that a person holds the tag now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// The tap was verified, and its rolling key has not expired.
    Valid,
    /// The tap was not verified: anyone with the URL can open it.
    NotVerified,
    /// The rolling key of the tap has expired, or there was none.
    Expired,
}

impl Proof {
    /// Determines the proof of a tap.
    pub async fn of(storage: &Access, tap: &Interaction) -> Result<Self, StorageError> {
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

    /// Why the tap is not a proof, and the way out.
    pub const fn refusal(self) -> Option<&'static str> {
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

/// A kind of data that is stored about visitors, and its reason.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = KeptData)]
pub struct Kept {
    /// Kind of data, in words.
    what: &'static str,
    /// Reason for storing it.
    why: &'static str,
    /// After how many months it is deleted; `null` if its age does not decide, or is counted in
    /// days.
    months: Option<u32>,
    /// After how many days it is deleted; `null` if its age does not decide, or is counted in
    /// months.
    days: Option<u32>,
    /// Whether it is erased with the data of a visitor.
    erased: bool,
}

/// All data that are stored about visitors, in words for them.
pub fn kept(settings: &Settings) -> Vec<Kept> {
    let taps = Some(settings.retention_months);
    let kept = |what, why, months, erased| Kept {
        what,
        why,
        months,
        days: None,
        erased,
    };
    vec![
        kept(
            "Country, operating system, language and group of each tap, and whether the visitor had come before",
            "Pages and redirects depend on them, and reports count them.",
            taps,
            true,
        ),
        Kept {
            days: Some(CLIENT_DAYS),
            ..kept(
                "A code made from network address and browser, from which neither can be recovered",
                "It recognises a returning visitor of the same tag. At each tag it is another one, and people with \
                 the same network and browser share it.",
                None,
                true,
            )
        },
        kept(
            "Which taps one browser made within five minutes of each other",
            "A cookie lets a page be loaded again. Taps that it connects are given out and erased together.",
            taps,
            true,
        ),
        kept(
            "Values sent with forms, and the consent; also of forms that could not be saved",
            "The owner of the tag asked for it.",
            Some(settings.submission_months),
            true,
        ),
        kept(
            "The values that an update changed",
            "They show what a tap did. The update after it has them as the values before, and they are erased there, too.",
            taps,
            true,
        ),
        kept(
            "Events that webhooks keep or have not sent yet",
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
            "They belong to the tag, and no event contains them any more. They can be emptied if they still have a value \
             of the visitor.",
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
        kept(
            "Backups that the owner made before",
            "They are copies of that time, which erasing does not reach. The owner deletes them.",
            None,
            false,
        ),
    ]
}
