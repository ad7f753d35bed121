//! What forms sent: lists, searches and erasing. A submission is made by its update, which each
//! database makes in its own way.

use async_trait::async_trait;

use super::callers::condition;
use super::told::{self, ToldUpdate};
use super::{Database, Query, Transaction, audit};
use crate::audit::Note;
use crate::clock::Timestamp;
use crate::id::{InteractionId, SubmissionId, TagId};
use crate::interaction::VerificationState;
use crate::storage::search::fold;
use crate::storage::submissions::{
    ErasedSubmissions, SubmissionFilter, Submissions, containing, whole,
};
use crate::storage::value::{Row, Value, values};
use crate::storage::{Part, StorageError};
use crate::submission::{Consent, Submission};
use crate::tag::PropertyClass;

/// Submissions erased in one transaction: taps wait for it.
const AT_ONCE: usize = 100;
/// Rows removed because of their age in one transaction.
const PRUNED_AT_ONCE: usize = 1_000;

#[async_trait]
impl<D: Database> Submissions for D {
    async fn submissions(
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

    async fn count_submissions(&self, filter: SubmissionFilter) -> Result<u64, StorageError> {
        self.read("count_submissions", filter, |db, filter| {
            Box::pin(count(db, filter))
        })
        .await
    }

    async fn submission(&self, id: SubmissionId) -> Result<Option<Submission>, StorageError> {
        self.read("submission", id, |db, id| Box::pin(find(db, *id)))
            .await
    }

    async fn sent_forms(&self, tag: TagId) -> Result<Vec<String>, StorageError> {
        self.run_read("sent_forms", tag, |db, tag| Box::pin(forms(db, *tag)))
            .await
    }

    async fn erase_submission(
        &self,
        id: SubmissionId,
        empty_variables: bool,
    ) -> Result<Option<()>, StorageError> {
        let arguments = (id, empty_variables);
        self.change("erase_submission", arguments, |tx, (id, empty)| {
            Box::pin(erase_one(tx, *id, *empty))
        })
        .await
    }

    async fn erase_submissions(
        &self,
        filter: SubmissionFilter,
        before: Option<SubmissionId>,
        empty_variables: bool,
    ) -> Result<ErasedSubmissions, StorageError> {
        let arguments = (filter, before, empty_variables);
        self.change(
            "erase_submissions",
            arguments,
            |tx, (filter, before, empty)| Box::pin(erase_some(tx, filter, *before, *empty)),
        )
        .await
    }

    async fn prune_submissions(&self, keep_since: Timestamp) -> Result<bool, StorageError> {
        self.change("prune_submissions", keep_since, |tx, keep_since| {
            Box::pin(prune(tx, *keep_since))
        })
        .await
    }
}

pub(super) const SELECT: &str =
    "SELECT s.id, s.at, s.interaction_id, s.tag_id, t.slug, t.name, s.experience_id,
        s.experience_version, s.verification, s.fields, s.consent, s.simulated
    FROM submissions s JOIN tags t ON t.id = s.tag_id";

pub(super) fn read(mut row: Row) -> Result<Submission, StorageError> {
    let (id, at, interaction_id) = (row.take()?, row.take()?, row.take()?);
    let (tag_id, slug, tag_name) = (row.take()?, row.take()?, row.take()?);
    let (experience_id, experience_version) = (row.take()?, row.take()?);
    let verification = row.text("verification", VerificationState::parse)?;
    let fields = row.json("submission")?;
    let consent: Option<String> = row.take()?;
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
        simulated: row.take()?,
    })
}

/// The conditions of a filter, and their values.
fn conditions(
    db: &dyn Query,
    filter: &SubmissionFilter,
    before: Option<SubmissionId>,
) -> (String, Vec<Value<'static>>) {
    let mut conditions = String::from("s.id < ?1");
    let mut values = values![before.map_or(i64::MAX, |id| id.0)].to_vec();
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
    if let Some(simulated) = filter.world.simulated() {
        add("s.simulated = @", simulated.into());
    }
    conditions.push_str(&condition(db.reach(), "s.experience_id"));
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
        "{SELECT} WHERE {conditions} ORDER BY s.id DESC LIMIT ?{}",
        values.len()
    );
    let found = db.query(&sql, &values).await?;
    found.into_iter().map(read).collect()
}

async fn count(db: &mut dyn Query, filter: &SubmissionFilter) -> Result<u64, StorageError> {
    let (conditions, values) = conditions(db, filter, None);
    let sql = format!("SELECT count(*) FROM submissions s WHERE {conditions}");
    db.count(&sql, &values).await
}

async fn find(db: &mut dyn Query, id: SubmissionId) -> Result<Option<Submission>, StorageError> {
    let within = condition(db.reach(), "s.experience_id");
    let sql = format!("{SELECT} WHERE s.id = ?1{within}");
    db.row(&sql, &values![id]).await?.map(read).transpose()
}

