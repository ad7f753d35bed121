//! The rights of a token, and the experiences or groups to which they are limited.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::{ExperienceId, GroupId};

/// A part of the admin API. Each route requires one scope.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Read the configuration and the recorded events.
    Read,
    /// Change tags and their properties, import tags, and use the simulator.
    Tags,
    /// Change experiences and their drafts.
    Experiences,
    /// Publish a version of an experience, so that taps get it.
    Publish,
    /// Write chips, and keep test sheets.
    Encode,
    /// Change inlays, master keys and URL templates.
    Keys,
    /// Create, change and delete webhooks.
    Webhooks,
    /// Download many rows in one request.
    Export,
    /// Everything; only this scope gives access to tokens, the backup, the settings and the audit
    /// log.
    Admin,
}

impl Scope {
    /// All scopes, in the order of declaration.
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

/// The rights of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    /// The accessible parts of the admin API; `admin` includes all.
    pub scopes: BTreeSet<Scope>,
    /// The only experiences for which the rights hold; `None` for all.
    pub experience_ids: Option<BTreeSet<ExperienceId>>,
    /// The only groups, with all below them, for whose tags the rights hold; `None` for all.
    pub group_ids: Option<BTreeSet<GroupId>>,
}

impl Rights {
    /// All scopes, for all experiences.
    pub fn all() -> Self {
        Self {
            scopes: [Scope::Admin].into(),
            experience_ids: None,
            group_ids: None,
        }
    }

    /// Whether the rights include `scope`.
    pub fn allow(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&Scope::Admin)
    }

    /// The first of `scopes` that the rights do not include.
    pub fn lacks(&self, scopes: &BTreeSet<Scope>) -> Option<Scope> {
        scopes.iter().copied().find(|scope| !self.allow(*scope))
    }

    /// The experiences or groups to which the rights are limited. A token has one of the two.
    pub fn reach(&self) -> Reach {
        match &self.group_ids {
            Some(groups) => Reach(Limit::Groups(groups.iter().copied().collect())),
            None => Reach::of(self.experience_ids.as_ref()),
        }
    }
}

/// The experiences, or the groups, to which a caller is limited. A tag without an experience is not
/// within reach of a caller who is limited to experiences, nor one without a group within reach of
/// a caller who is limited to groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach(Limit);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Limit {
    #[default]
    Nothing,
    Experiences(Arc<[ExperienceId]>),
    Groups(Arc<[GroupId]>),
}

impl Reach {
    /// The reach of a caller without limits.
    pub const EVERYTHING: Self = Self(Limit::Nothing);

    /// The reach of a caller who is limited to these experiences; `None` means no limit.
    pub fn of(experience_ids: Option<&BTreeSet<ExperienceId>>) -> Self {
        Self(match experience_ids {
            None => Limit::Nothing,
            Some(ids) => Limit::Experiences(ids.iter().copied().collect()),
        })
    }

    /// Whether this reach includes all of `other`.
    pub fn covers(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Limit::Nothing, _) => true,
            (Limit::Experiences(limit), Limit::Experiences(other)) => {
                other.iter().all(|id| limit.contains(id))
            }
            (Limit::Groups(limit), Limit::Groups(other)) => {
                other.iter().all(|id| limit.contains(id))
            }
            // They are of different kinds, or only the other one has no limit.
            _ => false,
        }
    }

    /// The experiences, if there is a limit. A caller who is limited to groups has none: what is
    /// only known by its experience does not exist for it.
    pub fn limit(&self) -> Option<&[ExperienceId]> {
        match &self.0 {
            Limit::Nothing => None,
            Limit::Experiences(ids) => Some(ids),
            Limit::Groups(_) => Some(&[]),
        }
    }

    /// The groups, if there is a limit to groups. The groups below them are within reach, too.
    pub fn groups(&self) -> Option<&[GroupId]> {
        match &self.0 {
            Limit::Groups(ids) => Some(ids),
            Limit::Nothing | Limit::Experiences(_) => None,
        }
    }

    /// Whether an object with this `experience` is within reach.
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
                group_ids: None,
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
        assert!(all.has(None) && all.has(Some(ExperienceId::new(1))));
        let limited = Rights {
            experience_ids: Some([ExperienceId::new(1)].into()),
            ..Rights::all()
        };
        let reach = limited.reach();
        assert!(reach.has(Some(ExperienceId::new(1))));
        assert!(!reach.has(Some(ExperienceId::new(2))) && !reach.has(None));
        let none = Rights {
            experience_ids: Some(BTreeSet::new()),
            ..Rights::all()
        };
        assert!(!none.reach().has(Some(ExperienceId::new(1))));
        assert!(all.covers(&reach) && reach.covers(&reach) && reach.covers(&none.reach()));
        assert!(!reach.covers(&all) && !none.reach().covers(&reach));
        let groups = |ids: &[i64]| Rights {
            group_ids: Some(ids.iter().copied().map(GroupId::new).collect()),
            ..Rights::all()
        };
        let of_group = groups(&[1]).reach();
        assert!(!of_group.has(Some(ExperienceId::new(1))) && !of_group.has(None));
        assert!(all.covers(&of_group) && groups(&[1, 2]).reach().covers(&of_group));
        assert!(!of_group.covers(&groups(&[1, 2]).reach()) && !of_group.covers(&all));
        assert!(!of_group.covers(&reach) && !reach.covers(&of_group));
        assert!(!of_group.covers(&none.reach()), "they are of another kind");
    }
}
