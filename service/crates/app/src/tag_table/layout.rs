//! Maps the columns of a file to Tapdesk's columns: by name, by a preset, and by the caller's
//! choice.

use std::collections::HashSet;
use std::ops::Range;

use super::column::{Column, URL, is_of_tag, is_own_export};
use super::preset::{Form, Preset};
use domain::table::counter::Digits;
use inlay::template::Template;

/// The mapping rules for the columns of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// The preset for the service that wrote the file.
    pub(super) preset: Option<&'static Preset>,
    /// Columns that the caller named.
    pub(super) map: Vec<Mapped>,
    /// Number format of counters, if the caller chose one.
    pub(super) counter: Option<Digits>,
    /// The URL template of all rows, by which the URLs in the file are read.
    pub(super) template: Option<Template>,
}

/// The caller's meaning of a column in the file: `HEADING:COLUMN`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    heading: String,
    /// `None` to ignore the column.
    column: Option<Column>,
}

/// The source of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The cell with this index in the row.
    Cell(usize),
    /// The same, in a form of another service.
    Formed(usize, Form),
    /// The same text in every row.
    Fixed(String),
}

/// The columns that are read from a file.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) columns: Vec<(Column, Origin)>,
    /// Headings of columns that are ignored.
    pub(super) ignored: Vec<String>,
    /// Columns behind the last heading of a table of Tapdesk, which must be empty. Spreadsheets save
    /// such columns if one of their cells once had a value.
    pub(super) empty: Range<usize>,
    /// Whether a new tag without a name gets its slug or its UID as its name. Lists of an owner, or
    /// of another service, often have no names.
    pub(super) fills_names: bool,
}

impl Mapped {
    /// Parses `HEADING:COLUMN`; an empty column ignores the heading. The heading may contain
    /// colons: the longest suffix that is a column counts. The error is a sentence for people.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mapped = |heading: &str, column| Self {
            heading: heading.trim().to_owned(),
            column,
        };
        if let Some(heading) = text.strip_suffix(':') {
            return Ok(mapped(heading, None));
        }
        let found = text.match_indices(':').find_map(|(at, _)| {
            let column = Column::parse(&text[at + 1..])?;
            Some(mapped(&text[..at], Some(column)))
        });
        found.ok_or_else(|| {
            let names = Column::names();
            format!("\"{text}\" is not HEADING:COLUMN. The columns are {names}.")
        })
    }

    /// The first heading with more than one meaning.
    pub(super) fn repeated(map: &[Self]) -> Option<&str> {
        let mut seen = HashSet::new();
        let mut headings = map.iter().map(|mapped| mapped.heading.as_str());
        headings.find(|heading| !seen.insert(*heading))
    }
}

impl Layout {
    /// The columns of a file with this header. The error is a sentence for people.
    pub(super) fn plan(&self, header: &[String]) -> Result<Plan, String> {
        let mut plan = Plan::default();
        let own = is_own_export(header);
        let width = if self.refuses_others() {
            let last = header.iter().rposition(|heading| !heading.is_empty());
            plan.empty = last.map_or(0, |last| last + 1)..header.len();
            plan.empty.start
        } else {
            header.len()
        };
        for (index, heading) in header[..width].iter().enumerate() {
            let mapped = self.map.iter().find(|mapped| mapped.heading == *heading);
            let column = match mapped {
                Some(mapped) => self.chosen(mapped),
                None if own && heading == URL => Some((Column::Url, None)),
                None => self.known(heading),
            };
            match column {
                Some((column, _)) if plan.has(&column) => {
                    let name = column.name();
                    return Err(format!(
                        "The column \"{name}\" is there twice: two columns of the file mean it, one of them is \"{heading}\"."
                    ));
                }
                // A table of another service has other URLs.
                Some((Column::Url, _)) if self.preset.is_some() && !own => {
                    plan.ignored.push(shown(heading, index));
                }
                Some((column, form)) => {
                    let origin =
                        form.map_or(Origin::Cell(index), |form| Origin::Formed(index, form));
                    plan.columns.push((column, origin));
                }
                None if mapped.is_none() && self.refuses_others() => {
                    let names = Column::names();
                    return Err(format!(
                        "There is no column \"{heading}\". There are {names}."
                    ));
                }
                None => plan.ignored.push(shown(heading, index)),
            }
        }
        if let Some(missing) = self.map.iter().find(|one| !header.contains(&one.heading)) {
            let heading = &missing.heading;
            return Err(format!("The file has no column \"{heading}\"."));
        }
        if let Some(preset) = self.preset {
            plan.complete(preset)?;
        } else if !self.map.is_empty() && plan.has_named_one_of(&["slug", "uid"]) {
            // Where a column has names, a row without one is a mistake.
            plan.fills_names = !plan.has_named("name");
            plan.add("name", Origin::Fixed(String::new()));
        }
        Ok(plan)
    }

