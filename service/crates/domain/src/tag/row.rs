//! A row of a table of tags, and the effect of each cell on a tag.
//!
//! | A cell | of a new tag | of an existing tag |
//! |---|---|---|
//! | empty | the default; a property with an empty value | stays as it is |
//! | `(none)` | the default; no such property | stays as it is |
//! | `(delete)` | the default; no such property | is deleted |
//! | a text | becomes the value | becomes the value |

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{PropertyClass, Slug, TagColumn, TagFields};
use crate::field_error::FieldError;
use crate::tag::cell::Cell;

/// A row: a cell for each of its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagRow {
    columns: Arc<[TagColumn]>,
    cells: Vec<Cell>,
}

impl TagRow {
    /// A row of `columns`, which has a cell for each of them.
    pub fn new(columns: Arc<[TagColumn]>, cells: Vec<Cell>) -> Self {
        Self { columns, cells }
    }

    /// The new tag that the row describes, with this slug; `name` is its name if the row has none.
    /// The field of an error is the name of a column.
    pub fn create(&self, slug: Slug, name: &str) -> Result<TagFields, FieldError> {
        let mut tag = TagFields::named(name.to_owned());
        for (column, cell) in self.columns.iter().zip(&self.cells) {
            match (column, cell) {
                (TagColumn::Property(class, key), Cell::Empty) => {
                    let properties = &mut tag.properties_mut(*class).0;
                    properties.insert(key.clone(), String::new());
                }
                (column, cell) => set(column, &mut tag, cell)?,
            }
        }
        tag.slug = slug;
        tag.validate()?;
        Ok(tag)
    }

    /// The existing tag after the row's changes. The slug that names the tag in the row does not
    /// change it. The field of an error is the name of a column.
    pub fn change(&self, tag: TagFields) -> Result<TagFields, FieldError> {
        let changed = self.apply(tag)?;
        changed.validate()?;
        Ok(changed)
    }

    /// Makes the same changes without checking the tag's limits again. [`Self::change`] checked
    /// them before. If others added too many properties since then, this row is still applied.
    pub fn apply(&self, mut tag: TagFields) -> Result<TagFields, FieldError> {
        for (column, cell) in self.columns.iter().zip(&self.cells) {
            if *column != TagColumn::Slug {
                set(column, &mut tag, cell)?;
            }
        }
        Ok(tag)
    }
}

fn set(column: &TagColumn, tag: &mut TagFields, cell: &Cell) -> Result<(), FieldError> {
    match cell {
        Cell::Empty | Cell::Absent => Ok(()),
        Cell::Delete => column.delete(tag),
        Cell::Text(text) => column.set(tag, text),
    }
}

/// The columns that have a value in `before` but none in `after`.
pub fn deleted(before: &TagFields, after: &TagFields) -> Vec<TagColumn> {
    let fixed = TagColumn::FIXED.into_iter();
    let fixed =
        fixed.filter(|column| column.cell(before).is_some() && column.cell(after).is_none());
    let properties = PropertyClass::ALL.into_iter().flat_map(|class| {
        let keys = before.properties(class).0.keys();
        let gone = keys.filter(move |key| after.properties(class).get(key.as_str()).is_none());
        gone.map(move |key| TagColumn::Property(class, key.clone()))
    });
    fixed.chain(properties).collect()
}

/// The cells that turn `after` back into `before`, by the names of their columns.
pub fn former_cells(before: &TagFields, after: &TagFields) -> BTreeMap<String, String> {
    let fixed = TagColumn::FIXED.into_iter();
    let properties = PropertyClass::ALL.into_iter().flat_map(|class| {
        let keys = [before, after].into_iter();
        let keys = keys.flat_map(move |tag| tag.properties(class).0.keys());
        keys.map(move |key| TagColumn::Property(class, key.clone()))
    });
    let changed = fixed
        .chain(properties)
        .filter(|column| column.cell(before) != column.cell(after));
    let cells = changed.map(|column| {
        let cell = match column.cell(before) {
            Some(text) => Cell::Text(text.into_owned()),
            None => Cell::Delete,
        };
        (column.name().into_owned(), cell.encode().into_owned())
    });
    cells.collect()
}

/// The stored form: names of columns, and cells as they are in a file.
impl Serialize for TagRow {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cells = self.columns.iter().zip(&self.cells);
        serializer.collect_seq(cells.map(|(column, cell)| (column.name(), cell.encode())))
    }
}

