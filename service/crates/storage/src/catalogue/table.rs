//! The description of a table.

/// One of the two kinds of databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// A SQLite file, which one process owns.
    Sqlite,
    /// A PostgreSQL database, which several nodes share.
    Postgres,
}

/// The contents of a table, which decide whether a copy of the database gets them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Data that administrators entered, or that was created for them. It is moved.
    Configuration,
    /// Records of past events, and totals that outlive them. They are moved.
    History,
    /// Data that is computed from other tables. It is not moved, but computed again.
    Derived,
    /// Progress that only holds for this database. A restored or moved database begins without it.
    Progress,
    /// The backend's own state, such as its clock. It is not moved.
    Local,
}

/// The effect of erasing a tag's visitors on a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erasing {
    /// No effect: its rows identify no visitor.
    Nothing,
    /// Deletes the rows of the tag's visitors.
    Visitors,
    /// Deletes the rows about the tag.
    OfTag,
    /// Deletes the rows of the tag's interactions.
    OfTaps,
    /// Sets these columns in the rows of the tag's interactions. The SQL is valid in both dialects.
    Columns(&'static str),
}

/// A table of one database or of both.
#[derive(Debug)]
pub struct Table {
    /// The table's name in both databases.
    pub name: &'static str,
    /// The contents of the table.
    pub contents: Contents,
    /// The effect of erasing a tag's visitors.
    pub erasing: Erasing,
    /// The only database that has the table; `None` if both have it.
    pub only: Option<Backend>,
    /// How many columns, from the first on, form the key.
    pub key: usize,
    /// The columns that both databases have, or that the only one has. A row is moved as their
    /// values, in this order.
    pub columns: &'static [Column],
    /// Columns that only PostgreSQL has, and fills again after a move.
    pub postgres_only: &'static [&'static str],
    /// Columns that only SQLite has, with a default that is right for moved rows.
    pub sqlite_only: &'static [&'static str],
    /// The condition for rows that are moved, valid in both dialects; all rows if it is empty.
    pub filter: &'static str,
    /// The query that PostgreSQL reads instead of the table, if several of its rows form one.
    pub merged: Option<&'static str>,
    /// Whether the database assigns the rows' ids, and never uses an id twice.
    pub numbered: bool,
    /// How many rows are moved at once.
    pub batch: u32,
}

/// A column of a table.
#[derive(Debug)]
pub struct Column {
    /// The column's name in both databases.
    pub name: &'static str,
    /// The type of the column's values.
    pub kind: Kind,
    /// Whether its values are secrets, wrapped by the key that protects inlay keys.
    pub wrapped: bool,
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

    /// Whether databases of this kind have the table.
    pub fn is_in(&self, backend: Backend) -> bool {
        self.only.is_none_or(|only| only == backend)
    }

    /// Whether a move copies its rows.
    pub fn is_moved(&self) -> bool {
        matches!(self.contents, Contents::Configuration | Contents::History)
    }

    pub(super) const fn new(
        name: &'static str,
        contents: Contents,
        erasing: Erasing,
        key: usize,
        columns: &'static [Column],
    ) -> Self {
        Self {
            name,
            contents,
            erasing,
            only: None,
            key,
            columns,
            postgres_only: &[],
            sqlite_only: &[],
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

    pub(super) const fn only(mut self, backend: Backend) -> Self {
        self.only = Some(backend);
        self
    }

    pub(super) const fn postgres_only(mut self, columns: &'static [&'static str]) -> Self {
        self.postgres_only = columns;
        self
    }

    pub(super) const fn sqlite_only(mut self, columns: &'static [&'static str]) -> Self {
        self.sqlite_only = columns;
        self
    }

    pub(super) const fn batch(mut self, rows: u32) -> Self {
        self.batch = rows;
        self
    }
}

impl Column {
    pub(super) const fn wrapped(mut self) -> Self {
        self.wrapped = true;
        self
    }
}

/// A column that both databases have.
pub(super) const fn column(name: &'static str, kind: Kind) -> Column {
    Column {
        name,
        kind,
        wrapped: false,
        derived: None,
    }
}

/// A column that only PostgreSQL has, with the SQL that derives it in SQLite.
pub(super) const fn derived(name: &'static str, kind: Kind, from: &'static str) -> Column {
    Column {
        derived: Some(from),
        ..column(name, kind)
    }
}
