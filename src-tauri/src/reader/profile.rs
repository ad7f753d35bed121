//! Known readers, and how they differ from PC/SC part 3. `service/docs/guides/reader.md` names the
//! source of each difference.
//!
//! A profile is chosen by the name under which the system lists a reader. Names can be wrong, and
//! firmware differs: so a profile only says what is tried first. An answer that is not of its form
//! is recognised, and the next way is tried. Everything that a reader shows by its answers is in no
//! profile: how many pages it reads at once (see `inlay`), and whether a slot takes a security
//! module (see [`is_module`]).

/// A way to pass a command of the chip itself on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// In a transparent session (PC/SC part 3, supplemental document 2.02.00).
    Session,
    /// By `InCommunicateThru` of the reader's controller, in the pseudo-APDU "direct transmit".
    Controller,
    /// By the pseudo-APDU `FF EF` of Identiv's readers.
    PassThrough,
}

/// How a reader's beep and light are controlled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signalling {
    /// By pseudo-APDUs: `FF 00 40` for light and beep, `FF 00 52` for the reader's own beep.
    PseudoApdu,
    /// By escape commands: `E0 00 00 29` for the light, `E0 00 00 28` for the beep, `E0 00 00 21` for
    /// the reader's own beep.
    Escape,
}

/// The differences of a reader.
#[derive(Debug, PartialEq, Eq)]
pub struct Profile {
    /// The product's name, for people.
    pub name: &'static str,
    /// Parts of the names under which systems list it. One of them is enough.
    names: &'static [&'static str],
    /// The ways of passing commands on that it is known to have, the first one first.
    ways: &'static [Way],
    /// How its beep and light are controlled; `None` if that is not known.
    pub signalling: Option<Signalling>,
}

/// A reader about which nothing is known.
static GENERIC: Profile = Profile {
    name: "Other reader",
    names: &[],
    ways: &[],
    signalling: None,
};

/// The ways that any reader may have, in the order in which they are tried.
const COMMON: [Way; 2] = [Way::Session, Way::Controller];

static KNOWN: [Profile; 5] = [
    Profile {
        name: "ACR122U",
        names: &["ACR122"],
        ways: &[Way::Controller],
        signalling: Some(Signalling::PseudoApdu),
    },
    Profile {
        name: "ACR1252U",
        names: &["ACR1252", "ACM1252"],
        ways: &[Way::Session, Way::Controller],
        signalling: Some(Signalling::Escape),
    },
    Profile {
        name: "uTrust 3700 F",
        names: &["uTrust 37", "uTrust 47", "CLOUD 37", "CLOUD 47"],
        ways: &[Way::PassThrough],
        signalling: None,
    },
    Profile {
        name: "OMNIKEY 5022",
        names: &["OMNIKEY 5022", "OMNIKEY 5122", "OMNIKEY 5422"],
        ways: &[Way::Session],
        signalling: None,
    },
    Profile {
        name: "SCL3711",
        names: &["SCL3711"],
        ways: &[Way::Session],
        signalling: None,
    },
];

impl Profile {
    /// The profile of a reader about which nothing is known.
    pub fn generic() -> &'static Self {
        &GENERIC
    }

    /// The profiles of known readers.
    pub fn known() -> &'static [Self] {
        &KNOWN
    }

    /// The profile of the reader that the system lists under this name.
    pub fn of(reader: &str) -> &'static Self {
        let reader = reader.to_lowercase();
        let is_named = |name: &&str| reader.contains(&name.to_lowercase());
        let mut known = KNOWN.iter();
        known
            .find(|profile| profile.names.iter().any(is_named))
            .unwrap_or(&GENERIC)
    }

    /// Every way of passing a command on that is tried, in order: those of this reader, and then
    /// those that any reader may have, in case that the profile is wrong.
    pub fn ways(&self) -> impl Iterator<Item = Way> + use<> {
        let own = self.ways;
        let others = COMMON.into_iter().filter(move |way| !own.contains(way));
        own.iter().copied().chain(others)
    }
}

/// Whether the name of a slot says that it takes a security module or a card with contacts. Drivers
/// end or annotate the names of slots so: "PICC" and "SAM", "PICC" and "ICC", "Contactless" and
/// "Contact".
pub fn is_module(reader: &str) -> bool {
    let mut words = reader.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| {
        ["SAM", "ICC", "Contact"]
            .iter()
            .any(|one| word.eq_ignore_ascii_case(one))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_are_known_by_the_names_that_systems_give_them() {
        for (reader, name) in [
            ("ACS ACR122U PICC Interface 00 00", "ACR122U"),
            ("Touchatag ACR122U 0", "ACR122U"),
            ("ACS ACR1252 1S CL Reader PICC 0", "ACR1252U"),
            (
                "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00",
                "ACR1252U",
            ),
            ("Identiv uTrust 3700 F CL Reader 00 00", "uTrust 3700 F"),
            ("Identiv CLOUD 4700 F Contactless Reader 0", "uTrust 3700 F"),
            (
                "HID Global OMNIKEY 5022 Smart Card Reader 0",
                "OMNIKEY 5022",
            ),
            (
                "SCM Microsystems SCL3711 Contactless Reader 00 00",
                "SCL3711",
            ),
            ("Virtual reader 00 00", "Other reader"),
            ("", "Other reader"),
        ] {
            assert_eq!(Profile::of(reader).name, name, "{reader}");
        }
    }

    #[test]
    fn a_slot_for_modules_or_contacts_is_known_by_its_name() {
        for reader in [
            "ACS ACR1252 1S CL Reader SAM 0",
            "ACS ACR1252 Dual Reader [ACR1252 Dual Reader SAM] 01 00",
            "ACS ACR1281 1S Dual Reader ICC 0",
            "Identiv uTrust 4701 F Contact Reader 0",
        ] {
            assert!(is_module(reader), "{reader}");
        }
        for reader in [
            "ACS ACR1252 1S CL Reader PICC 0",
            "Identiv CLOUD 4700 F Contactless Reader 0",
            "Samsung reader",
        ] {
            assert!(!is_module(reader), "{reader}");
        }
    }

    #[test]
    fn each_way_is_tried_once_and_the_common_ones_are_always_tried() {
        for profile in KNOWN.iter().chain([&GENERIC]) {
            let ways: Vec<_> = profile.ways().collect();
            for way in COMMON {
                let times = ways.iter().filter(|one| **one == way).count();
                assert_eq!(times, 1, "{}", profile.name);
            }
        }
        let generic: Vec<_> = Profile::generic().ways().collect();
        assert_eq!(generic, COMMON);
    }
}