impl<'de> Deserialize<'de> for TagRow {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let cells = Vec::<(String, String)>::deserialize(deserializer)?;
        let (mut columns, mut read) = (Vec::new(), Vec::new());
        for (name, cell) in cells {
            let unknown = || serde::de::Error::custom(format!("there is no column {name}"));
            columns.push(TagColumn::parse(&name).ok_or_else(unknown)?);
            read.push(Cell::decode(&cell));
        }
        Ok(Self::new(columns.into(), read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ExperienceId;
    use crate::tag::Status;

    fn row(cells: &[(&str, &str)]) -> TagRow {
        let columns = cells
            .iter()
            .map(|(name, _)| TagColumn::parse(name).unwrap());
        let read = cells.iter().map(|(_, cell)| Cell::decode(cell));
        TagRow::new(columns.collect(), read.collect())
    }

    fn slug() -> Slug {
        Slug::parse("cellar-door-1").unwrap()
    }

    fn full() -> TagFields {
        let cells = [
            ("name", "Bottle"),
            ("title", "A title"),
            ("status", "archived"),
            ("experience_id", "7"),
            ("verifier_enabled", "false"),
            ("variable:registered", "true"),
            ("data:size", "75"),
        ];
        row(&cells).create(slug(), "").unwrap()
    }

    #[test]
    fn an_empty_cell_predefines_a_property_of_a_new_tag_and_changes_no_other_tag() {
        let empty = row(&[
            ("name", "x"),
            ("title", ""),
            ("status", ""),
            ("experience_id", ""),
            ("variable:registered", ""),
            ("attribute:sku", ""),
            ("data:size", ""),
        ]);
        let new = empty.create(slug(), "").unwrap();
        for class in PropertyClass::ALL {
            let properties: Vec<_> = new.properties(class).0.values().collect();
            assert_eq!(properties, [""], "{class:?}");
        }
        assert_eq!((new.status, new.experience_id), (Status::Active, None));
        let changed = empty.change(full()).unwrap();
        let named = TagFields {
            name: "x".to_owned(),
            ..full()
        };
        assert_eq!(changed, named);
    }

    #[test]
    fn what_is_absent_gives_a_new_tag_no_property_and_takes_none_away() {
        let absent = row(&[("name", "x"), ("variable:registered", "(none)")]);
        assert!(absent.create(slug(), "").unwrap().variables.0.is_empty());
        let changed = absent.change(full()).unwrap();
        assert_eq!(changed.variables, full().variables);
    }

    #[test]
    fn what_is_deleted_is_asked_for_in_words_and_named() {
        let delete = row(&[
            ("name", "x"),
            ("title", "(delete)"),
            ("experience_id", "(Delete)"),
            ("location", "(delete)"),
            ("variable:registered", "(delete)"),
            ("data:other", "(delete)"),
        ]);
        let changed = delete.change(full()).unwrap();
        let named: Vec<_> = deleted(&full(), &changed);
        let named: Vec<_> = named.iter().map(ToString::to_string).collect();
        assert_eq!(named, ["title", "experience_id", "variable:registered"]);
        assert_eq!(full().experience_id, Some(ExperienceId::new(7)));
        assert!(delete.create(slug(), "").unwrap().variables.0.is_empty());
        for column in ["name", "status", "verifier_enabled"] {
            let refused = row(&[(column, "(delete)")]).change(full()).unwrap_err();
            assert_eq!(refused.field.as_deref(), Some(column));
            assert!(refused.message.contains("cannot be deleted"), "{refused}");
        }
    }

    #[test]
    fn former_cells_bring_a_tag_back() {
        let overwrite = row(&[
            ("name", "Other"),
            ("title", "(delete)"),
            ("description", "=new"),
            ("experience_id", "(delete)"),
            ("verifier_enabled", "true"),
            ("variable:registered", ""),
            ("variable:added", "x"),
            ("data:size", "(delete)"),
            ("attribute:empty", "full"),
        ]);
        let mut before = full();
        let empty = row(&[("attribute:empty", "'")]);
        before = empty.change(before).unwrap();
        let after = overwrite.change(before.clone()).unwrap();
        let cells = former_cells(&before, &after);
        let changed: Vec<_> = cells
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect();
        assert_eq!(
            changed,
            [
                ("attribute:empty", "'"),
                ("data:size", "75"),
                ("description", "(delete)"),
                ("experience_id", "7"),
                ("name", "Bottle"),
                ("title", "A title"),
                ("variable:added", "(delete)"),
                ("verifier_enabled", "false"),
            ]
        );
        assert_eq!(row(&changed).change(after).unwrap(), before);
        assert!(former_cells(&before, &before).is_empty());
    }

    #[test]
    fn a_row_comes_back_from_where_it_is_stored() {
        let stored = row(&[
            ("name", "=1+1"),
            ("title", ""),
            ("variable:a", "(none)"),
            ("variable:b", "(delete)"),
            ("variable:c", "'(delete)"),
            ("variable:d", "'"),
        ]);
        let json = serde_json::to_string(&stored).unwrap();
        assert_eq!(serde_json::from_str::<TagRow>(&json).unwrap(), stored);
    }
}
