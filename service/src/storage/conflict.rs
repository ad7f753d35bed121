//! What a write can be refused for.

use std::borrow::Cow;

use crate::field_error::{FieldError, OfField};
use crate::id::{EncodingRunId, FactoryOrderId, TagId, UrlTemplateId};
use crate::inlay::Uid;
use crate::inlay::virtual_inlay::UsedUp;
use crate::inventory::{InvalidInlay, InvalidUrlTemplate, URL_TEMPLATES_MAX};
use crate::revision::Changed;
use crate::settings::InvalidSetting;
use crate::sheet::ROWS_MAX;
use crate::tag::InvalidProperty;
use crate::webhook::{Disabled, ENDPOINTS_MAX};

/// Most former slugs of a tag. Each is reserved for good and listed with its tag wherever tags
/// are; a tag that is encoded or printed again has two or three in its life, and a program that
/// renames tags every day must not fill the database.
pub(super) const FORMER_SLUGS_MAX: u64 = 100;

/// Most encodings that a token begins in a day with chips that prove nothing. A chip is a UID that
/// whoever relays says it has, and each is kept: a token that can only encode must not fill the
/// database with UIDs that it invents. A desk lays down fewer chips of other people in a day.
pub(super) const UNPROVED_MAX: u64 = 1_000;

