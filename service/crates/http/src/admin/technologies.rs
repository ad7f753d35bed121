//! `/admin/v1/technologies`: the chips that the service knows, and their abilities.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::Common;
use inlay::Technology;
use inlay::assessment::Tamper;
use inlay::technology::{Family, Mode, Weakness};
use inlay::template::Field;

/// The chips that the service knows.
#[derive(Serialize, ToSchema)]
pub(crate) struct Technologies {
    items: Vec<TechnologyView>,
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
    /// Whether Tapdesk encodes it. Other chips are encoded with another tool, and imported.
    encodable: bool,
    /// Whether it can write encrypted file data in place of `{enc}`.
    encrypts_data: bool,
    /// The modes of its cipher, the mode of a new chip first.
    modes: Vec<ModeView>,
    /// The characters in place of `{tamper}` for a closed loop; null if the chip has no loop.
    closed_loop: Option<&'static str>,
    /// The highest value of its counter. After it the chip makes no further codes.
    #[schema(value_type = u64)]
    counter_max: u32,
    /// A published weakness; null if none is known.
    weakness: Option<Weakness>,
}

/// How many characters a chip in this mode writes in place of each placeholder; null if it never
/// writes it.
#[derive(Serialize, ToSchema)]
#[schema(as = TechnologyMode)]
pub(crate) struct ModeView {
    mode: Mode,
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
            encodable: encoding::is_encodable(chip),
            encrypts_data: chip.encrypts_data(),
            modes: modes.map(|mode| ModeView::of(chip, *mode)).collect(),
            closed_loop: chip.tamper_letters(Tamper::Sealed),
            counter_max: chip.counter_max(),
            weakness: chip.weakness(),
        }
    }
}

fn technologies() -> Technologies {
    let mut chips = Technology::ALL;
    chips.sort_unstable_by_key(|chip| (chip.family(), chip.as_str()));
    Technologies {
        items: chips.map(TechnologyView::from).into(),
    }
}

/// List chips
///
/// Lists the chips that the service knows, and their abilities, family by family. The list is the same until the
/// service is updated.
#[utoipa::path(
    get, path = "/technologies", tag = "technologies",
    responses((status = OK, body = Technologies, example = json!(technologies())), Common)
)]
pub(crate) async fn list() -> Json<Technologies> {
    Json(technologies())
}
