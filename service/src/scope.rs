//! What a token may do, and with which experiences.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::ExperienceId;

/// A part of the admin API. Each route needs one.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Read what is configured and what happened.
    Read,
    /// Change tags and their properties, import tags, and use the simulator.
    Tags,
    /// Change experiences and their drafts.
    Experiences,
    /// Make a version of an experience the one that taps lead to.
    Publish,
    /// Write chips, and keep test sheets.
    Encode,
    /// Change inlays, master keys and URL templates.
    Keys,
    /// Change webhooks.
    Webhooks,
    /// Download many rows at once.
    Export,
    /// Everything; only this scope opens tokens, the backup, the settings and the audit log.
    Admin,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Read,
        Self::Tags,
        Self::Experiences,
        Self::Publish,
        Self::Encode,
        Self::Keys,
        Self::Webhooks,
        Self::Export,
        Self::Admin,
    ];

    /// Its name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Tags => "tags",
            Self::Experiences => "experiences",
            Self::Publish => "publish",
            Self::Encode => "encode",
            Self::Keys => "keys",
            Self::Webhooks => "webhooks",
            Self::Export => "export",
            Self::Admin => "admin",
        }
    }
}

/// What a token may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    /// The parts of the admin API that are open; `admin` is everything.
    pub scopes: BTreeSet<Scope>,
    /// The only experiences for which they are; `None` for all.
    pub experience_ids: Option<BTreeSet<ExperienceId>>,
}

impl Rights {
    /// Everything.
    pub fn all() -> Self {
        Self {
            scopes: [Scope::Admin].into(),
            experience_ids: None,
        }
    }

    /// Whether they include `scope`.
    pub fn allow(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&Scope::Admin)
    }

    /// The first of `scopes` that they do not include.
    pub fn lacks(&self, scopes: &BTreeSet<Scope>) -> Option<Scope> {
        scopes.iter().copied().find(|scope| !self.allow(*scope))
    }

    /// The experiences they are limited to.
    pub fn reach(&self) -> Reach {
        Reach::of(self.experience_ids.as_ref())
    }
}

/// The experiences that a caller is limited to. What leads to no experience is out of a
/// limited caller's reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach(Option<Arc<[ExperienceId]>>);

impl Reach {
    /// That of a caller whom nothing limits.
    pub const EVERYTHING: Self = Self(None);

    /// That of who is limited to these experiences; `None` for everything.
    pub fn of(experience_ids: Option<&BTreeSet<ExperienceId>>) -> Self {
        Self(experience_ids.map(|ids| ids.iter().copied().collect()))
    }

    /// Whether all of `other` is within it.
    pub fn covers(&self, other: &Self) -> bool {
        match (self.limit(), other.limit()) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(limit), Some(other)) => other.iter().all(|id| limit.contains(id)),
        }
    }

    /// The experiences, if it is limited.
    pub fn limit(&self) -> Option<&[ExperienceId]> {
        self.0.as_deref()
    }

    /// Whether what leads to `experience` is within it.
    pub fn has(&self, experience: Option<ExperienceId>) -> bool {
        self.limit()
            .is_none_or(|limit| experience.is_some_and(|id| limit.contains(&id)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admin_is_every_scope_and_no_other_scope_is_another() {
        for held in Scope::ALL {
            let rights = Rights {
                scopes: [held].into(),
                experience_ids: None,
            };
            for needed in Scope::ALL {
                let allowed = held == Scope::Admin || held == needed;
                assert_eq!(rights.allow(needed), allowed, "{held:?} {needed:?}");
            }
        }
    }

    #[test]
    fn a_scope_is_named_as_json_names_it() {
        for scope in Scope::ALL {
            assert_eq!(serde_json::to_value(scope).unwrap(), scope.as_str());
        }
    }

    #[test]
    fn what_leads_nowhere_is_out_of_a_limited_reach() {
        let all = Rights::all().reach();
        assert!(all.has(None) && all.has(Some(ExperienceId(1))));
        let limited = Rights {
            experience_ids: Some([ExperienceId(1)].into()),
            ..Rights::all()
        };
        let reach = limited.reach();
        assert!(reach.has(Some(ExperienceId(1))));
        assert!(!reach.has(Some(ExperienceId(2))) && !reach.has(None));
        let none = Rights {
            experience_ids: Some(BTreeSet::new()),
            ..Rights::all()
        };
        assert!(!none.reach().has(Some(ExperienceId(1))));
        assert!(all.covers(&reach) && reach.covers(&reach) && reach.covers(&none.reach()));
        assert!(!reach.covers(&all) && !none.reach().covers(&reach));
    }
}
