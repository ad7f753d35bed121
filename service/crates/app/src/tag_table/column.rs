//! The columns of a file: members of a tag, and members of a new inlay on it.

use std::borrow::Cow;

use domain::tag::TagColumn;

/// A column of a tag table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Column {
    /// A member of the tag.
    Tag(TagColumn),
    /// The name of the experience that the tag leads to.
    Experience,
    /// The path of the tag's group, such as `Wines / Grand Cru 2021 / L03`.
    Group,
    /// The tag's URL, as in an export. It follows from the slug, so an import ignores it.
    Url,
    /// A member of a new inlay on the tag, with its name in `POST /inlays`. Exports have no such
    /// columns, because keys are write-only.
    Inlay(&'static str),
}

/// The members of a new inlay that have a column.
const INLAY: [&str; 14] = [
    UID,
    TECHNOLOGY,
    TEMPLATE,
    TEMPLATE_ID,
    "mode",
    "last_counter",
    "mirror",
    "mac_from",
    "meta_key",
    "file_key",
    "master_key_id",
    "key_0",
    "key_3",
    "key_4",
];

/// Names of the columns for a chip's other keys, which are one member of a new inlay.
pub(super) const OTHER_KEYS: [&str; 3] = ["key_0", "key_3", "key_4"];

/// Whether the column with this name is a member of a tag.
pub(super) fn is_of_tag(name: &str) -> bool {
    matches!(Column::parse(name), Some(Column::Tag(_)))
}

/// Columns that no table but Tapdesk's has under these names.
const OWN: [&str; 5] = [
    "verifier_enabled",
    "updates_require_verified",
    "has_qr_code",
    "track_location",
    "widget_settings",
];

/// Whether a table with this header is an export of Tapdesk, perhaps with columns removed. Its `url`
/// is the tag's own URL. In a list of an owner it may be the address that the tag leads to.
pub(super) fn is_own_export(header: &[String]) -> bool {
    let has = |name: &str| header.iter().any(|heading| heading == name);
    has("slug") && has(URL) && OWN.into_iter().any(has)
}

/// Name of the column for the UID of a chip.
pub(super) const UID: &str = "uid";

/// Name of the column for the kind of a chip.
pub(super) const TECHNOLOGY: &str = "technology";

/// Name of the column for the id of a URL template.
pub(super) const TEMPLATE_ID: &str = "url_template_id";

/// Name of the column for the name of a URL template.
pub(super) const TEMPLATE: &str = "template";

/// Name of the column for the URL of a tag.
pub(super) const URL: &str = "url";

/// Name of the column for the name of an experience.
pub(super) const EXPERIENCE: &str = "experience";

/// Name of the column for the path of a group.
pub(super) const GROUP: &str = "group";

impl Column {
    /// The column with this name; `None` if there is none.
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name {
            EXPERIENCE => return Some(Self::Experience),
            GROUP => return Some(Self::Group),
            URL => return Some(Self::Url),
            _ => {}
        }
        match INLAY.into_iter().find(|known| *known == name) {
            Some(member) => Some(Self::Inlay(member)),
            None => TagColumn::parse(name).map(Self::Tag),
        }
    }

    /// The name of the column in a header.
    pub(super) fn name(&self) -> Cow<'static, str> {
        match self {
            Self::Tag(column) => column.name(),
            Self::Experience => EXPERIENCE.into(),
            Self::Group => GROUP.into(),
            Self::Url => URL.into(),
            Self::Inlay(member) => (*member).into(),
        }
    }

    /// All column names, for people.
    pub(super) fn names() -> String {
        let tag = TagColumn::FIXED.map(|column| column.name()).join(", ");
        let inlay = INLAY.join(", ");
        format!(
            "{tag}, {EXPERIENCE}, {GROUP} (its path), {URL} (which follows from the slug), attribute:KEY, data:KEY, variable:KEY (with a KEY of A-Z, a-z, 0-9, _, . and -); and for a new inlay on the tag {inlay}"
        )
    }
}
