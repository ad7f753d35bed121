//! Staff phones: their SQL.

use super::administration::check_limits;
use super::{Query, Transaction};
use crate::value::{Row, Value, unreadable, values};
use crate::{Access, CachedPart, StorageError};
use domain::admin_token::TokenHash;
use domain::audit::Note;
use domain::clock::{Millis, Timestamp};
use domain::id::PhoneId;
use domain::phone::{NewPhone, PAIRING, PairedPhone, Pairing, Phone, PhoneCookies};

/// Minimum time between two records of a phone's use, so that staff who tap one tag after the other
/// do not write at each tap.
const NOTED: Millis = Millis::minutes(1);

/// The operations on staff phones.
impl Access {
    /// At most `limit` phones, paired or not, the oldest first, after the phone `after`.
    pub async fn phones(
        &self,
        after: Option<PhoneId>,
        limit: usize,
    ) -> Result<Vec<PairedPhone>, StorageError> {
        self.read("phones", (after, limit), |db, (after, limit)| {
            Box::pin(phones(db, *after, *limit))
        })
        .await
    }

    /// Stores a phone that is not paired yet. Its pair code is valid for [`PAIRING`].
    ///
    /// # Errors
    ///
    /// [`Conflict::MissingInList`](crate::Conflict::MissingInList) if the phone is limited to a group that does
    /// not exist.
    pub async fn insert_phone(&self, phone: NewPhone) -> Result<Phone, StorageError> {
        self.change("insert_phone", phone, |tx, phone| {
            Box::pin(insert(tx, phone))
        })
        .await
    }

    /// Deletes a phone, which ends its cookies. `None` if there is no such phone.
    pub async fn delete_phone(&self, id: PhoneId) -> Result<Option<()>, StorageError> {
        self.change("delete_phone", id, |tx, id| Box::pin(delete(tx, *id)))
            .await
    }

    /// All phones that were paired, also expired ones, with the hashes of their secrets.
    pub async fn paired_phones(&self) -> Result<Vec<PairedPhone>, StorageError> {
        self.read("paired_phones", (), |db, ()| Box::pin(paired(db)))
            .await
    }

    /// The phone to which a pair code belongs, paired or not, and when the code expires. `None` if no
    /// phone has the code, because it was used or never existed.
    pub async fn phone_to_pair(
        &self,
        code: TokenHash,
    ) -> Result<Option<(PairedPhone, Timestamp)>, StorageError> {
        self.read("phone_to_pair", code, |db, code| {
            Box::pin(to_pair(db, code))
        })
        .await
    }

    /// Uses a pair code: the phone gets a secret at a host, and perhaps a code for another host.
    /// `None` if the code was used meanwhile, or has expired.
    pub async fn pair_phone(&self, pairing: Pairing) -> Result<Option<PairedPhone>, StorageError> {
        self.change("pair_phone", pairing, |tx, pairing| {
            Box::pin(pair(tx, pairing))
        })
        .await
    }

    /// Notes that a phone was used at `now`.
    pub async fn note_phone_use(&self, id: PhoneId, now: Timestamp) -> Result<(), StorageError> {
        let used = "UPDATE phones SET last_used_at = ?2
             WHERE id = ?1 AND (last_used_at IS NULL OR last_used_at <= ?3)";
        let values = values![id, now, now.minus(NOTED)].to_vec();
        self.change_at_once("note_phone_use", used, values)
            .await
            .map(drop)
    }
}

/// Columns of a phone, for [`read`].
const PHONE: &str = "id, name, scopes, group_ids, created_at, paired_at, last_used_at, expires_at";

fn read(row: &mut Row) -> Result<Phone, StorageError> {
    Ok(Phone {
        id: row.take()?,
        name: row.take()?,
        scopes: row.json("scope")?,
        group_ids: row.optional_text("group", |json| serde_json::from_str(json).ok())?,
        created_at: row.take()?,
        paired_at: row.take()?,
        last_used_at: row.take()?,
        expires_at: row.take()?,
    })
}

async fn phones(
    db: &mut dyn Query,
    after: Option<PhoneId>,
    limit: usize,
) -> Result<Vec<PairedPhone>, StorageError> {
    let sql = format!("SELECT {PHONE}, cookies FROM phones WHERE id > ?1 ORDER BY id LIMIT ?2");
    let values = values![after.map_or(0, PhoneId::get), Value::limit(limit)];
    let found = db.query(&sql, &values).await?.into_iter();
    found.map(|mut row| read_paired(&mut row)).collect()
}

