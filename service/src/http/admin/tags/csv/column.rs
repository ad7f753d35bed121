//! The columns of a file: those of a tag, and those of a new inlay on it.

use crate::tag::TagColumn;

/// A column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in super::super) enum Column {
    /// Of the tag.
    Tag(TagColumn),
    /// The experience that the tag leads to, by its name.
    Experience,
    /// Of a new inlay on the tag: the member of this name in `POST /inlays`.
    /// There is no way out for it: keys go in only.
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

/// Whether the column with this name is one of a tag.
pub(in super::super) fn is_of_tag(name: &str) -> bool {
    matches!(Column::parse(name), Some(Column::Tag(_)))
}

/// The column of a URL template's name.
pub(in super::super) const TEMPLATE: &str = "template";

/// The column of an experience's name.
pub(in super::super) const EXPERIENCE: &str = "experience";

impl Column {
    /// The column with this name.
    pub(in super::super) fn parse(name: &str) -> Option<Self> {
        if name == EXPERIENCE {
            return Some(Self::Experience);
        }
        match INLAY.into_iter().find(|known| *known == name) {
            Some(member) => Some(Self::Inlay(member)),
            None => TagColumn::parse(name).map(Self::Tag),
        }
    }

    /// All names that there are, for people.
    pub(super) fn names() -> String {
        let tag = TagColumn::FIXED.map(|column| column.name()).join(", ");
        let inlay = INLAY.join(", ");
        format!(
            "{tag}, {EXPERIENCE}, attribute:KEY, data:KEY, variable:KEY; and for a new inlay on the tag {inlay}"
        )
    }
}
