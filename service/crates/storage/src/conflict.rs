//! The reasons for which the database refuses a write.

use std::borrow::Cow;

use domain::field_error::{FieldError, OfField};
use domain::group::InvalidPlace;
use domain::id::{EncodingRunId, FactoryOrderId, TagId, UrlTemplateId};
use domain::inventory::{InvalidInlay, InvalidUrlTemplate, URL_TEMPLATES_MAX};
use domain::notification::NOTIFICATIONS_MAX;
use domain::plural::counted;
use domain::revision::Changed;
use domain::settings::InvalidSetting;
use domain::sheet::ROWS_MAX;
use domain::tag::InvalidProperty;
use domain::webhook::{Disabled, ENDPOINTS_MAX};
use inlay::Uid;
use inlay::template::ASKED_MAX;
use inlay::virtual_inlay::UsedUp;

/// Most former slugs of a tag. Each stays reserved, and every list of tags shows it. A tag that is
/// encoded or printed again has two or three in its lifetime; the limit stops a program that
/// renames tags every day from filling the database.
pub(super) const FORMER_SLUGS_MAX: u64 = 100;

/// Most encodings per day that one token may start with chips that prove no key. The caller only
/// claims a chip's UID, and each UID is stored: a token that may only encode must not fill the
/// database with invented UIDs. An encoding desk sees fewer foreign chips in a day.
pub(super) const UNPROVED_MAX: u64 = 1_000;