async fn insert(tx: &mut dyn Transaction, phone: &NewPhone) -> Result<Phone, StorageError> {
    check_limits(tx, &phone.rights).await?;
    let created_at = tx.now();
    let cookies = json(&PhoneCookies::default())?;
    let sql = "INSERT INTO phones
             (name, created_at, scopes, group_ids, expires_at, pair_hash, pair_until, cookies)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id";
    let values = values![
        &phone.name,
        created_at,
        Value::list(&phone.rights.scopes),
        phone.rights.group_ids.as_ref().map(Value::list),
        phone.expires_at,
        phone.pair_code.0.as_slice(),
        created_at.plus(PAIRING),
        cookies
    ];
    let stored = Phone {
        id: tx.write_one(sql, &values).await?.take()?,
        name: phone.name.to_string(),
        scopes: phone.rights.scopes.clone(),
        group_ids: phone.rights.group_ids.clone(),
        created_at,
        paired_at: None,
        last_used_at: None,
        expires_at: phone.expires_at,
    };
    tx.note(Note::created(format!("phones/{}", stored.id), &stored));
    Ok(stored)
}

async fn delete(tx: &mut dyn Transaction, id: PhoneId) -> Result<Option<()>, StorageError> {
    let sql = format!("SELECT {PHONE} FROM phones WHERE id = ?1");
    let Some(mut found) = tx.row(&sql, &values![id]).await? else {
        return Ok(None);
    };
    tx.note(Note::deleted(&read(&mut found)?));
    let sql = "DELETE FROM phones WHERE id = ?1";
    tx.execute(sql, &values![id]).await?;
    // All nodes forget its secrets.
    tx.changes(Some(CachedPart::Phones));
    Ok(Some(()))
}

async fn paired(db: &mut dyn Query) -> Result<Vec<PairedPhone>, StorageError> {
    let sql =
        format!("SELECT {PHONE}, cookies FROM phones WHERE paired_at IS NOT NULL ORDER BY id");
    let found = db.query(&sql, &[]).await?.into_iter();
    found.map(|mut row| read_paired(&mut row)).collect()
}

fn read_paired(row: &mut Row) -> Result<PairedPhone, StorageError> {
    Ok(PairedPhone {
        phone: read(row)?,
        cookies: row.json("cookie")?,
    })
}

async fn to_pair(
    db: &mut dyn Query,
    code: &TokenHash,
) -> Result<Option<(PairedPhone, Timestamp)>, StorageError> {
    let sql = format!("SELECT {PHONE}, cookies, pair_until FROM phones WHERE pair_hash = ?1");
    let Some(mut row) = db.row(&sql, &values![code.0.as_slice()]).await? else {
        return Ok(None);
    };
    Ok(Some((read_paired(&mut row)?, row.take()?)))
}

async fn pair(
    tx: &mut dyn Transaction,
    pairing: &Pairing,
) -> Result<Option<PairedPhone>, StorageError> {
    let now = tx.now();
    let code = pairing.code.0.as_slice();
    let sql = format!(
        "SELECT {PHONE}, cookies FROM phones WHERE id = ?1 AND pair_hash = ?2 AND pair_until > ?3"
    );
    let found = tx.row(&sql, &values![pairing.id, code, now]).await?;
    let Some(mut row) = found else {
        return Ok(None);
    };
    let mut paired = read_paired(&mut row)?;
    paired.cookies.set(&pairing.host, pairing.secret);
    paired.phone.paired_at = paired.phone.paired_at.or(Some(now));
    // Another node may use the same code, so the statement that consumes it compares it again.
    let sql = "UPDATE phones SET pair_hash = ?3, pair_until = ?4, cookies = ?5, paired_at = ?6
         WHERE id = ?1 AND pair_hash = ?2";
    let next = pairing.next.as_ref();
    let values = values![
        pairing.id,
        code,
        next.map(|code| code.0.as_slice()),
        next.map(|_| now.plus(PAIRING)),
        json(&paired.cookies)?,
        paired.phone.paired_at
    ];
    if tx.execute(sql, &values).await? == 0 {
        return Ok(None);
    }
    tx.note(Note::done(&serde_json::json!({"host": pairing.host})));
    tx.changes(Some(CachedPart::Phones));
    Ok(Some(paired))
}

fn json(cookies: &PhoneCookies) -> Result<String, StorageError> {
    serde_json::to_string(cookies).map_err(|_| unreadable("cookie"))
}
