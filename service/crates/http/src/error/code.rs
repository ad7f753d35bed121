//! Stable names of problems, for programs.

use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use storage::{Conflict, InUse};

/// Stable name of a problem, for programs. A code is never renamed; new codes may be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ProblemCode)]
#[expect(
    clippy::enum_variant_names,
    reason = "the code of a group is another code"
)]
pub(crate) enum Code {
    /// The request does not have exactly one `Host`.
    BadHost,
    /// The token is missing or invalid.
    Unauthorized,
    /// The token lacks a scope; `scope` names it.
    Scope,
    /// The route or the resource does not exist.
    NotFound,
    /// The route does not support this method.
    MethodNotAllowed,
    /// The request took too long to arrive.
    Timeout,
    /// Another tag has this slug.
    SlugTaken,
    /// The slug is a former slug of another tag.
    SlugReserved,
    /// The tag has the maximum number of former slugs.
    TooManyFormerSlugs,
    /// Another inlay has this UID.
    UidTaken,
    /// An unfinished import uses the slug, the UID or the resource.
    InImport,
    /// The import made no progress for too long. Nothing of it is stored.
    ImportGivenUp,
    /// A URL would match two URL templates.
    TemplatesOverlap,
    /// The URL template changed after the encoding of the chip began.
    TemplateChanged,
    /// The maximum number of URL templates exists.
    TooManyTemplates,
    /// The group would be in itself, too deep, or a product in a batch.
    InvalidPlace,
    /// Another group at this place has the code.
    CodeTaken,
    /// The maximum number of webhooks exists.
    TooManyWebhooks,
    /// The maximum number of notifications exists.
    TooManyNotifications,
    /// The webhook is switched off.
    WebhookOff,
    /// The token reached its daily limit of encodings of chips that prove nothing.
    TooManyUnproved,
    /// The request refers to a resource that does not exist.
    Missing,
    /// The request combines simulated and real tags or inlays.
    OtherWorld,
    /// Other resources depend on this one.
    InUse,
    /// The sheet is closed.
    SheetClosed,
    /// The sheet has the maximum number of rows.
    SheetFull,
    /// The sheet is signed off, so that it and its rows are fixed.
    SheetSignedOff,
    /// The encoding run is closed.
    RunClosed,
    /// The encoding run has no tags left.
    RunFull,
    /// The reason why the form could not be saved still applies.
    NotSavable,
    /// The refused form is already saved.
    SavedAlready,
    /// The counter of the virtual inlay has reached its maximum.
    CounterUsedUp,
    /// The virtual inlay is not on a tag.
    NoTag,
    /// The virtual inlay generates no codes.
    NoMirror,
    /// The tags have more different property keys than a table can have columns.
    TooManyKeys,
    /// The number of selected tags is not `expected_count`, or a sheet has another number of rows
    /// than its signer saw.
    CountChanged,
    /// A command line argument or an environment variable fixes the setting.
    SettingFixed,
    /// The chip is part of another open encoding.
    EncodingOpen,
    /// The inlay of the chip is blocked.
    InlayBlocked,
    /// This turn of the encoding is not the current one, or has another answer already.
    TurnStale,
    /// The key that wraps inlay keys is locked or the wrong one.
    InlayKeyLocked,
    /// The tap does not prove that a person holds the tag.
    NotProved,
    /// The address for chips is not proved yet.
    AddressNotProved,
    /// This kind of database does not support the operation.
    Unsupported,
    /// The resource has another revision than `If-Match`.
    Changed,
    /// The body exceeds the size limit.
    TooLarge,
    /// The body has an unsupported media type.
    UnsupportedMediaType,
    /// The `Host` is not one of the service's host names.
    Misdirected,
    /// The request lacks something, or something in it is invalid; `errors` names the field.
    Invalid,
    /// The client had too many refused requests.
    RateLimited,
    /// An internal error; the log of the service contains the cause.
    Internal,
    /// The database does not answer.
    Unavailable,
    /// The disk is full.
    DiskFull,
}

