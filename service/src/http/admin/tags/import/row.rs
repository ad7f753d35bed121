//! A row of a file as what is to be stored.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::super::csv::Column;
use crate::http::admin::inlays::NewInlayBody;
use crate::inventory::NewInlay;
use crate::service::Service;
use crate::storage::ImportRow;
use crate::tag::{Slug, TagColumn, TagFields};

/// Reads a row. A mistake in it is a sentence for people.
pub(super) async fn read(
    service: &Service,
    columns: &Arc<[Column]>,
    mut cells: Vec<Option<String>>,
) -> Result<ImportRow, String> {
    let inlay = inlay(service, columns, &mut cells).await?;
    let slug = columns
        .iter()
        .zip(&cells)
        .find(|(column, _)| **column == Column::Tag(TagColumn::Slug))
        .and_then(|(_, cell)| cell.as_deref().map(str::trim))
        .filter(|slug| !slug.is_empty())
        .map(Slug::parse)
        .transpose()
        .map_err(|error| error.to_string())?;
    let (columns, entropy) = (Arc::clone(columns), Arc::clone(&service.entropy));
    let edit = move |mut tag: TagFields| -> Result<TagFields, String> {
        for (column, cell) in columns.iter().zip(&cells) {
            if let Column::Tag(column) = column {
                let set = column.set(&mut tag, cell.as_deref());
                set.map_err(|error| error.to_string())?;
            }
        }
        tag.slug = tag.slug.or_generate(&*entropy);
        tag.validate().map_err(|error| error.to_string())?;
        Ok(tag)
    };
    // What is wrong with the row itself is known before the database is asked.
    // A tag that is to be changed may have its name already.
    edit(TagFields::named("-".to_owned()))?;
    Ok(ImportRow {
        slug,
        edit: Box::new(move |tag| Ok(edit(tag)?)),
        inlay,
    })
}

/// The new inlay of a row, where its cells say something: the body of
/// `POST /inlays` with these members.
async fn inlay(
    service: &Service,
    columns: &[Column],
    cells: &mut [Option<String>],
) -> Result<Option<NewInlay>, String> {
    let mut members = Map::new();
    for (column, cell) in columns.iter().zip(cells) {
        if let Column::Inlay(member) = *column
            && let Some(text) = cell.take().filter(|text| !text.trim().is_empty())
        {
            members.insert(member.to_owned(), value(member, text.trim()));
        }
    }
    if members.is_empty() {
        return Ok(None);
    }
    let body: NewInlayBody = serde_json::from_value(Value::Object(members))
        .map_err(|error| format!("The inlay is not what it must be: {error}."))?;
    let inlay = body.seal(service).await;
    inlay.map(Some).map_err(|error| error.detail())
}

/// A cell as the member of a JSON object.
fn value(member: &str, text: &str) -> Value {
    match (member, text.parse::<i64>()) {
        ("mirror", _) if text == "none" => Value::Null,
        ("master_key_id", Ok(id)) => id.into(),
        _ => text.into(),
    }
}
