//! The stable names of what can be wrong, for programs.

use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::storage::{Conflict, InUse};

/// What is wrong, for programs. A code is never renamed; new ones can come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = ProblemCode)]
pub(crate) enum Code {
    /// The request does not name exactly one host.
    BadHost,
    /// No token, or a wrong one.
    Unauthorized,
    /// The token lacks a scope; `scope` names it.
    Scope,
    /// There is no such route or resource.
    NotFound,
    /// The route has no such method.
    MethodNotAllowed,
    /// The request took too long to arrive.
    Timeout,
    /// Another tag has the slug.
    SlugTaken,
    /// The slug is a former one of another tag.
    SlugReserved,
    /// The tag can have no more former slugs.
    TooManyFormerSlugs,
    /// Another inlay has the UID.
    UidTaken,
    /// An import that is not finished needs the slug, the UID or the resource.
    InImport,
    /// The import stood still for too long, and nothing of it is stored.
    ImportGivenUp,
    /// One URL could be of two URL templates.
    TemplatesOverlap,
    /// The URL template changed since the chip was begun by it.
    TemplateChanged,
    /// There are as many URL templates as there may be.
    TooManyTemplates,
    /// There are as many webhooks as there may be.
    TooManyWebhooks,
    /// The webhook is off.
    WebhookOff,
    /// The token began as many encodings in a day with chips that prove nothing as it may.
    TooManyUnproved,
    /// The request refers to something that does not exist.
    Missing,
    /// A simulated inlay or tag does not go with a real one.
    OtherWorld,
    /// Others need it as it is.
    InUse,
    /// The sheet is closed.
    SheetClosed,
    /// The sheet has as many rows as it can have.
    SheetFull,
    /// The encoding run is closed.
    RunClosed,
    /// The encoding run has no tag left.
    RunFull,
    /// The counter of the virtual inlay is at its end.
    CounterUsedUp,
    /// The virtual inlay is on no tag.
    NoTag,
    /// The virtual inlay makes no codes.
    NoMirror,
    /// The tags have more different keys of properties than a table has room for.
    TooManyKeys,
    /// The selection has another number of tags than `expected_count`.
    CountChanged,
    /// An argument or the environment of the service fixes the setting.
    SettingFixed,
    /// The chip is being encoded for something else.
    EncodingOpen,
    /// The inlay of the chip is blocked.
    InlayBlocked,
    /// The turn of an encoding was answered otherwise, or is not the present one.
    TurnStale,
    /// The key that wraps inlay keys is locked, or another one.
    InlayKeyLocked,
    /// The tap does not prove that a person holds the tag.
    NotProved,
    /// This kind of database does not support it.
    Unsupported,
    /// `If-Match` names another revision of the resource.
    Changed,
    /// The body is too large.
    TooLarge,
    /// The body is of another type than it must be.
    UnsupportedMediaType,
    /// The host name is not one of ours.
    Misdirected,
    /// The request does not say what it must; `errors` names the field.
    Invalid,
    /// The client had too many refused requests.
    RateLimited,
    /// The service failed.
    Internal,
    /// The database does not answer.
    Unavailable,
    /// The disk is full.
    DiskFull,
}

impl Code {
    /// The status of its problems.
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
            | Self::TooManyWebhooks
            | Self::WebhookOff
            | Self::Missing
            | Self::OtherWorld
            | Self::InUse
            | Self::SheetClosed
            | Self::SheetFull
            | Self::RunClosed
            | Self::RunFull
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

/// What a rule of the data that a write would break is called.
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
            Conflict::TemplatesOverlap { .. } => Self::TemplatesOverlap,
            Conflict::TemplateChanged => Self::TemplateChanged,
            Conflict::TooManyTemplates => Self::TooManyTemplates,
            Conflict::TooManyWebhooks => Self::TooManyWebhooks,
            Conflict::WebhookOff(_) => Self::WebhookOff,
            Conflict::TooManyUnproved => Self::TooManyUnproved,
            Conflict::Missing { .. } => Self::Missing,
            Conflict::OtherWorld { .. } => Self::OtherWorld,
            Conflict::UsedUp(_) => Self::CounterUsedUp,
            Conflict::Changed(_) => Self::Changed,
            Conflict::Invalid(_) => Self::Invalid,
            Conflict::InUse(InUse::Closed) => Self::SheetClosed,
            Conflict::InUse(InUse::Full) => Self::SheetFull,
            Conflict::InUse(InUse::RunClosed) => Self::RunClosed,
            Conflict::InUse(InUse::RunFull) => Self::RunFull,
            Conflict::InUse(
                InUse::ByTags(_)
                | InUse::ByInlays(_)
                | InUse::ByTemplates(_)
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
