//! The owner's choices for the kiosk. They are stored in the folder of the kiosk, because they
//! belong to this machine: not to the service, and not to one user.

pub(crate) mod host;
pub(crate) mod language;
mod pin_hash;
mod store;
pub(crate) mod whole_file;

use serde::{Deserialize, Serialize};
use tapdesk_service::field_error::FieldError;
use tapdesk_service::id::GroupId;

use self::host::parse_host;
pub(crate) use self::pin_hash::PinHash;

/// The owner's choices. A missing member gets its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KioskSettings {
    /// The PIN. Without one the kiosk does not start.
    pub pin: Option<PinHash>,
    /// The fields of the settings form.
    #[serde(flatten)]
    pub chosen: Chosen,
    /// The file names of the attract page's pictures and videos, in display order.
    pub pictures: Vec<String>,
    /// The file name of the owner's logo.
    pub logo: Option<String>,
}

/// The program's next step after the right PIN, if the computer was started as a kiosk. A kiosk
/// that was started in the owner's window always returns there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LeavesTo {
    /// The program ends, and no administration is shown.
    #[default]
    Quit,
    /// The owner's window opens.
    Window,
}

/// The fields of the kiosk's settings form.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each choice stands for itself"
)]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "KioskChoices"))]
#[serde(default)]
pub struct Chosen {
    /// The name of the display. If it is not connected, the first display is used.
    pub display: Option<String>,
    /// The large text of the attract page.
    pub heading: String,
    /// The text below the heading.
    pub text: String,
    /// The owner's name or shop, small on the attract page; empty for none.
    pub name: String,
    /// Background of the attract page and of the strip, as `#rrggbb`; `None` for Tapdesk's own. The
    /// page chooses a text color that is readable on it.
    pub colour: Option<String>,
    /// Seconds without input after which a visit ends.
    pub idle_seconds: u16,
    /// Seconds for which each picture is shown.
    pub picture_seconds: u16,
    /// Hosts that visitors may see besides the service itself.
    pub hosts: Vec<String>,
    /// The group whose tags visitors may open, with all groups below it; `None` for all tags.
    #[cfg_attr(test, ts(type = "number | null"))]
    pub group_id: Option<GroupId>,
    /// The URL that the attract page shows as a QR code. A path such as `/t/k3v9qa` is one at this
    /// computer's present address on the network.
    pub code: Option<String>,
    /// The languages that visitors can choose, in their order; empty for all.
    pub languages: Vec<String>,
    /// Whether a keyboard appears for a field of a visitor's page.
    pub keyboard: bool,
    /// The program's next step after the right PIN.
    pub leaves_to: LeavesTo,
    /// Whether the kiosk plays a sound when a tag is read.
    pub sound: bool,
    /// Whether the screen flashes when a tag is read.
    pub light: bool,
    /// Whether the kiosk starts with the person's session. The session's own entry decides, because
    /// the settings can be those of several users.
    pub autostart: bool,
}

impl Default for Chosen {
    fn default() -> Self {
        Self {
            display: None,
            heading: "Place your tag here".to_owned(),
            text: "Put it on the reader to see its story.".to_owned(),
            name: String::new(),
            colour: None,
            idle_seconds: 60,
            picture_seconds: 8,
            hosts: Vec::new(),
            group_id: None,
            code: None,
            languages: Vec::new(),
            keyboard: true,
            leaves_to: LeavesTo::Quit,
            sound: true,
            light: true,
            autostart: false,
        }
    }
}

impl Chosen {
    /// Checks all fields, and returns the choices with hosts in the spelling of browsers. An `Err`
    /// names the field.
    pub fn checked(mut self) -> Result<Self, FieldError> {
        if self.heading.trim().is_empty() {
            return Err(FieldError::of(
                "heading",
                "The welcome page needs a heading.",
            ));
        }
        if self.heading.chars().count() > 120 {
            return Err(FieldError::of(
                "heading",
                "A heading has at most 120 characters.",
            ));
        }
        if self.text.chars().count() > 400 {
            return Err(FieldError::of(
                "text",
                "The text has at most 400 characters.",
            ));
        }
        if self.name.chars().count() > 40 {
            return Err(FieldError::of("name", "A name has at most 40 characters."));
        }
        self.colour = self.colour.map(|colour| colour.to_ascii_lowercase());
        // The color becomes part of a CSS style of the page, so only hexadecimal digits are
        // allowed.
        if self
            .colour
            .as_ref()
            .is_some_and(|colour| !is_colour(colour))
        {
            let why = "A colour has the form #rrggbb, for example #1f6f54.";
            return Err(FieldError::of("colour", why));
        }
        if !(5..=3600).contains(&self.idle_seconds) {
            let why = "A visit ends after 5 to 3600 seconds without input.";
            return Err(FieldError::of("idle_seconds", why));
        }
        if !(2..=600).contains(&self.picture_seconds) {
            let why = "A picture is shown for 2 to 600 seconds.";
            return Err(FieldError::of("picture_seconds", why));
        }
        let hosts = self.hosts.iter().filter(|host| !host.trim().is_empty());
        let mut hosts = hosts
            .map(|host| parse_host(host))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|why| FieldError::of("hosts", why))?;
        hosts.sort();
        hosts.dedup();
        self.hosts = hosts;
        self.languages =
            language::checked(self.languages).map_err(|why| FieldError::of("languages", why))?;
        self.code = self.code.filter(|code| !code.trim().is_empty());
        if let Some(code) = &self.code
            && !is_path(code)
            && !url::Url::parse(code).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
        {
            return Err(FieldError::of(
                "code",
                "The QR code needs an http or https URL.",
            ));
        }
        Ok(self)
    }

    /// The URL in the QR code. `lan` are the URLs by which phones reach this computer, the best one
    /// first; without any, a code with a path has none.
    pub fn code_at(&self, lan: &[String]) -> Option<String> {
        let code = self.code.as_ref()?;
        if is_path(code) {
            return lan.first().map(|computer| format!("{computer}{code}"));
        }
        Some(code.clone())
    }
}

