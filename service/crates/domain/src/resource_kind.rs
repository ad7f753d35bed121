//! The kinds of resources in the admin API, for events about their changes.

use serde::Serialize;
use utoipa::ToSchema;

use crate::scope::Scope;

/// A kind of resource: the first part of its path in the admin API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ResourceKind {
    /// Backups that are made on a schedule.
    Backup,
    /// The demo data: tags, experiences, inlays and their taps.
    Demo,
    /// The master secret of encoded chips.
    EncodingRoot,
    /// Runs that encode many chips.
    EncodingRuns,
    /// The encoding of one chip.
    Encodings,
    /// Experiences, their drafts, versions and images.
    Experiences,
    /// Orders of inlays that a factory encodes.
    FactoryOrders,
    /// Products, batches and folders.
    Groups,
    /// Inlays and their keys.
    Inlays,
    /// Recorded taps, and the data of their visitors.
    Interactions,
    /// The server that sends mails.
    Mail,
    /// Keys from which chips' keys are derived.
    MasterKeys,
    /// Notifications by mail and chat.
    Notifications,
    /// Phones of staff, and their pairing.
    Phones,
    /// The settings of the service.
    Settings,
    /// Sheets on which inlays are tested.
    Sheets,
    /// Inlays in software, for trials.
    Simulator,
    /// Forms that visitors have sent.
    Submissions,
    /// The proof of the tag URL.
    TagUrl,
    /// Tags, their variables and other properties.
    Tags,
    /// Tokens of the admin API.
    Tokens,
    /// Authentic chips that are no inlays.
    UnlistedChips,
    /// Forms of URLs that chips carry.
    UrlTemplates,
    /// Webhooks and their deliveries.
    Webhooks,
}

impl ResourceKind {
    /// All kinds, in the order of declaration.
    pub const ALL: [Self; 24] = [
        Self::Backup,
        Self::Demo,
        Self::EncodingRoot,
        Self::EncodingRuns,
        Self::Encodings,
        Self::Experiences,
        Self::FactoryOrders,
        Self::Groups,
        Self::Inlays,
        Self::Interactions,
        Self::Mail,
        Self::MasterKeys,
        Self::Notifications,
        Self::Phones,
        Self::Settings,
        Self::Sheets,
        Self::Simulator,
        Self::Submissions,
        Self::TagUrl,
        Self::Tags,
        Self::Tokens,
        Self::UnlistedChips,
        Self::UrlTemplates,
        Self::Webhooks,
    ];

    /// Its name in JSON, and the first part of its path.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Backup => "backup",
            Self::Demo => "demo",
            Self::EncodingRoot => "encoding-root",
            Self::EncodingRuns => "encoding-runs",
            Self::Encodings => "encodings",
            Self::Experiences => "experiences",
            Self::FactoryOrders => "factory-orders",
            Self::Groups => "groups",
            Self::Inlays => "inlays",
            Self::Interactions => "interactions",
            Self::Mail => "mail",
            Self::MasterKeys => "master-keys",
            Self::Notifications => "notifications",
            Self::Phones => "phones",
            Self::Settings => "settings",
            Self::Sheets => "sheets",
            Self::Simulator => "simulator",
            Self::Submissions => "submissions",
            Self::TagUrl => "tag-url",
            Self::Tags => "tags",
            Self::Tokens => "tokens",
            Self::UnlistedChips => "unlisted-chips",
            Self::UrlTemplates => "url-templates",
            Self::Webhooks => "webhooks",
        }
    }

    /// The kind with this name; `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// The kind of a path within the admin API, such as `tags/41/variables`, and the id in it, if
    /// the path names one resource. `None` for paths that change no resource.
    pub fn of_path(path: &str) -> Option<(Self, Option<i64>)> {
        let mut parts = path.split('/');
        let kind = Self::named(parts.next()?)?;
        // Unlisted chips are named by their UID, which may consist of digits only.
        let id = match kind {
            Self::UnlistedChips => None,
            _ => parts.next().and_then(|id| id.parse().ok()),
        };
        // The visitor of a tap made others, too, and what they entered is in tags and submissions.
        let is_visitor = kind == Self::Interactions && parts.next() == Some("visitor");
        Some((kind, id.filter(|_| !is_visitor)))
    }

    /// The scope that reads resources of this kind.
    pub const fn scope(self) -> Scope {
        match self {
            Self::Backup
            | Self::Mail
            | Self::Notifications
            | Self::Phones
            | Self::Settings
            | Self::Tokens => Scope::Admin,
            Self::Webhooks => Scope::Webhooks,
            Self::Demo
            | Self::EncodingRoot
            | Self::EncodingRuns
            | Self::Encodings
            | Self::Experiences
            | Self::FactoryOrders
            | Self::Groups
            | Self::Inlays
            | Self::Interactions
            | Self::MasterKeys
            | Self::Sheets
            | Self::Simulator
            | Self::Submissions
            | Self::TagUrl
            | Self::Tags
            | Self::UnlistedChips
            | Self::UrlTemplates => Scope::Read,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_named_as_json_names_it() {
        for kind in ResourceKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            assert_eq!(ResourceKind::named(kind.as_str()), Some(kind));
        }
    }

    #[test]
    fn a_path_names_a_kind_and_at_most_one_resource() {
        use ResourceKind as Kind;
        for (path, expected) in [
            ("tags/41", Some((Kind::Tags, Some(41)))),
            ("tags/41/variables/owner", Some((Kind::Tags, Some(41)))),
            ("tags", Some((Kind::Tags, None))),
            ("tags/bulk", Some((Kind::Tags, None))),
            ("backup/schedule", Some((Kind::Backup, None))),
            ("simulator/inlays/3/tap", Some((Kind::Simulator, None))),
            (
                "unlisted-chips/04123456789012",
                Some((Kind::UnlistedChips, None)),
            ),
            ("interactions/5", Some((Kind::Interactions, Some(5)))),
            ("interactions/5/visitor", Some((Kind::Interactions, None))),
            ("labels", None),
            ("", None),
        ] {
            assert_eq!(ResourceKind::of_path(path), expected, "{path}");
        }
    }
}
