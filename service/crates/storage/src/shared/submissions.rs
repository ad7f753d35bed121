//! Lists and searches of submissions. A submission is stored by its update, which each database
//! implements separately.

mod refused;

use super::groups::tag_is_in;
use super::{Query, Transaction, callers};
use crate::submissions::{SubmissionFilter, containing, whole};
use crate::value::{Row, Value, unreadable, values};
use crate::{Access, StorageError};
use domain::clock::Timestamp;
use domain::id::{SubmissionId, TagId};
use domain::interaction::{UpdateFault, VerificationState};
use domain::scope::Reach;
use domain::submission::{Consent, NotSaved, Submission, SubmissionState};

pub(super) use refused::look;

/// Rows that one transaction removes because of their age; taps wait for it.
const PRUNED_AT_ONCE: usize = 1_000;

/// The operations on submissions. Updates create them, and erasing an update erases its submission.
impl Access {
    /// At most `limit` submissions that match `filter`, the newest first. With `before`, only
    /// submissions before that one.
    pub async fn submissions(
        &self,
        filter: SubmissionFilter,
        before: Option<SubmissionId>,
        limit: usize,
    ) -> Result<Vec<Submission>, StorageError> {
        let arguments = (filter, before, limit);
        self.read("submissions", arguments, |db, (filter, before, limit)| {
            Box::pin(list(db, filter, *before, *limit))
        })
        .await
    }

    /// How many submissions match `filter`.
    pub async fn count_submissions(&self, filter: SubmissionFilter) -> Result<u64, StorageError> {
        self.read("count_submissions", filter, |db, filter| {
            Box::pin(count(db, filter))
        })
        .await
    }

    /// The submission with this id.
    pub async fn submission(&self, id: SubmissionId) -> Result<Option<Submission>, StorageError> {
        self.read("submission", id, |db, id| Box::pin(find(db, *id)))
            .await
    }

    /// Saves a refused submission and its variables in one operation. `None` if there is no such
    /// submission.
    ///
    /// # Errors
    ///
    /// [`InUse::NotSavable`](crate::InUse::NotSavable) while the reason for the refusal persists,
    /// and [`InUse::SavedAlready`](crate::InUse::SavedAlready).
    pub async fn save_submission(
        &self,
        id: SubmissionId,
    ) -> Result<Option<Submission>, StorageError> {
        self.change("save_submission", id, |tx, id| {
            Box::pin(refused::save(tx, *id))
        })
        .await
    }

    /// The names of the forms that were sent at a tag and saved.
    pub async fn sent_forms(&self, tag: TagId) -> Result<Vec<String>, StorageError> {
        self.run_read("sent_forms", tag, |db, tag| Box::pin(forms(db, *tag)))
            .await
    }

    /// Removes some submissions older than `keep_since`. `true` if more may be left.
    pub async fn prune_submissions(&self, keep_since: Timestamp) -> Result<bool, StorageError> {
        self.change("prune_submissions", keep_since, |tx, keep_since| {
            Box::pin(prune(tx, *keep_since))
        })
        .await
    }
}

/// Selects submissions for a caller with `reach`. The last column is whether the tag is within it.
pub(super) fn select(reach: &Reach) -> String {
    let reached = callers::tags(reach, "t.");
    format!(
        "SELECT s.id, s.at, s.interaction_id, s.tag_id, t.slug, t.name, s.experience_id,
             s.experience_version, s.verification, s.fields, s.consent, s.simulated, s.refused,
             coalesce((TRUE{reached}), FALSE)
         FROM submissions s JOIN tags t ON t.id = s.tag_id"
    )
}

/// Reads a submission from a row of [`select`].
pub(super) fn read(mut row: Row) -> Result<Submission, StorageError> {
    let (id, at, interaction_id) = (row.take()?, row.take()?, row.take()?);
    let (tag_id, slug, tag_name) = (row.take()?, row.take()?, row.take()?);
    let name: (String, String) = (slug, tag_name);
    let (experience_id, experience_version) = (row.take()?, row.take()?);
    let verification = row.text("verification", VerificationState::parse)?;
    let fields = row.json("submission")?;
    let consent: Option<String> = row.take()?;
    let simulated = row.take()?;
    let refused: Option<String> = row.take()?;
    let refused =
        refused.map(|name| UpdateFault::parse(&name).ok_or_else(|| unreadable("submission")));
    let within_reach: bool = row.take()?;
    let (slug, tag_name) = Some(name).filter(|_| within_reach).unzip();
    Ok(Submission {
        id,
        at,
        interaction_id,
        tag_id,
        slug,
        tag_name,
        experience_id,
        experience_version,
        tag_verified: verification.tag_verified(),
        fields,
        consent: consent.map(|text| Consent {
            text,
            version: experience_version,
        }),
        simulated,
        not_saved: refused.transpose()?.map(NotSaved::new),
    })
}

