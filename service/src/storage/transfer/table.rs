//! How a table is described that is moved between the databases.

/// A table that both backends have.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// How many of its columns, from the first on, are its key.
    pub key: usize,
    /// What is moved of a row.
    pub columns: &'static [Column],
    /// Columns that PostgreSQL has for itself and fills again.
    pub left_out: &'static [&'static str],
    /// Columns that SQLite has for itself, with a value that stands for what was moved.
    pub left_out_sqlite: &'static [&'static str],
    /// Which rows are moved, in both dialects; all if it is empty.
    pub filter: &'static str,
    /// What PostgreSQL reads instead of the table, where several of its rows are one.
    pub merged: Option<&'static str>,
    /// Whether rows are numbered by the database, and no number is given twice.
    pub numbered: bool,
    /// Rows that are copied at once.
    pub batch: u32,
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// What SQLite, which has no such column, derives its values from.
    pub derived: Option<&'static str>,
}

/// What a column's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers.
    Integer,
    /// Yes or no; 1 or 0 in SQLite.
    Flag,
    /// Text.
    Text,
    /// Bytes.
    Bytes,
}

impl Table {
    /// The columns of its key.
    pub fn key_columns(&self) -> &'static [Column] {
        &self.columns[..self.key]
    }

    pub(super) const fn new(name: &'static str, key: usize, columns: &'static [Column]) -> Self {
        Self {
            name,
            key,
            columns,
            left_out: &[],
            left_out_sqlite: &[],
            filter: "",
            merged: None,
            numbered: false,
            batch: 5_000,
        }
    }

    pub(super) const fn numbered(mut self) -> Self {
        self.numbered = true;
        self
    }
}

/// A column that both databases have.
pub(super) const fn column(name: &'static str, kind: Kind) -> Column {
    Column {
        name,
        kind,
        derived: None,
    }
}

/// A column that PostgreSQL alone has, and what it is derived from in SQLite.
pub(super) const fn derived(name: &'static str, kind: Kind, from: &'static str) -> Column {
    Column {
        name,
        kind,
        derived: Some(from),
    }
}