/// A rule of the data that a write would break. The message of each is a sentence for people.
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
        /// The slug that the write asked for.
        slug: String,
        /// The tag that had it.
        tag: TagId,
    },
    /// The tag already has the maximum number of former slugs.
    #[error(
        "The tag has {FORMER_SLUGS_MAX} former slugs, and can have no more. Release one first that is neither encoded nor printed."
    )]
    TooManyFormerSlugs,
    /// An unfinished import needs the slug.
    #[error("The slug \"{0}\" is taken by an import that is not finished yet.")]
    SlugInImport(String),
    /// An unfinished import has an inlay with the UID.
    #[error("An import that is not finished yet has an inlay with the UID {0}.")]
    UidInImport(String),
    /// The import stood still for too long, so it was cancelled.
    #[error(
        "The import was cancelled, because it stood still for too long. Nothing of it is stored: start it again."
    )]
    ImportGivenUp,
    /// Another inlay has the UID.
    #[error("An inlay with the UID {0} exists already.")]
    UidTaken(String),
    /// The write refers to an object that does not exist.
    #[error("There is no {noun} {id}.")]
    Missing {
        /// The kind of the missing object, as a noun for people.
        noun: &'static str,
        /// The id of the missing object.
        id: i64,
    },
    /// A list in the request names an object that does not exist.
    #[error("There is no {noun} {id}.")]
    MissingInList {
        /// The list or its entry, in the form of [`FieldError::field`].
        field: Cow<'static, str>,
        /// The kind of the missing object, as a noun for people.
        noun: &'static str,
        /// The id of the missing object.
        id: i64,
    },
    /// One of inlay and tag is simulated, and the other is not.
    #[error(
        "A {} inlay cannot be bound to the tag {tag}, which is {}: the simulated world and the real one do not mix.",
        if *simulated { "simulated" } else { "real" },
        if *simulated { "real" } else { "simulated" }
    )]
    OtherWorld {
        /// The tag to which the inlay would be bound.
        tag: TagId,
        /// `true` if the inlay is simulated and the tag is real; `false` for the reverse.
        simulated: bool,
    },
    /// One URL could match both templates, and their placeholders do not tell them apart.
    #[error(
        "A URL could match this template and \"{name}\" (URL template {id}), so neither would say whose code it has. Change the host, the path, or a fixed parameter of one of them. Two templates can share an address if one has a placeholder that the other has not, or has it in another length."
    )]
    TemplatesOverlap {
        /// The other template's name.
        name: String,
        /// The other template's id.
        id: UrlTemplateId,
    },
    /// One URL could have the values of more templates than are asked whose it is.
    #[error(
        "One URL could have the values of this template and of {ASKED_MAX} others at its address, and can be tried with {ASKED_MAX} in all. Change the host or the path, or delete a template there that no chip uses."
    )]
    TemplatesCrowded,
    /// A chip was begun with a URL template that has since changed or been deleted.
    #[error(
        "The URL template changed since this chip was begun, so its taps would not verify. \
         Give the encoding up (DELETE it), and place the chip on the reader again: it is then written with the present template."
    )]
    TemplateChanged,
    /// The maximum number of URL templates exists already.
    #[error(
        "There are {URL_TEMPLATES_MAX} URL templates, and there can be no more. Delete one first."
    )]
    TooManyTemplates,
    /// The group would be at a place in the tree where it cannot be.
    #[error(transparent)]
    InvalidPlace(#[from] InvalidPlace),
    /// Another group of the same parent has the code.
    #[error("Another group at this place has the code \"{0}\".")]
    CodeTaken(String),
    /// The maximum number of webhook endpoints exists already.
    #[error("There are {ENDPOINTS_MAX} webhooks, and there can be no more. Delete one first.")]
    TooManyWebhooks,
    /// The maximum number of notifications exists already.
    #[error(
        "There are {NOTIFICATIONS_MAX} notifications, and there can be no more. Delete one first."
    )]
    TooManyNotifications,
    /// The webhook is off, so nothing can be sent to it.
    #[error("{} Switch it on, then send again.", why_off(*.0))]
    WebhookOff(Option<Disabled>),
    /// The token started the maximum number of encodings in a day with chips that prove no key.
    #[error(
        "This token began {UNPROVED_MAX} encodings in 24 hours with chips that proved nothing. Continue with those \
         chips, so that they prove a key; or wait, or use another token."
    )]
    TooManyUnproved,
    /// A virtual inlay's counter has reached its maximum.
    #[error(transparent)]
    UsedUp(#[from] UsedUp),
    /// The object has changed since its editor read it.
    #[error(transparent)]
    Changed(#[from] Changed),
    /// The request is not valid, whatever the stored data is.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The object is in use, or accepts no more entries.
    #[error(transparent)]
    InUse(#[from] InUse),
}

/// Why a request is not valid. The message of each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// The experience is of another kind than the edit.
    #[error("The kind of an experience does not change. Create another one for that.")]
    OtherKind,
    /// The tag would leave the experiences to which the caller's token is limited.
    #[error("This token is limited to some experiences: name one of them.")]
    NoExperience,
    /// The object would leave the groups to which the caller's token is limited.
    #[error("This token is limited to some groups: name one of them.")]
    NoGroup(&'static str),
    /// The webhook would get events of other tags than the caller may see.
    #[error("This token is limited to some groups, and creates no webhooks.")]
    WebhookOfGroup,
    /// The caller's token is limited to experiences, and the request chooses a slug.
    #[error(
        "This token is limited, and chooses no slugs: whether one is free would tell which \
         ones other tags have. Leave the slug out, and a new tag gets a random one."
    )]
    ChosenSlug,
    /// The tag would have an invalid property.
    #[error(transparent)]
    Property(#[from] InvalidProperty),
    /// The inlay would be invalid.
    #[error(transparent)]
    Inlay(#[from] InvalidInlay),
    /// The URL template would be invalid.
    #[error(transparent)]
    UrlTemplate(#[from] InvalidUrlTemplate),
    /// The cursor of a list comes from a list in another order.
    #[error("after is a place in another order.")]
    OtherOrder,
    /// The setting cannot take this value.
    #[error(transparent)]
    Setting(#[from] InvalidSetting),
    /// An edit, or a row of an import, has an invalid field; the error names it.
    #[error(transparent)]
    Edit(#[from] FieldError),
}

/// Why an object cannot change: other objects depend on it. The message of each is a sentence for
/// people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InUse {
    /// A refused form cannot be saved yet, for this reason.
    #[error("{0}")]
    NotSavable(String),
    /// A refused form has already been saved.
    #[error("This entry is saved already.")]
    SavedAlready,
    /// This many tags lead to the experience.
    #[error(
        "{} to this experience. Assign {} another one first.",
        if *.0 == 1 { "One tag leads".to_owned() } else { format!("{} tags lead", .0) },
        if *.0 == 1 { "it" } else { "them" }
    )]
    ByTags(u64),
    /// This many groups give the experience to their tags.
    #[error(
        "{} to this experience. Give {} another one first.",
        if *.0 == 1 { "One group leads".to_owned() } else { format!("{} groups lead", .0) },
        if *.0 == 1 { "it" } else { "them" }
    )]
    ByGroups(u64),
    /// The group is not empty.
    #[error("The group still holds {}. Move or delete them first.", members(*groups, *tags))]
    ByMembers {
        /// How many groups are directly in it.
        groups: u64,
        /// How many tags are in it, simulated ones included.
        tags: u64,
    },
    /// This many inlays derive their keys from the master key.
    #[error(
        "{} keys from this master key. Give them other keys, or delete them, first.",
        if *.0 == 1 { "One inlay has its".to_owned() } else { format!("{} inlays have their", .0) }
    )]
    ByInlays(u64),
    /// This many URL templates open codes with the master key.
    #[error(
        "{} codes with this master key. Take it from {} first.",
        if *.0 == 1 { "One URL template opens".to_owned() } else { format!("{} URL templates open", .0) },
        if *.0 == 1 { "it" } else { "them" }
    )]
    ByTemplates(u64),
    /// This many URL templates give the experience to tags that taps create.
    #[error(
        "{} this experience to tags that taps create. Give {} another one first.",
        if *.0 == 1 { "One URL template gives".to_owned() } else { format!("{} URL templates give", .0) },
        if *.0 == 1 { "it" } else { "them" }
    )]
    ByTemplatesOfTags(u64),
    /// This many URL templates put tags that taps create into the group.
    #[error(
        "{} tags that taps create into this group. Give {} another one first.",
        if *.0 == 1 { "One URL template puts".to_owned() } else { format!("{} URL templates put", .0) },
        if *.0 == 1 { "it" } else { "them" }
    )]
    ByTemplatesOfGroup(u64),
    /// This many notifications are limited to the group.
    #[error(
        "{} only about this group. Give {them} another one, or delete {them}, first.",
        if *.0 == 1 { "One notification is".to_owned() } else { format!("{} notifications are", .0) },
        them = if *.0 == 1 { "it" } else { "them" }
    )]
    ByNotifications(u64),
    /// This many inlays write their URLs with the template.
    #[error(
        "{} this URL template. What decides its codes stays as it is until they have another one, or are deleted.",
        if *.0 == 1 { "One inlay uses".to_owned() } else { format!("{} inlays use", .0) }
    )]
    ByTemplateInlays(u64),
    /// Chips are partly encoded with the template.
    #[error(
        "{} partly encoded with this URL template. Finish {what}, or cancel the encoding (DELETE), first.",
        if *chips == 1 { format!("The chip {first} is") } else { format!("{chips} chips, {first} among them, are") },
        what = if *chips == 1 { "it" } else { "them" }
    )]
    ByEncodings {
        /// How many chips are partly encoded.
        chips: u64,
        /// The UID of one of these chips.
        first: Uid,
    },
    /// An open encoding run writes its chips with the template.
    #[error(
        "The encoding run \"{name}\" (run {id}) is open and writes this URL template. Close the run first."
    )]
    ByRun {
        /// The run's name, for people.
        name: String,
        /// The run's id, to close it.
        id: EncodingRunId,
    },
    /// An encoding bureau writes chips with the template.
    #[error(
        "The factory order \"{name}\" (order {id}) writes this URL template, and {chips} of its chips did not come \
         back. Import what the bureau reports first; or delete the order, or the tags whose chips will not come."
    )]
    ByOrder {
        /// The order's name, for people.
        name: String,
        /// The order's id, to find it.
        id: FactoryOrderId,
        /// How many chips have not come back yet.
        chips: u64,
    },
    /// This many chips of the factory order have come back.
    #[error(
        "{0} of the chips of this order came back, and goods-in needs the order. If the others will not come, delete their tags."
    )]
    ByReceivedChips(u64),
    /// This many inlays can be identified by the meta key only.
    #[error(
        "{} found only by this key. Give {} another URL template first.",
        if *.0 == 1 { "One inlay is".to_owned() } else { format!("{} inlays are", .0) },
        if *.0 == 1 { "it" } else { "them" }
    )]
    ByFoundInlays(u64),
    /// Rows of an unfinished import need the object, which this noun names.
    #[error("An import that is not finished yet needs this {0}. Wait for it to end.")]
    ByImport(&'static str),
    /// The draft or the published version shows the image.
    #[error("The page shows this image. Take it out of the draft and publish that first.")]
    Shown,
    /// The encoding sheet is closed.
    #[error("The sheet is closed. It takes rows again once it is opened.")]
    Closed,
    /// The encoding sheet has the maximum number of rows.
    #[error("The sheet has {ROWS_MAX} rows and takes no more. Begin another.")]
    Full,
    /// The sheet is signed off.
    #[error("The sheet is signed off: neither it nor its rows change any more.")]
    SignedOff,
    /// The sheet has this many rows, and its signer saw another number.
    #[error("The sheet has {} by now. Look at it again, then sign it off.", counted(*.0, "row"))]
    OtherRows(u64),
    /// The encoding run is closed.
    #[error("The run is closed. It encodes again once it is opened.")]
    RunClosed,
    /// Every tag of the encoding run has an inlay, or is reserved for a chip that is partly
    /// encoded.
    #[error(
        "Every tag of the run has an inlay, or is reserved for an unfinished one. Finish or reject those, or create another run."
    )]
    RunFull,
}

