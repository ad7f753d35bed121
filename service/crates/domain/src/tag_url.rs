//! Whether the address in chips' URLs, the tag URL, is proved.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::Timestamp;

/// The row of `settings` with the results of the last checked addresses.
pub const ROW: &str = "tag_url_checks";
/// How many results are kept. More than one, because an address is checked before it becomes the
/// setting.
const KEPT: usize = 8;

/// The result of the last check of an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TagUrlCheck {
    /// Completed address that was checked.
    pub tag_url: String,
    /// Whether a phone that opens the address reaches this service.
    pub state: TagUrlState,
    /// Why it is not proved, for programs.
    pub reason: Option<TagUrlReason>,
    /// The result in words, with the way out.
    pub detail: String,
    /// When it was checked.
    pub checked_at: Timestamp,
}

/// Whether a phone that opens an address reaches this service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TagUrlState {
    /// A test URL was opened through it.
    Proved,
    /// The test URL could not be opened through it.
    Failed,
}

/// Why a test URL could not be opened through an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TagUrlReason {
    /// The address means the device that opens it.
    Loopback,
    /// Its host name has no address.
    Dns,
    /// The connection was refused.
    Refused,
    /// No answer came in time.
    Timeout,
    /// The encrypted connection failed.
    Tls,
    /// Another server answers there.
    OtherServer,
    /// This service answers at that host, under another path.
    Path,
}

/// Adds the newest check, in place of a former one of the same address. Of too many, the oldest
/// failure is dropped: failures that somebody tries one after the other must not push out a proof.
pub fn add(checks: &mut Vec<TagUrlCheck>, newest: TagUrlCheck) {
    checks.retain(|other| other.tag_url != newest.tag_url);
    checks.insert(0, newest);
    while checks.len() > KEPT {
        let failed = checks
            .iter()
            .skip(1)
            .rposition(|check| check.state == TagUrlState::Failed);
        checks.remove(failed.map_or(KEPT, |older| older + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(number: usize, state: TagUrlState) -> TagUrlCheck {
        TagUrlCheck {
            tag_url: format!("https://tags{number}.example/t"),
            state,
            reason: None,
            detail: String::new(),
            checked_at: Timestamp::default(),
        }
    }

    #[test]
    fn failures_push_out_no_proof_and_the_newest_check_is_kept() {
        let mut checks = Vec::new();
        add(&mut checks, check(0, TagUrlState::Proved));
        for number in 1..=20 {
            add(&mut checks, check(number, TagUrlState::Failed));
            assert_eq!(checks[0], check(number, TagUrlState::Failed));
        }
        assert_eq!(checks.len(), KEPT);
        assert_eq!(checks[KEPT - 1], check(0, TagUrlState::Proved));
        // The same address is there once.
        add(&mut checks, check(0, TagUrlState::Failed));
        assert_eq!(checks.len(), KEPT);
        assert!(!checks.contains(&check(0, TagUrlState::Proved)));
        // Only proofs: the oldest is dropped, and a failure that is the newest stays.
        for number in 30..30 + KEPT {
            add(&mut checks, check(number, TagUrlState::Proved));
        }
        add(&mut checks, check(50, TagUrlState::Failed));
        assert_eq!(checks[0], check(50, TagUrlState::Failed));
        assert!(!checks.contains(&check(30, TagUrlState::Proved)));
    }
}