/// A rule of the data that a write would break. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// Another tag has the slug.
    #[error("The slug \"{0}\" is taken by another tag.")]
    SlugTaken(String),
    /// Another tag had the slug before, and still answers to it.
    #[error(
        "The slug \"{slug}\" is a former slug of the tag {tag}, and still leads there. Release it at that tag first."
    )]
    SlugReserved {
        /// The slug.
        slug: String,
        /// The tag that had it.
        tag: TagId,
    },
    /// The tag has had as many slugs before as it may have.
    #[error(
        "The tag has {FORMER_SLUGS_MAX} former slugs, and can have no more. Release one first that is neither encoded nor printed."
    )]
    TooManyFormerSlugs,
    /// An import that is not finished needs the slug.
    #[error("The slug \"{0}\" is taken by an import that is not finished yet.")]
    SlugInImport(String),
    /// An import that is not finished has an inlay with the UID.
    #[error("An import that is not finished yet has an inlay with the UID {0}.")]
    UidInImport(String),
    /// Nobody went on with an import, so it was given up.
    #[error(
        "The import was cancelled, because it stood still for too long. Nothing of it is stored: start it again."
    )]
    ImportGivenUp,
    /// Another inlay has the UID.
    #[error("An inlay with the UID {0} exists already.")]
    UidTaken(String),
    /// The write refers to something that does not exist.
    #[error("There is no {noun} {id}.")]
    Missing {
        /// What it refers to.
        noun: &'static str,
        /// Its id.
        id: i64,
    },
    /// Inlay and tag are of two worlds: one is simulated, the other is not.
    #[error(
        "A {} inlay cannot be bound to the tag {tag}, which is {}: the simulated world and the real one do not mix.",
        if *simulated { "simulated" } else { "real" },
        if *simulated { "real" } else { "simulated" }
    )]
    OtherWorld {
        /// The tag.
        tag: TagId,
        /// Whether the inlay is simulated, and the tag is not.
        simulated: bool,
    },
    /// One URL could be of two templates.
    #[error(
        "A URL could match this template and \"{name}\" (URL template {id}), so neither would say whose code it has. Change the host, the path, or a fixed parameter of one of them."
    )]
    TemplatesOverlap {
        /// The other template's name.
        name: String,
        /// The other template.
        id: UrlTemplateId,
    },
    /// A chip was written by a template that has changed since, or is deleted.
    #[error(
        "The URL template changed since this chip was begun, so its taps would not verify. \
         Give the encoding up (DELETE it), and lay the chip down again: it is written anew."
    )]
    TemplateChanged,
    /// There are as many templates as there may be.
    #[error(
        "There are {URL_TEMPLATES_MAX} URL templates, and there can be no more. Delete one first."
    )]
    TooManyTemplates,
    /// There are as many endpoints of webhooks as there may be.
    #[error("There are {ENDPOINTS_MAX} webhooks, and there can be no more. Delete one first.")]
    TooManyWebhooks,
    /// The webhook is off, so that nothing is sent to it.
    #[error("{} Switch it on, then send again.", why_off(*.0))]
    WebhookOff(Option<Disabled>),
    /// A token began as many encodings in a day with chips that prove nothing as it may.
    #[error(
        "This token began {UNPROVED_MAX} encodings in 24 hours with chips that proved nothing. Continue with those \
         chips, so that they prove a key; or wait, or use another token."
    )]
    TooManyUnproved,
    /// A virtual inlay's counter is at its end.
    #[error(transparent)]
    UsedUp(#[from] UsedUp),
    /// What is to be changed is not as its editor saw it.
    #[error(transparent)]
    Changed(#[from] Changed),
    /// What is asked for is not valid, whatever is stored.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// What is to be changed or deleted is in use, or takes no more.
    #[error(transparent)]
    InUse(#[from] InUse),
}

/// Why what is asked for cannot be. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The experience is of another kind.
    #[error("The kind of an experience does not change. Create another one for that.")]
    OtherKind,
    /// The tag would be out of the reach of who makes the change.
    #[error("This token is limited to some experiences: name one of them.")]
    NoExperience,
    /// The tag would have such a property.
    #[error(transparent)]
    Property(#[from] InvalidProperty),
    /// The inlay cannot be as it would be.
    #[error(transparent)]
    Inlay(#[from] InvalidInlay),
    /// The URL template cannot be as it would be.
    #[error(transparent)]
    UrlTemplate(#[from] InvalidUrlTemplate),
    /// A list continues at a place in another order.
    #[error("after is a place in another order.")]
    OtherOrder,
    /// No such setting can be in force.
    #[error(transparent)]
    Setting(#[from] InvalidSetting),
    /// An edit, or a row of an import, says by itself what is wrong with it.
    #[error(transparent)]
    Edit(#[from] FieldError),
}

/// Why something stays as it is: others need it so. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InUse {
    /// Tags lead to the experience.
    #[error(
        "{} to this experience. Assign {} another one first.",
        if *.0 == 1 { "One tag leads".to_owned() } else { format!("{} tags lead", .0) },
        if *.0 == 1 { "it" } else { "them" }
    )]
    ByTags(u64),
    /// Inlays have their keys from the master key.
    #[error(
        "{} keys from this master key. Give them other keys, or delete them, first.",
        if *.0 == 1 { "One inlay has its".to_owned() } else { format!("{} inlays have their", .0) }
    )]
    ByInlays(u64),
    /// Templates open codes with the master key.
    #[error(
        "{} codes with this master key. Take it from {} first.",
        if *.0 == 1 { "One URL template opens".to_owned() } else { format!("{} URL templates open", .0) },
        if *.0 == 1 { "it" } else { "them" }
    )]
    ByTemplates(u64),
    /// Inlays write their URLs by the template.
    #[error(
        "{} this URL template. What decides its codes stays as it is until they have another one, or are deleted.",
        if *.0 == 1 { "One inlay uses".to_owned() } else { format!("{} inlays use", .0) }
    )]
    ByTemplateInlays(u64),
    /// Chips are half way with the template.
    #[error(
        "{} partly encoded with this URL template. Finish {what}, or cancel the encoding (DELETE), first.",
        if *chips == 1 { format!("The chip {first} is") } else { format!("{chips} chips, {first} among them, are") },
        what = if *chips == 1 { "it" } else { "them" }
    )]
    ByEncodings {
        /// How many.
        chips: u64,
        /// One of them.
        first: Uid,
    },
    /// An encoding run writes its chips by the template.
    #[error(
        "The encoding run \"{name}\" (run {id}) is open and writes this URL template. Close the run first."
    )]
    ByRun {
        /// The run's name.
        name: String,
        /// The run.
        id: EncodingRunId,
    },
    /// A bureau writes chips by the template.
    #[error(
        "The factory order \"{name}\" (order {id}) writes this URL template, and {chips} of its chips did not come \
         back. Import what the bureau reports first; or delete the order, or the tags whose chips will not come."
    )]
    ByOrder {
        /// The order's name.
        name: String,
        /// The order.
        id: FactoryOrderId,
        /// How many chips are out.
        chips: u64,
    },
    /// Chips of a factory order came back.
    #[error(
        "{0} of the chips of this order came back, and goods-in needs the order. If the others will not come, delete their tags."
    )]
    ByReceivedChips(u64),
    /// Inlays are found by the meta key alone.
    #[error(
        "{} found by this key alone. Give {} another URL template first.",
        if *.0 == 1 { "One inlay is".to_owned() } else { format!("{} inlays are", .0) },
        if *.0 == 1 { "it" } else { "them" }
    )]
    ByFoundInlays(u64),
    /// Rows of an import need it.
    #[error("An import that is not finished yet needs this {0}. Wait for it to end.")]
    ByImport(&'static str),
    /// The draft or what is published shows the image.
    #[error("The page shows this image. Take it out of the draft and publish that first.")]
    Shown,
    /// The sheet is closed.
    #[error("The sheet is closed. It takes rows again once it is opened.")]
    Closed,
    /// The sheet has as many rows as a sheet can have.
    #[error("The sheet has {ROWS_MAX} rows and takes no more. Begin another.")]
    Full,
    /// The encoding run is closed.
    #[error("The run is closed. It encodes again once it is opened.")]
    RunClosed,
    /// Every tag of the encoding run has an inlay, or is kept for a chip that is half way.
    #[error(
        "Every tag of the run has an inlay, or is reserved for an unfinished one. Finish or reject those, or create another run."
    )]
    RunFull,
}