/// Those of these ids, for events.
pub(super) async fn of_ids(
    db: &mut dyn Query,
    ids: &[SubmissionId],
) -> Result<Vec<Submission>, StorageError> {
    let sql = format!("{SELECT} WHERE s.id IN ids(?1)");
    let found = db.query(&sql, &values![Value::list(ids)]).await?;
    found.into_iter().map(read).collect()
}

async fn forms(db: &mut dyn Query, tag: TagId) -> Result<Vec<String>, StorageError> {
    let sql = "SELECT DISTINCT form FROM submissions WHERE tag_id = ?1";
    let found = db.query(sql, &values![tag]).await?;
    found.into_iter().map(|mut row| row.take()).collect()
}

async fn erase_one(
    tx: &mut dyn Transaction,
    id: SubmissionId,
    empty_variables: bool,
) -> Result<Option<()>, StorageError> {
    let Some(submission) = find(tx, id).await? else {
        return Ok(None);
    };
    erase(tx, &submission, empty_variables).await?;
    // What was in it is what is erased.
    tx.note(Note::default());
    Ok(Some(()))
}

async fn erase_some(
    tx: &mut dyn Transaction,
    filter: &SubmissionFilter,
    before: Option<SubmissionId>,
    empty_variables: bool,
) -> Result<ErasedSubmissions, StorageError> {
    let found = list(tx, filter, before, AT_ONCE).await?;
    let next = found
        .last()
        .filter(|_| found.len() == AT_ONCE)
        .map(|last| last.id);
    let mut erased = 0;
    for submission in &found {
        let is = |value: &String| {
            let mut fields = submission.fields.iter();
            fields.any(|field| fold(&field.value) == fold(value))
        };
        if filter.value.as_ref().is_none_or(is) {
            erase(tx, submission, empty_variables).await?;
            erased += 1;
        }
    }
    if erased > 0 {
        // Whose they were is what is erased.
        tx.note(Note::done(
            &serde_json::json!({ "empty_variables": empty_variables }),
        ));
    }
    Ok(ErasedSubmissions { erased, next })
}

async fn erase(
    tx: &mut dyn Transaction,
    submission: &Submission,
    empty_variables: bool,
) -> Result<(), StorageError> {
    let Submission { tag_id, at, .. } = submission;
    told::erases(tx).await?;
    let update = ToldUpdate {
        tag: *tag_id,
        at: *at,
        interaction: submission.interaction_id,
        submission: Some(submission.id),
    };
    told::forget_update(tx, &update).await?;
    let fields = submission.fields.iter();
    let variables = fields.map(|field| field.variable.as_str()).collect();
    audit::forget_variables(tx, *tag_id, &variables).await?;
    told::forget_owners_values(tx, *tag_id, *at, &variables).await?;
    forget_changes(tx, submission.interaction_id).await?;
    if empty_variables {
        for field in &submission.fields {
            empty_variable(tx, *tag_id, field.variable.as_str(), &field.value).await?;
        }
        tx.changes(Some(Part::Tag(*tag_id)));
    }
    erase_row(tx, submission.id).await
}

/// Removes a submission's own row alone.
pub(super) async fn erase_row(
    tx: &mut dyn Transaction,
    id: SubmissionId,
) -> Result<(), StorageError> {
    let sql = "DELETE FROM submissions WHERE id = ?1";
    tx.execute(sql, &values![id]).await.map(drop)
}

/// Empties a variable of a tag if it still has this value.
pub(super) async fn empty_variable(
    tx: &mut dyn Transaction,
    tag: TagId,
    variable: &str,
    value: &str,
) -> Result<(), StorageError> {
    let sql = "UPDATE properties SET value = ''
         WHERE tag_id = ?1 AND class = ?2 AND key = ?3 AND value = ?4";
    let class = PropertyClass::Variable.as_str();
    tx.execute(sql, &values![tag, class, variable, value])
        .await
        .map(drop)
}

/// That there was an update stays: it is why the key is consumed.
async fn forget_changes(
    tx: &mut dyn Transaction,
    interaction: InteractionId,
) -> Result<(), StorageError> {
    let sql = "UPDATE updates SET changes = '[]' WHERE interaction_id = ?1";
    tx.execute(sql, &values![interaction]).await.map(drop)
}

async fn prune(tx: &mut dyn Transaction, keep_since: Timestamp) -> Result<bool, StorageError> {
    let sql = "DELETE FROM submissions WHERE id IN
        (SELECT id FROM submissions WHERE at < ?1 ORDER BY at LIMIT ?2)";
    let values = values![keep_since, Value::limit(PRUNED_AT_ONCE)];
    Ok(tx.execute(sql, &values).await? == PRUNED_AT_ONCE as u64)
}
