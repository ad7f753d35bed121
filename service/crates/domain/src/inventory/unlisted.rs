//! Chips that are no inlays, although their codes are made with the keys of a URL template.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::id::{ExperienceId, GroupId, UrlTemplateId};
use crate::inventory::SealedKey;
use inlay::key::KeyFingerprint;
use inlay::{Technology, Uid};

/// Tags that taps create in a day by default. A large production is introduced in weeks, and a
/// leaked key makes no more tags than an owner can look through.
pub const CREATE_LIMIT: u32 = 10_000;
/// The highest limit that an owner can set: the number of tags that a service is made for.
pub const CREATE_LIMIT_MAX: u32 = 1_000_000;

/// The answer to an authentic code of a chip that is no inlay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnlistedMode {
    /// The page for an unknown address. The chip is listed among the unlisted chips.
    #[default]
    Refuse,
    /// A page that the tag is not set up yet. The tap is recorded without a tag.
    Page,
    /// The tap creates an inlay and its tag, and is a tap of that tag.
    Create,
}

impl UnlistedMode {
    /// The name in the API and in storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Page => "page",
            Self::Create => "create",
        }
    }

    /// The mode with this name, if there is one.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Refuse, Self::Page, Self::Create]
            .into_iter()
            .find(|mode| mode.as_str() == name)
    }
}

/// Where the tag of a chip belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChipPlace {
    /// The experience of the tag itself; `None` leaves it to the group.
    pub experience_id: Option<ExperienceId>,
    /// The group that it is in.
    pub group_id: Option<GroupId>,
}

/// How a URL template treats chips that are no inlays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedRule {
    /// The answer to their codes.
    pub mode: UnlistedMode,
    /// Most tags that taps create in a UTC day. After that, taps are answered as in the mode
    /// [`UnlistedMode::Page`].
    pub create_limit: u32,
    /// The experience and the group of tags that taps create.
    pub place: ChipPlace,
    /// A file key that all chips of the template share.
    pub file_key: Option<SealedKey>,
}

impl Default for UnlistedRule {
    fn default() -> Self {
        Self {
            mode: UnlistedMode::default(),
            create_limit: CREATE_LIMIT,
            place: ChipPlace::default(),
            file_key: None,
        }
    }
}

/// A chip that made authentic codes and is no inlay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedChip {
    /// Position in the list: later chips have higher numbers.
    pub number: i64,
    /// UID of the chip.
    pub uid: Uid,
    /// URL template of its latest code.
    pub url_template_id: UrlTemplateId,
    /// Technology of the chip.
    pub technology: Technology,
    /// The keys that made its latest code.
    pub keys: KeyPrints,
    /// The highest counter of its codes.
    pub last_counter: u32,
    /// Time of its first tap.
    pub first_seen_at: Timestamp,
    /// Time of its latest tap.
    pub last_seen_at: Timestamp,
    /// Number of its taps, used codes included.
    pub taps: u64,
}

/// The fingerprints of a chip's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPrints {
    /// Of the meta read key; `None` for codes in clear.
    pub meta: Option<KeyFingerprint>,
    /// Of the file read key.
    pub file: KeyFingerprint,
}
