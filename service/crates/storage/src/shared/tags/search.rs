//! The searchable text of tags: a column of both databases, and SQLite's index of its pieces.
//!
//! The text is written wherever a name, a slug, a title or an attribute changes. Taps and updates
//! change none of them. SQLite's index is updated here, once per operation: FTS5 flushes to its
//! tables at every statement of a trigger, so updating it row by row costs several times as much.

use super::whole;
use crate::StorageError;
use crate::search::{fold, with_codes};
use crate::shared::dialect::Dialect;
use crate::shared::{self, Transaction};
use crate::value::{Value, values};
use domain::id::TagId;
use domain::tag::TagFields;

/// The column with the searchable text.
pub(super) const FOLDED: &str = "folded";

/// Separates the parts of a searchable text. No word contains it, because it is a control character.
pub(super) const BETWEEN: char = '\u{1f}';

/// How many characters of an attribute's value are searchable. People search for numbers and names;
/// a whole value can have 4 KiB, and a tag 256 of them.
pub(super) const VALUE_SEARCHED: usize = 200;

/// The searchable text of a tag, without its former slugs.
pub(super) fn folded(tag: &TagFields) -> String {
    let named: [&str; 3] = [&tag.name, tag.slug.as_str(), &tag.title];
    let values = tag.attributes.0.values().map(|value| searched(value));
    let parts = with_codes(named.into_iter().map(fold).chain(values).collect());
    let mut text = String::from(BETWEEN);
    for part in &parts {
        text += part;
        text.push(BETWEEN);
    }
    text
}

/// The searchable part of an attribute's value.
pub(super) fn searched(value: &str) -> String {
    fold(value).chars().take(VALUE_SEARCHED).collect()
}

/// The SQL of a searchable text: `texts` is the SQL of [`folded`]. Former slugs come last.
pub(super) fn with_former_slugs(texts: &str) -> String {
    format!(
        "CAST({texts} AS TEXT) || coalesce((
             SELECT string_agg(lower(f.slug) || '{BETWEEN}', '' ORDER BY f.replaced_at, f.slug)
             FROM former_slugs f WHERE f.tag_id = tags.id), '')"
    )
}

/// Computes the searchable texts of tags whose attributes or former slugs changed.
pub(super) async fn renew(tx: &mut dyn Transaction, ids: &[TagId]) -> Result<(), StorageError> {
    let tags = whole::stored(tx, ids).await?;
    let mut rest = tags.iter();
    for many in shared::pieces(tags.len()) {
        let (mut values, mut texts) = (Vec::with_capacity(2 * many), String::new());
        for (tag, _) in rest.by_ref().take(many) {
            values.extend(values![tag.id, folded(&tag.fields)]);
            let text = values.len();
            texts = format!("{texts} WHEN ?{} THEN ?{text}", text - 1);
        }
        let text = with_former_slugs(&format!("CASE id{texts} END"));
        let ids: Vec<_> = (0..many).map(|tag| format!("?{}", 2 * tag + 1)).collect();
        let ids = ids.join(", ");
        let sql = format!("UPDATE tags SET {FOLDED} = {text} WHERE id IN ({ids})");
        tx.execute(&sql, &values).await?;
    }
    index(tx, ids).await
}

/// Adds tags to SQLite's index, or replaces them; a condition follows.
pub(crate) const INDEX_TAGS: &str =
    "INSERT OR REPLACE INTO tags_search (rowid, folded) SELECT id, folded FROM tags";

/// Replaces tags in SQLite's index by their current texts.
pub(in crate::shared) async fn index(
    tx: &mut dyn Transaction,
    tags: &[TagId],
) -> Result<(), StorageError> {
    if tx.dialect() == Dialect::Sqlite && !tags.is_empty() {
        let sql = format!("{INDEX_TAGS} WHERE id IN ids(?1)");
        tx.execute(&sql, &values![Value::list(tags)]).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::tag::{Properties, PropertyKey, Slug};

    #[test]
    fn each_part_stands_between_separators_and_of_a_value_the_beginning() {
        let key = |key: &str| PropertyKey::parse(key).unwrap();
        let long = "É".repeat(VALUE_SEARCHED + 1);
        let tag = TagFields {
            slug: Slug::parse("K3v9QA").unwrap(),
            attributes: Properties([(key("sku"), "M".to_owned()), (key("note"), long)].into()),
            data: Properties([(key("colour"), "red".to_owned())].into()),
            ..TagFields::named("Château".to_owned())
        };
        let value = "e".repeat(VALUE_SEARCHED);
        let expected = format!("\u{1f}chateau\u{1f}k3v9qa\u{1f}\u{1f}{value}\u{1f}m\u{1f}");
        assert_eq!(folded(&tag), expected);
    }

    #[test]
    fn a_code_is_also_in_the_text_without_its_separators() {
        let tag = TagFields {
            slug: Slug::parse("sn-0815").unwrap(),
            ..TagFields::named("Cru SN-0815".to_owned())
        };
        let expected = "\u{1f}cru sn-0815\u{1f}sn-0815\u{1f}\u{1f}sn0815\u{1f}";
        assert_eq!(folded(&tag), expected, "once, behind the parts as they are");
    }
}
