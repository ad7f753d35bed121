//! Converts rows of groups into domain types.

use crate::StorageError;
use crate::search::{fold, with_codes};
use crate::shared::{Query, callers};
use crate::value::{Row, Value, unreadable};
use domain::group::{Code, Group, GroupFields, GroupKind, GroupStatus, Gtin};

/// Columns of a group, in an alias `g`.
pub(super) const COLUMNS: &str = "g.id, g.parent_id, g.kind, g.name, g.code, g.gtin, g.status, \
    g.experience_id, g.recall_experience_id, g.title, g.description, g.language_code, g.attributes, \
    g.data, g.variables, g.tag_count, g.created_at, g.updated_at";

/// Reads a group from its [`COLUMNS`]. Its count is that of its own tags, and its image is not read.
pub(super) fn read(mut row: Row) -> Result<Group, StorageError> {
    Ok(Group {
        id: row.take()?,
        fields: GroupFields {
            parent_id: row.take()?,
            kind: row.text("group", GroupKind::parse)?,
            name: row.take()?,
            code: row.optional_text("group", |code| Code::parse(code).ok())?,
            gtin: row.optional_text("group", |gtin| Gtin::parse(gtin).ok())?,
            status: row.text("group", GroupStatus::parse)?,
            experience_id: row.take()?,
            recall_experience_id: row.take()?,
            title: row.take()?,
            description: row.take()?,
            language_code: row.take()?,
            attributes: row.json("group")?,
            data: row.json("group")?,
            variables: row.json("group")?,
        },
        image: None,
        tag_count: row.take()?,
        created_at: row.take()?,
        updated_at: row.take()?,
    })
}

/// The values in a group's row that its owner sets, by column.
pub(super) fn columns(group: &GroupFields) -> Result<Vec<(&'static str, Value<'_>)>, StorageError> {
    let json = |properties| serde_json::to_string(properties).map_err(|_| unreadable("group"));
    let code = group.code.as_ref().map(Code::as_str);
    let gtin = group.gtin.as_ref().map(Gtin::as_str);
    let texts = [Some(group.name.as_str()), code, gtin];
    let texts: Vec<_> = texts.into_iter().flatten().map(fold).collect();
    let folded = with_codes(texts);
    Ok(vec![
        ("parent_id", group.parent_id.into()),
        ("kind", group.kind.as_str().into()),
        ("name", (&group.name).into()),
        ("folded", folded.join("\u{1f}").into()),
        ("code", code.into()),
        ("gtin", gtin.into()),
        ("status", group.status.as_str().into()),
        ("experience_id", group.experience_id.into()),
        ("recall_experience_id", group.recall_experience_id.into()),
        ("title", (&group.title).into()),
        ("description", (&group.description).into()),
        ("language_code", group.language_code.as_deref().into()),
        ("attributes", json(&group.attributes)?.into()),
        ("data", json(&group.data)?.into()),
        ("variables", json(&group.variables)?.into()),
    ])
}

/// The groups within reach that fit a condition.
pub(super) async fn select(
    db: &mut dyn Query,
    condition: &str,
    values: &[Value<'_>],
    then: &str,
) -> Result<Vec<Group>, StorageError> {
    let reached = callers::groups(db.reach(), "g.id");
    let sql = format!("SELECT {COLUMNS} FROM tag_groups g WHERE {condition}{reached} {then}");
    let found = db.query(&sql, values).await?;
    found.into_iter().map(read).collect()
}
