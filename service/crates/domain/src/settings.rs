//! The settings of an operator for the running service.
//!
//! A setting comes from an argument, from the environment, from the stored settings, or is its
//! default: the first of these that names it decides.

mod app_links;
pub mod host;
mod overrides;
mod pages;
mod parse;

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use app_links::{AndroidApp, AppLinks};
pub use overrides::{Fixed, InvalidSetting, Layers, Overrides, Source};
pub use pages::{PageLogo, PageText, Pages, PlainPage};
pub use parse::tag_url as parse_tag_url;
use parse::{HostName, Network};
pub use parse::{InvalidNetwork, RateLimit, parse_network};

/// The settings in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Public base of the tags' URLs, without a slash at its end.
    pub tag_url: String,
    /// `app_id` of every payload.
    pub app_id: i64,
    /// Country of a client whose country is unknown.
    pub default_country: String,
    /// Header in which a trusted proxy names the client's country, in lower case.
    pub country_header: Option<String>,
    /// Peers whose forwarding headers are trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// How long interactions are kept, in months.
    pub retention_months: u32,
    /// How long rows of the audit log are kept, in months.
    pub audit_months: u32,
    /// How long submissions are kept, in months.
    pub submission_months: u32,
    /// Free space on the disk of the database, in mebibytes, below which an alert is raised; 0
    /// switches it off.
    pub disk_low_mebibytes: u32,
    /// The redirect target of simulated tags.
    pub simulated_targets: SimulatedTargets,
    /// Refused calls per minute and client before the answer is 429; `None` for no limit.
    pub rate_limit: Option<u32>,
    /// Host names by which the admin API may be addressed, in addition to the loopback's and the
    /// listener's.
    pub hosts: Vec<String>,
    /// Whether webhooks may go to addresses that are not on the public internet. Only arguments and
    /// the environment of the operator decide it.
    pub private_webhooks: bool,
    /// The apps that open tags' URLs, by host.
    pub app_links: Vec<AppLinks>,
    /// The look and the texts of plain pages.
    pub pages: Pages,
}

/// The redirect target of simulated tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SimulatedTargets {
    /// The built-in stand-in for the owner's page.
    #[default]
    StandIn,
    /// The experience's own target.
    Real,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tag_url: "http://127.0.0.1:8787/t".to_owned(),
            app_id: 1,
            default_country: String::new(),
            country_header: None,
            trusted_proxies: Vec::new(),
            retention_months: 13,
            audit_months: 24,
            submission_months: 120,
            disk_low_mebibytes: 1024,
            simulated_targets: SimulatedTargets::default(),
            rate_limit: Some(60),
            hosts: Vec::new(),
            private_webhooks: false,
            app_links: Vec::new(),
            pages: Pages::default(),
        }
    }
}

impl Settings {
    /// The URL of the tag with this slug, in the canonical form.
    pub fn url_of(&self, slug: &str) -> String {
        format!("{}/{slug}", self.tag_url)
    }

    /// Scheme and host of the tag URL, where the service's own pages are.
    pub fn origin(&self) -> String {
        url::Url::parse(&self.tag_url)
            .map_or_else(|_| String::new(), |url| url.origin().ascii_serialization())
    }

    /// Whether the tag URL is an https one.
    pub fn is_https(&self) -> bool {
        let scheme = self.tag_url.split_once(':').map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"))
    }
}