    /// The column that the caller chose. If the preset has the same one, its cells have their form.
    fn chosen(&self, mapped: &Mapped) -> Option<(Column, Option<Form>)> {
        let column = mapped.column.clone()?;
        let theirs = self
            .preset
            .and_then(|preset| preset.column(&mapped.heading));
        let same = theirs.filter(|(theirs, _)| *theirs == column);
        Some((column, same.and_then(|(_, form)| form)))
    }

    fn known(&self, heading: &str) -> Option<(Column, Option<Form>)> {
        match self.preset {
            Some(preset) => preset.column(heading),
            None => Some((Column::parse(heading)?, None)),
        }
    }

    /// Whether an unknown column makes the file invalid. In a table of Tapdesk, a typo in a heading
    /// must not lose a column. A list with a preset has columns of its own.
    fn refuses_others(&self) -> bool {
        self.map.is_empty() && self.preset.is_none()
    }
}

impl Plan {
    fn has(&self, column: &Column) -> bool {
        self.columns.iter().any(|(other, _)| other == column)
    }

    fn has_named(&self, name: &str) -> bool {
        self.columns.iter().any(|(column, _)| column.name() == name)
    }

    fn has_named_one_of(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has_named(name))
    }

    /// Adds the columns that a table of another service lacks.
    fn complete(&mut self, preset: &Preset) -> Result<(), String> {
        if !self.has_named_one_of(&["name", "slug", "uid"]) {
            return Err("The file has no column for a name, a slug or a UID.".to_owned());
        }
        self.fills_names = true;
        self.add("name", Origin::Fixed(String::new()));
        for (name, text) in preset.fixed.iter().filter(|(name, _)| is_of_tag(name)) {
            self.add(name, Origin::Fixed(text.clone()));
        }
        Ok(())
    }

    /// Adds a column, unless it exists already.
    fn add(&mut self, name: &str, origin: Origin) {
        if !self.has_named(name)
            && let Some(column) = Column::parse(name)
        {
            self.columns.push((column, origin));
        }
    }
}

