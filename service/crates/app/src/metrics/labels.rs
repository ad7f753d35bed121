//! Labels of the metrics. Each has few values, and none that a client chooses.

use prometheus_client::encoding::EncodeLabelSet;

/// A request by its route, method and status.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RequestLabels {
    pub(super) route: String,
    pub(super) method: &'static str,
    pub(super) status: u16,
}

/// The time of a request by its route and outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct TimeLabels {
    pub(super) route: String,
    pub(super) outcome: &'static str,
}

/// A tap by its reason, and by where it came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct TapLabels {
    pub(super) reason: &'static str,
    pub(super) origin: &'static str,
}

/// A slow derivation of keys by its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct DerivationLabels {
    pub(super) outcome: &'static str,
}

/// A tap of an unlisted chip by its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct UnlistedLabels {
    pub(super) outcome: &'static str,
}

/// Rows that housekeeping removed, by their kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RowLabels {
    pub(super) kind: &'static str,
}

/// A queue of the storage by its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct QueueLabels {
    pub(super) queue: &'static str,
}

/// A method's name. Unknown methods share one label, so that clients cannot create labels.
pub(super) fn known(method: &str) -> &'static str {
    match method {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

/// The outcome of a request. It has only three values instead of each status, because every value
/// is a whole histogram for each route.
pub(super) fn outcome(status: u16) -> &'static str {
    match status {
        ..400 => "ok",
        400..500 => "refused",
        500.. => "failed",
    }
}
