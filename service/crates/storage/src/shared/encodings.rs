//! Encodings: the journal of chips, the turns of an encoding, and the roots of chip keys.

mod chips;
mod roots;
mod state;
mod turns;

pub(crate) use roots::retire_all;
pub(super) use state::read as read_state;
pub(super) use state::{ABANDONED, OPEN};
pub(super) use turns::give_up;
#[cfg(feature = "postgres")]
pub(crate) use turns::{COLUMNS, encoded, read};

use super::{Query, inlays};
use crate::value::{Value, values};
use crate::{
    Access, ChipState, EncodingFilter, EncodingTurn, Ending, ExposedInlay, SealedRoot,
    StorageError, StoredEncoding,
};
use domain::caller::Actor;
use domain::clock::Timestamp;
use domain::id::{EncodingId, InlayId};
use domain::inventory::SealedKey;
use domain::resource_kind::ResourceKind;
use encoding::{Exchange, OpenedAddress};
use inlay::Uid;

/// The operations on encodings.
impl Access {
    /// The encoding with this id.
    pub async fn encoding(&self, id: EncodingId) -> Result<Option<StoredEncoding>, StorageError> {
        self.read("encoding", id, |db, id| Box::pin(turns::encoding(db, *id)))
            .await
    }

    /// At most `limit` encodings that match `filter`, the newest first, after the encoding `after`.
    pub async fn encodings(
        &self,
        filter: EncodingFilter,
        after: Option<EncodingId>,
        limit: usize,
    ) -> Result<Vec<StoredEncoding>, StorageError> {
        let arguments = (filter, after, limit);
        self.read("encodings", arguments, |db, (filter, after, limit)| {
            Box::pin(list(db, *filter, *after, *limit))
        })
        .await
    }

    /// How many encodings match `filter`.
    pub async fn count_encodings(&self, filter: EncodingFilter) -> Result<u64, StorageError> {
        self.read("count_encodings", filter, |db, filter| {
            Box::pin(count(db, *filter))
        })
        .await
    }

    /// All data that a decision about a chip needs, as of one moment.
    pub async fn chip_state(&self, uid: Uid) -> Result<ChipState, StorageError> {
        self.read_snapshot("chip_state", uid, |db, uid| Box::pin(chip_state(db, *uid)))
            .await
    }

    /// Stores a turn with all its data. Stores nothing and returns `None` if another turn of the
    /// chip was stored meanwhile, or if the place in the run now belongs to another chip. If the
    /// inlay can no longer be bound, because it changed or its tag got another one meanwhile, the
    /// encoding is rejected instead.
    ///
    /// # Errors
    ///
    /// Those of [`insert_inlay`](crate::Access::insert_inlay), if the inlay is bound.
    pub async fn store_turn(
        &self,
        turn: EncodingTurn,
    ) -> Result<Option<StoredEncoding>, StorageError> {
        let binds = matches!(turn.ending, Ending::Bound(_));
        let token = self.caller().and_then(|caller| match caller.actor {
            Actor::Token(id, _) => Some(id),
            _ => None,
        });
        let stored = self
            .change("store_turn", (turn, token), |tx, (turn, token)| {
                Box::pin(turns::store(tx, turn, *token))
            })
            .await?;
        if let Some(event) = stored.as_ref().filter(|_| binds).and_then(turns::encoded) {
            self.tell(event);
        }
        Ok(stored)
    }

    /// Stores with a verified encoding whether its address could be opened.
    pub async fn note_address_opened(
        &self,
        id: EncodingId,
        address: OpenedAddress,
    ) -> Result<(), StorageError> {
        // The service finds this out by itself; the audit row of the chip's last turn describes the
        // request.
        let noted = (id, address);
        self.run_change("note_address_opened", noted, |tx, (id, address)| {
            Box::pin(turns::note_address_opened(tx, *id, *address))
        })
        .await?;
        self.tell_changed(ResourceKind::Encodings, Some(id.get()));
        Ok(())
    }