/// The state of a webhook that is off, in words.
const fn why_off(disabled: Option<Disabled>) -> &'static str {
    match disabled {
        None => "The webhook is off.",
        Some(Disabled::Failing) => "The webhook is off: it failed for five days.",
        Some(Disabled::Gone) => "The webhook is off: it answered 410, so it is gone.",
        Some(Disabled::Restored) => {
            "The webhook is off: the database was restored or moved, and the original may still send."
        }
    }
}

impl OfField for Conflict {
    fn field(&self) -> Option<Cow<'static, str>> {
        let field = match self {
            Self::SlugTaken(_) | Self::SlugReserved { .. } | Self::SlugInImport(_) => "slug",
            Self::UidTaken(_) | Self::UidInImport(_) => "uid",
            Self::Missing { noun, .. } => return member(noun).map(Cow::Borrowed),
            Self::OtherWorld { .. } => "tag_id",
            Self::TemplatesOverlap { .. } => "template",
            Self::Invalid(why) => return FieldError::from(why.clone()).field,
            _ => return None,
        };
        Some(field.into())
    }
}

/// The member by which a request refers to such a thing.
fn member(noun: &str) -> Option<&'static str> {
    Some(match noun {
        "tag" => "tag_id",
        "experience" => "experience_id",
        "master key" => "master_key_id",
        "URL template" => "url_template_id",
        "version" => "version",
        _ => return None,
    })
}

impl From<Invalid> for FieldError {
    fn from(why: Invalid) -> Self {
        match why {
            Invalid::OtherKind => Self::of("kind", why.to_string()),
            Invalid::NoExperience => Self::of("experience_id", why.to_string()),
            Invalid::Property(why) => why.into(),
            Invalid::Inlay(why) => why.into(),
            Invalid::UrlTemplate(why) => why.into(),
            Invalid::OtherOrder => Self::of("after", why.to_string()),
            Invalid::Setting(why) => why.into(),
            Invalid::Edit(why) => why,
        }
    }
}

/// What is wrong with an edit.
impl From<FieldError> for Conflict {
    fn from(why: FieldError) -> Self {
        Invalid::Edit(why).into()
    }
}

/// What is wrong with a row of a file, in words: its columns are no fields of a request.
impl From<String> for Conflict {
    fn from(why: String) -> Self {
        FieldError::whole(why).into()
    }
}

impl From<InvalidSetting> for Conflict {
    fn from(why: InvalidSetting) -> Self {
        Invalid::from(why).into()
    }
}