/// The conditions of a filter, and their values.
fn conditions(
    db: &dyn Query,
    filter: &SubmissionFilter,
    before: Option<SubmissionId>,
) -> (String, Vec<Value<'static>>) {
    let mut conditions = String::from("s.id < ?1");
    let mut values = values![before.map_or(i64::MAX, SubmissionId::get)].to_vec();
    let mut add = |condition: &str, value: Value<'static>| {
        values.push(value);
        let place = format!("?{}", values.len());
        conditions.push_str(" AND ");
        conditions.push_str(&condition.replace('@', &place));
    };
    if let Some(tag) = filter.tag_id {
        add("s.tag_id = @", tag.into());
    }
    if let Some(experience) = filter.experience_id {
        add("s.experience_id = @", experience.into());
    }
    if let Some(group) = filter.group_id {
        add(&tag_is_in(db.dialect(), "s.tag_id", "@"), group.into());
    }
    if let Some(verification) = filter.verification {
        add("s.verification = @", verification.as_str().into());
    }
    if let Some(consent) = filter.consent {
        add("(s.consent IS NOT NULL) = @", consent.into());
    }
    if let Some(q) = &filter.q {
        add("s.folded LIKE @ ESCAPE '\\'", containing(q).into());
    }
    if let Some(value) = &filter.value {
        add("s.folded LIKE @ ESCAPE '\\'", whole(value).into());
    }
    if let Some(since) = filter.since {
        add("s.at >= @", since.into());
    }
    if let Some(until) = filter.until {
        add("s.at < @", until.into());
    }
    if let Some(tap) = filter.interaction_id {
        add("s.interaction_id = @", tap.into());
    }
    if let Some(simulated) = filter.world.simulated() {
        add("s.simulated = @", simulated.into());
    }
    match filter.state {
        SubmissionState::Saved => conditions.push_str(" AND s.refused IS NULL"),
        SubmissionState::Refused => conditions.push_str(" AND s.refused IS NOT NULL"),
        SubmissionState::All => {}
    }
    conditions.push_str(&callers::taps(db.reach(), "s.experience_id", "s.tag_id"));
    (conditions, values)
}

async fn list(
    db: &mut dyn Query,
    filter: &SubmissionFilter,
    before: Option<SubmissionId>,
    limit: usize,
) -> Result<Vec<Submission>, StorageError> {
    let (conditions, mut values) = conditions(db, filter, before);
    values.push(Value::limit(limit));
    let sql = format!(
        "{} WHERE {conditions} ORDER BY s.id DESC LIMIT ?{}",
        select(db.reach()),
        values.len()
    );
    let found = db.query(&sql, &values).await?;
    let found = found.into_iter().map(read);
    let mut found: Vec<_> = found.collect::<Result<_, _>>()?;
    look(db, &mut found).await?;
    Ok(found)
}

async fn count(db: &mut dyn Query, filter: &SubmissionFilter) -> Result<u64, StorageError> {
    let (conditions, values) = conditions(db, filter, None);
    let sql = format!("SELECT count(*) FROM submissions s WHERE {conditions}");
    db.count(&sql, &values).await
}

async fn find(db: &mut dyn Query, id: SubmissionId) -> Result<Option<Submission>, StorageError> {
    let within = callers::taps(db.reach(), "s.experience_id", "s.tag_id");
    let sql = format!("{} WHERE s.id = ?1{within}", select(db.reach()));
    let Some(row) = db.row(&sql, &values![id]).await? else {
        return Ok(None);
    };
    let mut found = [read(row)?];
    look(db, &mut found).await?;
    let [found] = found;
    Ok(Some(found))
}

/// The submissions with these ids, for events.
pub(super) async fn of_ids(
    db: &mut dyn Query,
    ids: &[SubmissionId],
) -> Result<Vec<Submission>, StorageError> {
    let sql = format!("{} WHERE s.id IN ids(?1)", select(db.reach()));
    let found = db.query(&sql, &values![Value::list(ids)]).await?;
    found.into_iter().map(read).collect()
}

async fn forms(db: &mut dyn Query, tag: TagId) -> Result<Vec<String>, StorageError> {
    let sql = "SELECT DISTINCT form FROM submissions WHERE tag_id = ?1 AND refused IS NULL";
    let found = db.query(sql, &values![tag]).await?;
    found.into_iter().map(|mut row| row.take()).collect()
}

async fn prune(tx: &mut dyn Transaction, keep_since: Timestamp) -> Result<bool, StorageError> {
    let sql = "DELETE FROM submissions WHERE id IN
        (SELECT id FROM submissions WHERE at < ?1 ORDER BY at LIMIT ?2)";
    let values = values![keep_since, Value::limit(PRUNED_AT_ONCE)];
    Ok(tx.execute(sql, &values).await? == PRUNED_AT_ONCE as u64)
}
