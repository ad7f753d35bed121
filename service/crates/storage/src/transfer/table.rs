//! The description of a table that is moved between the databases.

/// A table that both backends have.
#[derive(Debug)]
pub struct Table {
    /// The table's name in both databases.
    pub name: &'static str,
    /// How many columns, from the first on, form the key.
    pub key: usize,
    /// The columns that are moved, in the order of a row's text.
    pub columns: &'static [Column],
    /// Columns that only PostgreSQL has, and fills again.
    pub left_out: &'static [&'static str],
    /// Columns that only SQLite has, with a default that is right for moved rows.
    pub left_out_sqlite: &'static [&'static str],
    /// The condition for rows that are moved, valid in both dialects; all rows if it is empty.
    pub filter: &'static str,
    /// The query that PostgreSQL reads instead of the table, if several of its rows form one.
    pub merged: Option<&'static str>,
    /// Whether the database assigns the rows' ids, and never uses an id twice.
    pub numbered: bool,
    /// How many rows are copied at once.
    pub batch: u32,
}

/// A column that is moved.
#[derive(Debug)]
pub struct Column {
    /// The column's name in both databases.
    pub name: &'static str,
    /// The type of the column's values.
    pub kind: Kind,
    /// The SQL by which SQLite, which does not have the column, derives its values.
    pub derived: Option<&'static str>,
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Signed integers of 64 bits.
    Integer,
    /// Booleans; 1 or 0 in SQLite.
    Flag,
    /// Texts, encoded as UTF-8.
    Text,
    /// Binary data, of any length.
    Bytes,
}

impl Table {
    /// The columns of the table's key.
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

/// A column that only PostgreSQL has, with the SQL that derives it in SQLite.
pub(super) const fn derived(name: &'static str, kind: Kind, from: &'static str) -> Column {
    Column {
        name,
        kind,
        derived: Some(from),
    }
}
