//! The headings of a file, so that a message about a row names the column as the file does.

use std::collections::HashMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::column::{Column, EXPERIENCE, GROUP, OTHER_KEYS, TEMPLATE, TEMPLATE_ID};

/// A column of the file that a message about a row concerns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = TagImportColumn)]
pub(crate) struct FileColumn {
    /// Name of the column in Tapdesk, which the message contains.
    #[schema(example = "slug")]
    pub(super) column: String,
    /// Heading of the column in the file.
    #[schema(example = "Seriennummer")]
    pub(super) heading: String,
}

/// Fields of a tag or an inlay that a table can also have in another column.
const INSTEAD: [(&str, &str); 4] = [
    ("experience_id", EXPERIENCE),
    ("group_id", GROUP),
    (TEMPLATE_ID, TEMPLATE),
    ("other_keys", OTHER_KEYS[0]),
];

/// The headings of a file by the names of their columns.
#[derive(Debug)]
pub(super) struct Headings(HashMap<String, String>);

impl Headings {
    /// The headings of these columns.
    pub(super) fn new<'a>(columns: impl Iterator<Item = (&'a Column, &'a str)>) -> Self {
        let names =
            columns.map(|(column, heading)| (column.name().into_owned(), heading.to_owned()));
        Self(names.collect())
    }

    /// The column of the file that has a field of a tag or an inlay; `None` if the file has none.
    pub(super) fn of(&self, field: &str) -> Option<FileColumn> {
        let instead = INSTEAD.into_iter().find(|(name, _)| *name == field);
        let names = [Some(field), instead.map(|(_, column)| column)];
        names.into_iter().flatten().find_map(|name| {
            let heading = self.0.get(name)?.clone();
            let column = name.to_owned();
            Some(FileColumn { column, heading })
        })
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
}
