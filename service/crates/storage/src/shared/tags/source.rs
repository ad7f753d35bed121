//! Where a selection takes its tags from.

use super::wanted::{Others, Wanted};
use crate::shared::Query;
use crate::shared::dialect::Dialect;
use crate::value::values;
use crate::{StorageError, TagFilter};

/// Most candidates for which SQLite's search is faster than a walk in an order other than that of
/// ids.
const FEW: i64 = 5_000;

/// The source of the tags.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// PostgreSQL: its planner chooses.
    Postgres,
    /// SQLite: a walk along ids.
    ById,
    /// SQLite: a walk along names.
    ByName,
    /// SQLite: a walk along the ids of deleted tags.
    Deleted,
    /// SQLite: the candidates of the index of pieces.
    Search { pieces: String },
    /// SQLite: the few candidates of the index of pieces, and other tags.
    Candidates { pieces: String, others: Others },
}

impl Source {
    /// For SQLite: the candidates of a search if the index supports it, otherwise a walk along ids.
    pub(super) async fn of(
        db: &mut dyn Query,
        filter: &TagFilter,
        wanted: &Wanted,
    ) -> Result<Self, StorageError> {
        if db.dialect() == Dialect::Postgres {
            return Ok(Self::Postgres);
        }
        // A tag that matches is among `others`, or all words are in its text. The two do not come in
        // the order of ids, so they are sorted first.
        if let (Some(pieces), Some(others)) = (wanted.pieces(), wanted.others())
            && others != Others::default()
            && are_few(db, &pieces).await?
        {
            return Ok(Self::Candidates { pieces, others });
        }
        Ok(match wanted.pieces_of_texts() {
            Some(pieces) => Self::Search { pieces },
            None => Self::by_id(filter),
        })
    }

    /// SQLite: a walk along the ids of deleted tags or of the others.
    pub(super) const fn by_id(filter: &TagFilter) -> Self {
        if filter.deleted {
            Self::Deleted
        } else {
            Self::ById
        }
    }

    /// SQLite: a walk along names; deleted tags have no such index, and are walked along ids.
    pub(super) const fn names(filter: &TagFilter) -> Self {
        if filter.deleted {
            Self::Deleted
        } else {
            Self::ByName
        }
    }

    /// The dialect of its statements.
    pub(super) const fn dialect(&self) -> Dialect {
        match self {
            Self::Postgres => Dialect::Postgres,
            _ => Dialect::Sqlite,
        }
    }

    pub(super) const fn is_postgres(&self) -> bool {
        matches!(self, Self::Postgres)
    }

    /// For SQLite: whether the index of pieces has few candidates.
    pub(super) async fn has_few(&self, db: &mut dyn Query) -> Result<bool, StorageError> {
        match self {
            Self::Candidates { .. } => Ok(true),
            Self::Search { pieces } => are_few(db, pieces).await,
            Self::Postgres | Self::ById | Self::ByName | Self::Deleted => Ok(false),
        }
    }

    /// The column with the tag's id.
    pub(super) const fn id(&self) -> &'static str {
        match self {
            Self::Search { .. } => "s.rowid",
            _ => "t.id",
        }
    }

    /// The expression that orders names. In both databases, A to Z compare like a to z.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Postgres => "t.name_order",
            _ => "t.name COLLATE NOCASE",
        }
    }
}

/// Whether a search has fewer than [`FEW`] candidates.
async fn are_few(db: &mut dyn Query, pieces: &str) -> Result<bool, StorageError> {
    let sql = "SELECT count(*) FROM
         (SELECT 1 FROM tags_search WHERE tags_search MATCH ?1 LIMIT ?2)";
    Ok(db.count(sql, &values![pieces, FEW]).await? < FEW.unsigned_abs())
}