/// Whether a code is a path of the service, and no URL. Two slashes would begin another host.
fn is_path(code: &str) -> bool {
    code.starts_with('/') && !code.starts_with("//")
}

/// Whether a text is `#` and six hexadecimal digits.
fn is_colour(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| {
        digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_follows_the_address_of_the_computer() {
        let code = |code: &str, lan: &[&str]| {
            let code = Some(code.to_owned());
            let chosen = Chosen {
                code,
                ..Chosen::default()
            };
            let lan: Vec<_> = lan.iter().map(|&url| url.to_owned()).collect();
            chosen.checked().unwrap().code_at(&lan)
        };
        let [first, later] = ["http://192.0.2.7:8787", "http://192.0.2.9:8787"];
        let at = |computer: &str| Some(format!("{computer}/t/k3v9qa"));
        assert_eq!(code("/t/k3v9qa", &[first, later]), at(first));
        assert_eq!(code("/t/k3v9qa", &[later]), at(later));
        assert_eq!(code("/t/k3v9qa", &[]), None);
        let shop = "https://tags.example/t/k3v9qa";
        assert_eq!(code(shop, &[first]), Some(shop.to_owned()));
    }

    #[test]
    fn choices_are_checked_and_tidied() {
        let chosen = Chosen {
            hosts: vec![
                "Shop.example.com".to_owned(),
                " ".to_owned(),
                "shop.example.com".to_owned(),
            ],
            code: Some(String::new()),
            colour: Some("#1F6F54".to_owned()),
            ..Chosen::default()
        };
        let checked = chosen.checked().unwrap();
        assert_eq!(checked.hosts, ["shop.example.com"]);
        assert_eq!(checked.code, None);
        assert_eq!(checked.colour.as_deref(), Some("#1f6f54"));
        for (field, wrong) in [
            (
                "heading",
                Chosen {
                    heading: " ".to_owned(),
                    ..Chosen::default()
                },
            ),
            (
                "idle_seconds",
                Chosen {
                    idle_seconds: 4,
                    ..Chosen::default()
                },
            ),
            (
                "hosts",
                Chosen {
                    hosts: vec!["*".to_owned()],
                    ..Chosen::default()
                },
            ),
            (
                "colour",
                Chosen {
                    colour: Some("#fff;background:url(https://a.example)".to_owned()),
                    ..Chosen::default()
                },
            ),
            (
                "languages",
                Chosen {
                    languages: vec!["tlh".to_owned()],
                    ..Chosen::default()
                },
            ),
            (
                "name",
                Chosen {
                    name: "n".repeat(41),
                    ..Chosen::default()
                },
            ),
            (
                "code",
                Chosen {
                    code: Some("//other.example/t/k3v9qa".to_owned()),
                    ..Chosen::default()
                },
            ),
            (
                "code",
                Chosen {
                    code: Some("javascript:alert(1)".to_owned()),
                    ..Chosen::default()
                },
            ),
        ] {
            let refused = wrong.checked().unwrap_err();
            assert_eq!(refused.field.as_deref(), Some(field), "{refused}");
        }
    }

    #[test]
    fn the_id_of_a_group_is_a_number_from_1_on() {
        let read = |text| serde_json::from_str::<Chosen>(text).map(|chosen| chosen.group_id);
        assert_eq!(read(r#"{"group_id": 1}"#).unwrap(), Some(GroupId::new(1)));
        let refused = read(r#"{"group_id": 0}"#).unwrap_err();
        assert!(refused.to_string().contains("from 1 on"), "{refused}");
    }

    #[test]
    fn choices_of_an_older_version_are_understood() {
        let settings: KioskSettings = serde_json::from_str(r#"{"heading": "Hello"}"#).unwrap();
        assert_eq!(settings.chosen.heading, "Hello");
        assert_eq!(settings.chosen.idle_seconds, 60);
        assert_eq!(settings.chosen.colour, None);
        assert_eq!(settings.pin, None);
    }
}