/// A heading for messages to people.
fn shown(heading: &str, index: usize) -> String {
    if heading.is_empty() {
        format!("(column {})", index + 1)
    } else {
        heading.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag_table::preset::named;
    use domain::tag::TagColumn;

    fn header(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    fn columns(layout: &Layout, names: &[&str]) -> Result<Vec<String>, String> {
        let plan = layout.plan(&header(names))?;
        let columns = plan.columns.iter();
        Ok(columns
            .map(|(column, _)| column.name().into_owned())
            .collect())
    }

    #[test]
    fn a_mapped_column_is_the_longest_end_that_is_one() {
        for (text, heading, column) in [
            ("Farbe:attribute:colour", "Farbe", Some("attribute:colour")),
            ("Seriennummer:slug", "Seriennummer", Some("slug")),
            ("a:b:slug", "a:b", Some("slug")),
            ("data:x:attribute:slug", "data:x", Some("attribute:slug")),
            ("Farbe:", "Farbe", None),
            (":name", "", Some("name")),
        ] {
            let column = column.and_then(Column::parse);
            let heading = heading.to_owned();
            assert_eq!(
                Mapped::parse(text),
                Ok(Mapped { heading, column }),
                "{text}"
            );
        }
        for text in ["", "Farbe", "Farbe:colour", "Farbe:attribute:"] {
            let parsed = Mapped::parse(text);
            assert!(parsed.is_err() || text.ends_with(':'), "{text}");
        }
    }

    #[test]
    fn columns_stand_in_the_order_of_the_file_and_what_is_left_out_is_named() {
        let plan = Layout::default().plan(&header(&["title", "uid", "name"]));
        let expected = [
            (Column::Tag(TagColumn::Title), Origin::Cell(0)),
            (Column::Inlay("uid"), Origin::Cell(1)),
            (Column::Tag(TagColumn::Name), Origin::Cell(2)),
        ];
        assert_eq!(plan.unwrap().columns, expected);

        let mapped = Layout {
            map: vec![
                Mapped::parse("Farbe:data:colour").unwrap(),
                Mapped::parse("Notiz:").unwrap(),
            ],
            ..Layout::default()
        };
        let plan = mapped.plan(&header(&["name", "Farbe", "Notiz", "", "Preis"]));
        let plan = plan.unwrap();
        assert_eq!(plan.columns.len(), 2);
        assert_eq!(plan.ignored, ["Notiz", "(column 4)", "Preis"]);
        let missing = mapped.plan(&header(&["name", "Farbe"])).unwrap_err();
        assert_eq!(missing, "The file has no column \"Notiz\".");
        let plan = mapped.plan(&header(&["uid", "Farbe", "Notiz"])).unwrap();
        let (column, origin) = plan.columns.last().unwrap();
        assert_eq!(column.name(), "name");
        assert_eq!(*origin, Origin::Fixed(String::new()));
    }

    #[test]
    fn a_header_that_is_not_understood_is_refused_in_words() {
        for (names, part) in [
            (&["name", "colour"][..], "no column \"colour\""),
            (&["name", "", "title"], "no column \"\""),
            (&["", "name", ""], "no column \"\""),
            (&["name", "name"], "\"name\" is there twice"),
            (&["name", "attribute:a b"], "no column \"attribute:a b\""),
            (&["name", "attribute:Größe"], "a KEY of A-Z, a-z, 0-9"),
        ] {
            let refused = columns(&Layout::default(), names).unwrap_err();
            assert!(refused.contains(part), "{refused}");
        }
        let of = |preset| Layout {
            preset: Some(named(preset).unwrap()),
            ..Layout::default()
        };
        for (preset, names, part) in [
            ("csv", &["label", "name"][..], "two columns"),
            ("csv", &["Name", "name"], "two columns"),
            ("csv", &["colour", "weight"], "no column for a name"),
            ("gototags", &["Colour"], "no column for a name"),
        ] {
            let refused = columns(&of(preset), names).unwrap_err();
            assert!(refused.contains(part), "{refused}");
        }
    }

    #[test]
    fn a_list_with_a_preset_keeps_the_columns_that_are_known_and_names_the_others() {
        for (preset, names, known, ignored) in [
            (
                "csv",
                &["label", "colour", "", "Language Code"][..],
                &["name", "language_code"][..],
                &["colour", "(column 3)"][..],
            ),
            (
                "csv",
                &["TITLE", "Serial-Number"],
                &["title", "uid", "name"],
                &[],
            ),
            ("ixkio", &["XUID", "Title"], &["slug", "name"], &["Title"]),
        ] {
            let layout = Layout {
                preset: Some(named(preset).unwrap()),
                ..Layout::default()
            };
            assert_eq!(columns(&layout, names).unwrap(), known, "{preset}");
            let plan = layout.plan(&header(names)).unwrap();
            assert_eq!(plan.ignored, ignored, "{preset}");
        }
    }

    #[test]
    fn all_keys_of_a_card_are_columns_of_its_inlay() {
        let layout = Layout {
            preset: Some(named("boltcard").unwrap()),
            ..Layout::default()
        };
        let header = header(&["card_name", "uid", "K0", "k1", "k2", "k3_key", "k4", "pin"]);
        let plan = layout.plan(&header).unwrap();
        assert_eq!(plan.ignored, ["pin"]);
        let names = plan.columns.iter().map(|(column, _)| column.name());
        assert_eq!(
            names.collect::<Vec<_>>(),
            [
                "name", "uid", "key_0", "meta_key", "file_key", "key_3", "key_4"
            ]
        );
    }
}
