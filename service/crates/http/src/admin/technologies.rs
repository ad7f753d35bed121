//! `/admin/v1/technologies`: the chips that the service knows, their abilities, and the schemes by
//! which their keys are derived.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::Common;
use domain::inventory::shared_keys_max;
use inlay::Technology;
use inlay::assessment::Tamper;
use inlay::derivation::Derivation;
use inlay::technology::{Family, Mode, Weakness};
use inlay::template::Field;

/// The chips that the service knows, and the schemes by which it derives their keys.
#[derive(Serialize, ToSchema)]
pub(crate) struct Technologies {
    items: Vec<TechnologyView>,
    derivations: Vec<SchemeView>,
}

/// A chip, and its abilities.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each ability stands for itself"
)]
#[derive(Serialize, ToSchema)]
pub(crate) struct TechnologyView {
    /// The word for the chip in other requests and answers.
    technology: Technology,
    /// The product name, as the maker writes it.
    name: &'static str,
    /// How the chip makes its codes.
    family: Family,
    /// Whether the chip can make rolling codes. Otherwise it has no key, and its taps are never
    /// verified.
    rolls: bool,
    /// Whether its codes are short enough to be guessed: 32 bits.
    guessable: bool,
    /// The length of its file key, or of its only key, in hex digits; null if it has no key.
    key_digits: Option<usize>,
    /// Whether its keys are AES keys. A master key can derive them, so they can also verify a chip
    /// that is no inlay yet.
    aes_keys: bool,
    /// Whether it has a meta key, which encrypts UID and counter, in addition to its file key.
    meta_key: bool,
    /// Whether it can make codes in the canonical form, without a URL template.
    canonical: bool,
    /// Whether the beginning of its MAC's input is a setting. Other chips define their input.
    chooses_mac_start: bool,
    /// Whether Tapdesk encodes it. Other chips are encoded with another tool, and imported.
    encodable: bool,
    /// Whether Tapdesk can protect it against writing, by a permanent lock or by a password.
    lockable: bool,
    /// The kinds of chip whose URL can be written to it, itself included.
    serves_as: Vec<Technology>,
    /// Whether it can write encrypted file data in place of `{enc}`.
    encrypts_data: bool,
    /// The modes of its cipher, the mode of a new chip first. A chip with one mode has `aes`,
    /// whatever its cipher is.
    modes: Vec<ModeView>,
    /// The characters in place of `{tamper}` for a closed loop; null if the chip has no loop.
    closed_loop: Option<&'static str>,
    /// The highest value of its counter. After it the chip makes no further codes.
    #[schema(value_type = u64)]
    counter_max: u32,
    /// A published weakness; null if none is known.
    weakness: Option<Weakness>,
}

/// A mode of a chip, and how many characters the chip then writes in place of each placeholder; null
/// if it never writes it.
#[derive(Serialize, ToSchema)]
#[schema(as = TechnologyMode)]
pub(crate) struct ModeView {
    mode: Mode,
    /// Whether a bureau can encode it in this mode for a factory order.
    orderable: bool,
    /// The most shared keys of a URL template for it in this mode.
    shared_keys_max: usize,
    uid: Option<usize>,
    counter: Option<usize>,
    picc: Option<usize>,
    mac: Option<usize>,
    tamper: Option<usize>,
}

impl ModeView {
    fn of(chip: Technology, mode: Mode) -> Self {
        let length = |field| chip.length(field, mode);
        Self {
            mode,
            orderable: encoding::order::is_orderable(chip, mode),
            shared_keys_max: shared_keys_max(mode),
            uid: length(Field::Uid),
            counter: length(Field::Counter),
            picc: length(Field::Picc),
            mac: length(Field::Mac),
            tamper: length(Field::Tamper),
        }
    }
}

impl From<Technology> for TechnologyView {
    fn from(chip: Technology) -> Self {
        let modes = chip.modes().iter();
        Self {
            technology: chip,
            name: chip.name(),
            family: chip.family(),
            rolls: chip.rolls(),
            guessable: chip.is_guessable(),
            key_digits: chip.key_digits(),
            aes_keys: chip.has_aes_keys(),
            meta_key: chip.has_meta_key(),
            canonical: chip.is_canonical(),
            chooses_mac_start: chip.chooses_mac_start(),
            encodable: encoding::is_encodable(chip),
            lockable: encoding::is_lockable(chip),
            serves_as: all_chips()
                .into_iter()
                .filter(|planned| chip.serves_as(*planned))
                .collect(),
            encrypts_data: chip.encrypts_data(),
            modes: modes.map(|mode| ModeView::of(chip, *mode)).collect(),
            closed_loop: chip.tamper_letters(Tamper::Sealed),
            counter_max: chip.counter_max(),
            weakness: chip.weakness(),
        }
    }
}

/// A scheme that derives an inlay's keys from a master key.
#[derive(Serialize, ToSchema)]
#[schema(as = DerivationScheme)]
pub(crate) struct SchemeView {
    /// The scheme, with all of its options and their usual values.
    usual: Derivation,
    /// The least hex digits of its master key.
    master_digits_min: usize,
    /// The most hex digits of its master key.
    master_digits_max: usize,
}

impl From<Derivation> for SchemeView {
    fn from(usual: Derivation) -> Self {
        let bytes = usual.master_bytes();
        Self {
            usual,
            master_digits_min: 2 * bytes.start(),
            master_digits_max: 2 * bytes.end(),
        }
    }
}

/// Every chip, family by family.
fn all_chips() -> [Technology; Technology::ALL.len()] {
    let mut chips = Technology::ALL;
    chips.sort_unstable_by_key(|chip| (chip.family(), chip.as_str()));
    chips
}

fn technologies() -> Technologies {
    Technologies {
        items: all_chips().map(TechnologyView::from).into(),
        derivations: Derivation::usual().map(SchemeView::from).into(),
    }
}

/// List chips
///
/// Lists the chips that the service knows, and their abilities, family by family, and the schemes by which it derives
/// their keys. The answer is the same until the service is updated.
#[utoipa::path(
    get, path = "/technologies", tag = "technologies",
    responses((status = OK, body = Technologies, example = json!(technologies())), Common)
)]
pub(crate) async fn list() -> Json<Technologies> {
    Json(technologies())
}