/// The groups and tags in a group, in words.
fn members(groups: u64, tags: u64) -> String {
    let groups = (groups > 0).then(|| counted(groups, "group"));
    let tags = (tags > 0).then(|| counted(tags, "tag"));
    let members: Vec<_> = [groups, tags].into_iter().flatten().collect();
    members.join(" and ")
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
            Self::MissingInList { field, .. } => return Some(field.clone()),
            Self::OtherWorld { .. } => "tag_id",
            Self::InvalidPlace(InvalidPlace::ProductInBatch) => "kind",
            Self::InvalidPlace(_) => "parent_id",
            Self::CodeTaken(_) => "code",
            Self::TemplatesOverlap { .. } | Self::TemplatesCrowded => "template",
            Self::Invalid(why) => return FieldError::from(why.clone()).field,
            _ => return None,
        };
        Some(field.into())
    }
}

/// The request member that refers to an object of this noun.
fn member(noun: &str) -> Option<&'static str> {
    Some(match noun {
        "tag" => "tag_id",
        "experience" => "experience_id",
        "recall experience" => "recall_experience_id",
        "group" => "group_id",
        "parent group" => "parent_id",
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
            Invalid::NoGroup(field) => Self::of(field, why.to_string()),
            Invalid::WebhookOfGroup => Self::whole(why.to_string()),
            Invalid::ChosenSlug => Self::of("slug", why.to_string()),
            Invalid::Property(why) => why.into(),
            Invalid::Inlay(why) => why.into(),
            Invalid::UrlTemplate(why) => why.into(),
            Invalid::OtherOrder => Self::of("after", why.to_string()),
            Invalid::Setting(why) => why.into(),
            Invalid::Edit(why) => why,
        }
    }
}

/// An invalid field of an edit is a conflict.
impl From<FieldError> for Conflict {
    fn from(why: FieldError) -> Self {
        Invalid::Edit(why).into()
    }
}

/// An invalid row of a report, in words: its columns are not fields of a request.
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
