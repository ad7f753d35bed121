//! The columns of a file: members of a tag, and members of a new inlay on it.

use std::borrow::Cow;

use domain::tag::TagColumn;

/// A column of a tag table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in super::super) enum Column {
    /// A member of the tag.
    Tag(TagColumn),
    /// The name of the experience that the tag leads to.
    Experience,
    /// The tag's URL, as in an export. It follows from the slug, so an import ignores it.
    Url,
    /// A member of a new inlay on the tag, with its name in `POST /inlays`. Exports have no such
    /// columns, because keys are write-only.
    Inlay(&'static str),
}

/// The members of a new inlay that have a column.
const INLAY: [&str; 11] = [
    "uid",
    "technology",
    TEMPLATE,
    "url_template_id",
    "mode",
    "last_counter",
    "mirror",
    "mac_from",
    "meta_key",
    "file_key",
    "master_key_id",
];

/// Whether the column with this name is a member of a tag.
pub(super) fn is_of_tag(name: &str) -> bool {
    matches!(Column::parse(name), Some(Column::Tag(_)))
}

/// Name of the column for the name of a URL template.
pub(in super::super) const TEMPLATE: &str = "template";

/// Name of the column for the URL of a tag.
pub(in super::super) const URL: &str = "url";

/// Name of the column for the name of an experience.
pub(in super::super) const EXPERIENCE: &str = "experience";

impl Column {
    /// The column with this name; `None` if there is none.
    pub(in super::super) fn parse(name: &str) -> Option<Self> {
        match name {
            EXPERIENCE => return Some(Self::Experience),
            URL => return Some(Self::Url),
            _ => {}
        }
        match INLAY.into_iter().find(|known| *known == name) {
            Some(member) => Some(Self::Inlay(member)),
            None => TagColumn::parse(name).map(Self::Tag),
        }
    }

    /// The name of the column in a header.
    pub(in super::super) fn name(&self) -> Cow<'static, str> {
        match self {
            Self::Tag(column) => column.name(),
            Self::Experience => EXPERIENCE.into(),
            Self::Url => URL.into(),
            Self::Inlay(member) => (*member).into(),
        }
    }

    /// All column names, for people.
    pub(super) fn names() -> String {
        let tag = TagColumn::FIXED.map(|column| column.name()).join(", ");
        let inlay = INLAY.join(", ");
        format!(
            "{tag}, {EXPERIENCE}, {URL} (which follows from the slug), attribute:KEY, data:KEY, variable:KEY; and for a new inlay on the tag {inlay}"
        )
    }
}
