//! The journal of a chip: its keys, and how often they were tried.

use crate::shared::{Query, Transaction, insert_rows};
use crate::value::{unreadable, values};
use crate::{StorageError, StoredGeneration, StoredJournal};
use encoding::{SlotState, of_word, word};
use inlay::Uid;
use inlay::ev2::KEYS;

pub(super) async fn journal(
    db: &mut dyn Query,
    uid: Uid,
) -> Result<Option<StoredJournal>, StorageError> {
    let sql = "SELECT confirmed, refusals, torn, refused, bureau FROM chips WHERE uid = ?1";
    let Some(mut row) = db.row(sql, &values![uid]).await? else {
        return Ok(None);
    };
    let confirmed: Option<u32> = row.take()?;
    let (refusals, torn, refused) = (row.take()?, row.take()?, row.take()?);
    let bureau: Option<u32> = row.take()?;
    Ok(Some(StoredJournal {
        uid,
        confirmed: confirmed.map(number).transpose()?,
        bureau: bureau.map(number).transpose()?,
        refusals,
        torn,
        refused,
        generations: generations(db, uid).await?,
    }))
}

fn number(number: u32) -> Result<u8, StorageError> {
    u8::try_from(number).map_err(|_| unreadable("generation"))
}

async fn generations(db: &mut dyn Query, uid: Uid) -> Result<Vec<StoredGeneration>, StorageError> {
    let sql = "SELECT generation, slot, state, root_id, key FROM chip_keys
         WHERE uid = ?1 ORDER BY generation, slot";
    let mut all: Vec<StoredGeneration> = Vec::new();
    for mut row in db.query(sql, &values![uid]).await? {
        let generation = number(row.take()?)?;
        let slot: u32 = row.take()?;
        let state = row.text("state", of_word::<SlotState>)?;
        let root = row.take()?;
        let key: Option<Vec<u8>> = row.take()?;
        if all.last().is_none_or(|last| last.number != generation) {
            all.push(StoredGeneration {
                number: generation,
                root,
                own: Vec::new(),
                slots: [SlotState::Planned; KEYS as usize],
            });
        }
        if let Some(last) = all.last_mut() {
            let place = last.slots.get_mut(slot as usize);
            *place.ok_or_else(|| unreadable("slot"))? = state;
            last.own.extend(key);
        }
    }
    Ok(all)
}

/// Stores the whole journal of a chip. Keys are added, never removed or replaced.
pub(super) async fn store(
    tx: &mut dyn Transaction,
    journal: &StoredJournal,
) -> Result<(), StorageError> {
    let StoredJournal {
        uid,
        confirmed,
        bureau,
        refusals,
        torn,
        refused,
        generations,
    } = journal;
    tx.execute(
        "INSERT INTO chips (uid, confirmed, refusals, torn, refused, bureau) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (uid) DO UPDATE SET confirmed = excluded.confirmed, refusals = excluded.refusals,
             torn = excluded.torn, refused = excluded.refused, bureau = excluded.bureau",
        &values![
            *uid,
            confirmed.map(u32::from),
            *refusals,
            *torn,
            refused,
            bureau.map(u32::from)
        ],
    )
    .await?;
    let before = self::generations(tx, *uid).await?;
    let mut rows = Vec::new();
    for generation in generations {
        let stored = before.iter().find(|one| one.number == generation.number);
        if stored.is_some_and(|stored| stored.slots == generation.slots) {
            continue;
        }
        for (slot, state) in (0_u32..).zip(generation.slots) {
            rows.push(
                values![
                    *uid,
                    u32::from(generation.number),
                    slot,
                    word(state),
                    generation.root,
                    generation.own.get(slot as usize)
                ]
                .to_vec(),
            );
        }
    }
    let columns = ["uid", "generation", "slot", "state", "root_id", "key"];
    let then = "ON CONFLICT (uid, generation, slot) DO UPDATE SET state = excluded.state";
    insert_rows(tx, "chip_keys", &columns, rows, then)
        .await
        .map(drop)
}