impl Code {
    /// The HTTP status of problems with this code.
    pub(super) const fn status(self) -> StatusCode {
        match self {
            Self::BadHost => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Scope => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Timeout => StatusCode::REQUEST_TIMEOUT,
            Self::SlugTaken
            | Self::SlugReserved
            | Self::TooManyFormerSlugs
            | Self::UidTaken
            | Self::InImport
            | Self::ImportGivenUp
            | Self::TemplatesOverlap
            | Self::TemplateChanged
            | Self::TooManyTemplates
            | Self::InvalidPlace
            | Self::CodeTaken
            | Self::TooManyWebhooks
            | Self::TooManyNotifications
            | Self::WebhookOff
            | Self::Missing
            | Self::OtherWorld
            | Self::InUse
            | Self::SheetClosed
            | Self::SheetFull
            | Self::SheetSignedOff
            | Self::RunClosed
            | Self::RunFull
            | Self::NotSavable
            | Self::SavedAlready
            | Self::CounterUsedUp
            | Self::NoTag
            | Self::NoMirror
            | Self::TooManyKeys
            | Self::CountChanged
            | Self::SettingFixed
            | Self::EncodingOpen
            | Self::InlayBlocked
            | Self::TurnStale
            | Self::InlayKeyLocked
            | Self::NotProved
            | Self::AddressNotProved
            | Self::Unsupported => StatusCode::CONFLICT,
            Self::Changed => StatusCode::PRECONDITION_FAILED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Misdirected => StatusCode::MISDIRECTED_REQUEST,
            Self::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooManyUnproved | Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
        }
    }
}

/// The code for a rule of the data that a write would break.
impl From<&Conflict> for Code {
    fn from(conflict: &Conflict) -> Self {
        match conflict {
            Conflict::SlugTaken(_) => Self::SlugTaken,
            Conflict::SlugReserved { .. } => Self::SlugReserved,
            Conflict::TooManyFormerSlugs => Self::TooManyFormerSlugs,
            Conflict::SlugInImport(_)
            | Conflict::UidInImport(_)
            | Conflict::InUse(InUse::ByImport(_)) => Self::InImport,
            Conflict::ImportGivenUp => Self::ImportGivenUp,
            Conflict::UidTaken(_) => Self::UidTaken,
            Conflict::TemplatesOverlap { .. } | Conflict::TemplatesCrowded => {
                Self::TemplatesOverlap
            }
            Conflict::TemplateChanged => Self::TemplateChanged,
            Conflict::TooManyTemplates => Self::TooManyTemplates,
            Conflict::InvalidPlace(_) => Self::InvalidPlace,
            Conflict::CodeTaken(_) => Self::CodeTaken,
            Conflict::TooManyWebhooks => Self::TooManyWebhooks,
            Conflict::TooManyNotifications => Self::TooManyNotifications,
            Conflict::WebhookOff(_) => Self::WebhookOff,
            Conflict::TooManyUnproved => Self::TooManyUnproved,
            Conflict::Missing { .. } | Conflict::MissingInList { .. } => Self::Missing,
            Conflict::OtherWorld { .. } => Self::OtherWorld,
            Conflict::UsedUp(_) => Self::CounterUsedUp,
            Conflict::Changed(_) => Self::Changed,
            Conflict::Invalid(_) => Self::Invalid,
            Conflict::InUse(InUse::Closed) => Self::SheetClosed,
            Conflict::InUse(InUse::Full) => Self::SheetFull,
            Conflict::InUse(InUse::SignedOff) => Self::SheetSignedOff,
            Conflict::InUse(InUse::OtherRows(_)) => Self::CountChanged,
            Conflict::InUse(InUse::RunClosed) => Self::RunClosed,
            Conflict::InUse(InUse::RunFull) => Self::RunFull,
            Conflict::InUse(InUse::NotSavable(_)) => Self::NotSavable,
            Conflict::InUse(InUse::SavedAlready) => Self::SavedAlready,
            Conflict::InUse(
                InUse::ByTags(_)
                | InUse::ByGroups(_)
                | InUse::ByMembers { .. }
                | InUse::ByInlays(_)
                | InUse::ByTemplates(_)
                | InUse::ByTemplatesOfTags(_)
                | InUse::ByTemplatesOfGroup(_)
                | InUse::ByNotifications(_)
                | InUse::ByTemplateInlays(_)
                | InUse::ByEncodings { .. }
                | InUse::ByRun { .. }
                | InUse::ByOrder { .. }
                | InUse::ByReceivedChips(_)
                | InUse::ByFoundInlays(_)
                | InUse::Shown,
            ) => Self::InUse,
        }
    }
}
