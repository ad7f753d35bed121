//! The sources of settings, one layer over the other.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::app_links::{self, AppLinks};
use super::pages::Pages;
use super::{HostName, Network, RateLimit, Settings, SimulatedTargets, parse};
use crate::field_error::OfField;
use crate::revision::{Revised, Revision};

/// The settings that one source names; the others stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Overrides {
    /// The public base of all tag URLs, as printed and encoded: `http` or `https`, without a query. Default: the listener's address and `/t`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^https?://[^?#]+$")]
    pub tag_url: Option<String>,

    /// The `app_id` of every payload. Default: `1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_id: Option<i64>,

    /// Two-letter code used if a visitor's country is unknown. Default: empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^([A-Za-z]{2})?$")]
    pub default_country: Option<String>,

    /// The header in which a trusted proxy names the visitor's country.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")]
    pub country_header: Option<String>,

    /// Addresses or address blocks of the proxies whose forwarding headers are trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Network>>)]
    pub trusted_proxies: Option<Vec<String>>,

    /// How many months interactions are kept. Default: `13`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1200)]
    pub retention_months: Option<u32>,

    /// How many months rows of the audit log are kept. Default: `24`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1200)]
    pub audit_months: Option<u32>,

    /// How many months submissions are kept. Default: `120`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1200)]
    pub submission_months: Option<u32>,

    /// How many mebibytes of room on the disk of a SQLite database raise an alert when there is less: `alert.disk_low`. `0` raises none. Default: `1024`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 16_777_216)]
    pub disk_low_mebibytes: Option<u32>,

    /// The redirect target of simulated tags: the built-in stand-in (`stand_in`), or the experience's own (`real`). Default: `stand_in`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulated_targets: Option<SimulatedTargets>,

    /// How many calls of one client may be refused in a minute before it gets 429, or `off`. Each node counts on its own. Default: `60`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,

    /// More host names and addresses that the admin API answers, beside loopback names, the listener's address and the tag URL's host.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<HostName>>)]
    pub hosts: Option<Vec<String>>,

    /// The apps that open tags' URLs, by host. Only the admin API sets it. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 50)]
    pub app_links: Option<Vec<AppLinks>>,

    /// The look and the texts of plain pages. Only the admin API sets it. Default: the service's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Pages>,
}

/// The revision covers the stored settings. Values fixed by arguments and the environment cannot be
/// edited.
impl Revised for Overrides {
    fn revision(&self) -> Revision {
        Revision::of(self)
    }
}

/// Why a setting is not valid. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {what}")]
pub struct InvalidSetting {
    /// The setting, or a member of its value: `app_links[2].host`.
    setting: Cow<'static, str>,
    what: &'static str,
}

impl InvalidSetting {
    pub(super) fn of(setting: impl Into<Cow<'static, str>>, what: &'static str) -> Self {
        let setting = setting.into();
        Self { setting, what }
    }
}

impl OfField for InvalidSetting {
    fn field(&self) -> Option<Cow<'static, str>> {
        Some(self.setting.clone())
    }
}

/// Longest retention, in months.
const RETENTION_MAX: u32 = 1200;
/// Highest limit for the disk alert, in mebibytes: 16 TiB.
const DISK_LOW_MAX: u32 = 16 << 20;

impl Settings {
    /// These settings, replaced by those that `over` names.
    pub fn with(&self, over: &Overrides) -> Result<Self, InvalidSetting> {
        let invalid = |setting: &'static str, what| move || InvalidSetting::of(setting, what);
        let mut settings = self.clone();
        if let Some(url) = &over.tag_url {
            settings.tag_url = parse::tag_url(url).ok_or_else(invalid(
                "tag_url",
                "The tag URL is an http or https URL without a query, such as https://tags.example/t.",
            ))?;
        }
        if let Some(id) = over.app_id {
            settings.app_id = id;
        }
        if let Some(code) = &over.default_country {
            settings.default_country = parse::country(code).ok_or_else(invalid(
                "default_country",
                "A country is a code of two letters such as DE, or empty.",
            ))?;
        }
        if let Some(name) = &over.country_header {
            let name = parse::header(name).ok_or_else(invalid(
                "country_header",
                "This is not a valid header name.",
            ))?;
            settings.country_header = Some(name);
        }
        if let Some(networks) = &over.trusted_proxies {
            let networks: Result<_, _> = networks.iter().map(|n| parse::parse_network(n)).collect();
            settings.trusted_proxies = networks.map_err(|_| {
                InvalidSetting::of(
                    "trusted_proxies",
                    "A network is an address, or an address block such as 10.0.0.0/8.",
                )
            })?;
        }
        if let Some(months) = over.retention_months {
            if !(1..=RETENTION_MAX).contains(&months) {
                return Err(invalid(
                    "retention_months",
                    "Interactions are kept for 1 to 1200 months.",
                )());
            }
            settings.retention_months = months;
        }
        if let Some(months) = over.audit_months {
            if !(1..=RETENTION_MAX).contains(&months) {
                return Err(invalid(
                    "audit_months",
                    "Rows of the audit log are kept for 1 to 1200 months.",
                )());
            }
            settings.audit_months = months;
        }
        if let Some(months) = over.submission_months {
            if !(1..=RETENTION_MAX).contains(&months) {
                return Err(invalid(
                    "submission_months",
                    "Submissions are kept for 1 to 1200 months.",
                )());
            }
            settings.submission_months = months;
        }
        if let Some(mebibytes) = over.disk_low_mebibytes {
            if mebibytes > DISK_LOW_MAX {
                return Err(invalid(
                    "disk_low_mebibytes",
                    "An alert is raised below 0 to 16777216 mebibytes.",
                )());
            }
            settings.disk_low_mebibytes = mebibytes;
        }
        if let Some(targets) = over.simulated_targets {
            settings.simulated_targets = targets;
        }
        if let Some(limit) = over.rate_limit {
            settings.rate_limit = limit.per_minute();
        }
        if let Some(hosts) = &over.hosts {
            let hosts: Option<_> = hosts.iter().map(|host| parse::host(host)).collect();
            settings.hosts = hosts.ok_or_else(invalid(
                "hosts",
                "A host is a name such as admin.example or an address such as 2001:db8::5, without scheme, port, path or `*`: list each host.",
            ))?;
        }
        if let Some(links) = &over.app_links {
            settings.app_links = app_links::checked(links)?;
        }
        if let Some(pages) = &over.pages {
            settings.pages = pages.checked()?;
        }
        Ok(settings)
    }
}

