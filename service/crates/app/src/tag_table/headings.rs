//! The headings of a file, so that a message about a row names the column as the file does.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;

use super::column::{Column, EXPERIENCE, GROUP, OTHER_KEYS, TEMPLATE, TEMPLATE_ID};

/// A column of the file that a message about a row concerns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = TagImportColumn)]
pub(crate) struct FileColumn {
    /// Name of the column in Tapdesk, which the message contains.
    #[schema(value_type = String, example = "slug")]
    pub(super) column: Arc<str>,
    /// Heading of the column in the file, of a long one the first 100 characters.
    #[schema(value_type = String, example = "Seriennummer")]
    pub(super) heading: Arc<str>,
}

/// Most characters of a heading in a message. A file can have a heading of megabytes, and a million
/// rows with it in their messages.
const HEADING_MAX: usize = 100;

/// Fields of a tag or an inlay that a table can also have in another column.
const INSTEAD: [(&str, &str); 4] = [
    ("experience_id", EXPERIENCE),
    ("group_id", GROUP),
    (TEMPLATE_ID, TEMPLATE),
    ("other_keys", OTHER_KEYS[0]),
];

/// The columns of a file with headings, by their names. The messages about its rows share the texts.
#[derive(Debug)]
pub(super) struct Headings(HashMap<String, FileColumn>);

impl Headings {
    /// The headings of these columns.
    pub(super) fn new<'a>(columns: impl Iterator<Item = (&'a Column, &'a str)>) -> Self {
        let named = columns.map(|(column, heading)| {
            let name = column.name();
            let column = FileColumn {
                column: (&*name).into(),
                heading: shown(heading).into(),
            };
            (name.into_owned(), column)
        });
        Self(named.collect())
    }

    /// The column of the file that has a field of a tag or an inlay; `None` if the file has none.
    pub(super) fn of(&self, field: &str) -> Option<FileColumn> {
        let instead = INSTEAD.into_iter().find(|(name, _)| *name == field);
        let names = [Some(field), instead.map(|(_, column)| column)];
        let mut names = names.into_iter().flatten();
        names.find_map(|name| self.0.get(name).cloned())
    }
}

/// The beginning of a heading.
pub(super) fn shown(heading: &str) -> String {
    match heading.char_indices().nth(HEADING_MAX) {
        Some((end, _)) => format!("{}…", &heading[..end]),
        None => heading.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_the_heading_of_its_column_or_of_the_column_that_says_it_otherwise() {
        let columns = [
            ("slug", "Seriennummer"),
            ("experience", "Seite"),
            ("group_id", "Nummer"),
            ("group", "Charge"),
            ("key_0", "K0"),
        ];
        let columns = columns.map(|(name, heading)| (Column::parse(name).unwrap(), heading));
        let headings = Headings::new(columns.iter().map(|(column, heading)| (column, *heading)));
        for (field, expected) in [
            ("slug", Some(("slug", "Seriennummer"))),
            ("experience_id", Some(("experience", "Seite"))),
            ("group_id", Some(("group_id", "Nummer"))),
            ("other_keys", Some(("key_0", "K0"))),
            ("name", None),
        ] {
            let found = headings.of(field);
            let found = found.as_ref().map(|of| (&*of.column, &*of.heading));
            assert_eq!(found, expected, "{field}");
        }
    }

    #[test]
    fn of_a_long_heading_messages_have_the_beginning() {
        let column = Column::parse("slug").unwrap();
        for (heading, expected) in [
            ("é".repeat(HEADING_MAX), "é".repeat(HEADING_MAX)),
            ("é".repeat(1_000_000), "é".repeat(HEADING_MAX) + "…"),
        ] {
            let headings = Headings::new([(&column, &*heading)].into_iter());
            assert_eq!(&*headings.of("slug").unwrap().heading, expected);
        }
    }
}