    /// Names and status words of an encoding's commands, in their order, with their times.
    pub async fn encoding_exchanges(
        &self,
        id: EncodingId,
    ) -> Result<Vec<(Timestamp, Exchange)>, StorageError> {
        self.read("encoding_exchanges", id, |db, id| {
            Box::pin(turns::exchanges(db, *id))
        })
        .await
    }

    /// All roots, the newest first.
    pub async fn encoding_roots(&self) -> Result<Vec<SealedRoot>, StorageError> {
        self.read("encoding_roots", (), |db, ()| Box::pin(roots::all(db)))
            .await
    }

    /// Stores a root, unless a root exists already that derives new keys.
    pub async fn insert_encoding_root(&self, root: SealedKey) -> Result<(), StorageError> {
        self.change("insert_encoding_root", root, |tx, root| {
            Box::pin(roots::insert(tx, root))
        })
        .await
    }

    /// Stores a root that derives all new keys from now on. All older roots only open chips, and
    /// open encodings are cancelled, because their new keys come from an older root. With
    /// `compromised`, others may know the older roots.
    pub async fn replace_encoding_root(
        &self,
        root: SealedKey,
        compromised: bool,
    ) -> Result<(), StorageError> {
        let arguments = (root, compromised);
        self.change(
            "replace_encoding_root",
            arguments,
            |tx, (root, compromised)| Box::pin(roots::replace(tx, root, *compromised)),
        )
        .await
    }

    /// At most `limit` inlays whose chip has keys of a compromised root, after the inlay `after`.
    pub async fn exposed_inlays(
        &self,
        after: Option<InlayId>,
        limit: usize,
    ) -> Result<Vec<ExposedInlay>, StorageError> {
        self.read("exposed_inlays", (after, limit), |db, (after, limit)| {
            Box::pin(roots::exposed(db, *after, *limit))
        })
        .await
    }

    /// How many inlays have a chip with keys of a compromised root.
    pub async fn count_exposed_inlays(&self) -> Result<u64, StorageError> {
        self.read("count_exposed_inlays", (), |db, ()| {
            Box::pin(roots::count_exposed(db))
        })
        .await
    }

    /// Notes that a backup of the moment `at` contains all roots, and the key that wraps them.
    pub async fn note_roots_backed_up(&self, at: Timestamp) -> Result<(), StorageError> {
        self.change("note_roots_backed_up", at, |tx, at| {
            Box::pin(roots::backed_up(tx, *at))
        })
        .await
    }
}

/// The conditions of a filter over [`turns::COLUMNS`]. Each parameter is first compared with a
/// column, from which PostgreSQL infers its type.
const FILTER: &str = "(uid = ?1 OR ?1 IS NULL) AND (run_id = ?2 OR ?2 IS NULL)";

async fn list(
    db: &mut dyn Query,
    filter: EncodingFilter,
    after: Option<EncodingId>,
    limit: usize,
) -> Result<Vec<StoredEncoding>, StorageError> {
    let sql = format!(
        "SELECT {} FROM encodings WHERE {FILTER} AND id < ?3 ORDER BY id DESC LIMIT ?4",
        turns::COLUMNS
    );
    let after = after.map_or(i64::MAX, EncodingId::get);
    let values = values![filter.uid, filter.run_id, after, Value::limit(limit)];
    let found = db.query(&sql, &values).await?;
    found.into_iter().map(turns::read).collect()
}

async fn count(db: &mut dyn Query, filter: EncodingFilter) -> Result<u64, StorageError> {
    let sql = format!("SELECT count(*) FROM encodings WHERE {FILTER}");
    db.count(&sql, &values![filter.uid, filter.run_id]).await
}

async fn chip_state(db: &mut dyn Query, uid: Uid) -> Result<ChipState, StorageError> {
    let latest = turns::latest(db, uid).await?;
    let finished = turns::finished(db, uid).await?;
    let journal = chips::journal(db, uid).await?;
    let inlay = inlays::with_uid(db, uid).await?;
    Ok(ChipState {
        journal,
        latest,
        finished,
        inlay,
    })
}