/// The source of a setting in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// An argument at the start.
    Argument,
    /// The environment at the start.
    Environment,
    /// A value that was stored through the admin API.
    Stored,
    /// No source sets it.
    Default,
}

/// The values fixed by arguments and the environment, for the lifetime of the process.
#[derive(Clone, Debug, Default)]
pub struct Fixed {
    /// Values from command-line arguments.
    pub argument: Overrides,
    /// Values from the environment.
    pub environment: Overrides,
}

impl Overrides {
    /// Whether there is a setting `name`.
    pub fn has(name: &str) -> bool {
        serde_json::from_value::<Self>(serde_json::json!({name: null})).is_ok()
    }

    /// Whether it names the setting `name`.
    pub fn names(&self, name: &str) -> bool {
        self.members().contains_key(name)
    }

    /// The settings for whose names `keep` is true.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let mut members = self.members();
        members.retain(|name, _| keep(name));
        serde_json::from_value(Value::Object(members)).unwrap_or_default()
    }

    /// The named settings, by name.
    fn members(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        }
    }
}

/// The defaults below the stored settings, and the fixed values above them.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// The values that apply if no source sets them.
    pub defaults: Settings,
    /// The fixed values from arguments and the environment.
    pub fixed: Fixed,
}

impl Layers {
    /// The settings in force over `stored`.
    pub fn in_force(&self, stored: &Overrides) -> Result<Settings, InvalidSetting> {
        self.defaults
            .with(stored)?
            .with(&self.fixed.environment)?
            .with(&self.fixed.argument)
    }

    /// Checks that the fixed values are valid.
    pub fn check_fixed(&self) -> Result<(), InvalidSetting> {
        self.in_force(&Overrides::default()).map(|_| ())
    }

    /// The source of the setting `name`.
    pub fn source(&self, stored: &Overrides, name: &str) -> Source {
        [
            (&self.fixed.argument, Source::Argument),
            (&self.fixed.environment, Source::Environment),
            (stored, Source::Stored),
        ]
        .into_iter()
        .find(|(layer, _)| layer.names(name))
        .map_or(Source::Default, |(_, source)| source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app_id(id: i64) -> Overrides {
        Overrides {
            app_id: Some(id),
            ..Overrides::default()
        }
    }

    #[test]
    fn an_argument_goes_before_the_environment_before_a_stored_setting() {
        let mut layers = Layers::default();
        let mut stored = Overrides::default();
        let check = |layers: &Layers, stored: &Overrides, id, source| {
            assert_eq!(layers.in_force(stored).unwrap().app_id, id);
            assert_eq!(layers.source(stored, "app_id"), source);
        };
        check(&layers, &stored, 1, Source::Default);
        stored = app_id(2);
        check(&layers, &stored, 2, Source::Stored);
        layers.fixed.environment = app_id(3);
        check(&layers, &stored, 3, Source::Environment);
        layers.fixed.argument = app_id(4);
        check(&layers, &stored, 4, Source::Argument);
    }

    #[test]
    fn a_setting_that_is_not_well_formed_is_named() {
        for (json, setting) in [
            (r#"{"tag_url": "tags.example"}"#, "tag_url"),
            (r#"{"default_country": "DEU"}"#, "default_country"),
            (r#"{"country_header": "a b"}"#, "country_header"),
            (
                r#"{"trusted_proxies": ["10.0.0.0/8", "proxy"]}"#,
                "trusted_proxies",
            ),
            (r#"{"retention_months": 0}"#, "retention_months"),
            (r#"{"audit_months": 1201}"#, "audit_months"),
            (r#"{"submission_months": 0}"#, "submission_months"),
            (r#"{"disk_low_mebibytes": 16777217}"#, "disk_low_mebibytes"),
            (r#"{"hosts": ["a.example:80"]}"#, "hosts"),
            (r#"{"hosts": ["*"]}"#, "hosts"),
            (r#"{"hosts": ["a.example", "*.example"]}"#, "hosts"),
            (r#"{"app_links": [{"host": "a.example"}]}"#, "app_links[0]"),
            (r#"{"pages": {"home_url": "/"}}"#, "pages.home_url"),
        ] {
            let over = serde_json::from_str(json).unwrap();
            let error = Settings::default().with(&over).unwrap_err();
            assert!(error.to_string().starts_with(setting), "{error}");
        }
    }
}
