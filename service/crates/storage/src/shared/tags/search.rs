//! The searchable text of tags: a column of both databases, and SQLite's index of its pieces.
//!
//! The text is written wherever a name, a slug, a title or an attribute changes. Taps and updates
//! change none of them. SQLite's index is updated here, once per operation: FTS5 flushes to its
//! tables at every statement of a trigger, so updating it row by row costs several times as much.

use super::whole;
use crate::StorageError;
use crate::search::{fold, with_codes, with_runs};
use crate::shared::dialect::Dialect;
use crate::shared::{self, Query, Transaction};
use crate::value::{Value, values};
use domain::id::TagId;
use domain::tag::{Slug, TagFields};

/// The column with the searchable text.
pub(super) const FOLDED: &str = "folded";

/// Separates the parts of a searchable text. No word contains it, because it is a control character.
pub(super) const BETWEEN: char = '\u{1f}';

/// How many characters of an attribute's value are searchable. People search for numbers and names;
/// a whole value can have 4 KiB, and a tag 256 of them.
pub(super) const VALUE_SEARCHED: usize = 200;

/// The searchable text of a tag with these former slugs.
pub(super) fn folded(tag: &TagFields, former: &[Slug]) -> String {
    let named: [&str; 3] = [&tag.name, tag.slug.as_str(), &tag.title];
    let values = tag.attributes.0.values().map(|value| searched(value));
    let mut parts = with_codes(named.into_iter().map(fold).chain(values).collect());
    parts.extend(former.iter().map(|slug| slug.as_str().to_ascii_lowercase()));
    let mut text = String::from(BETWEEN);
    for part in &parts {
        text += part;
        text.push(BETWEEN);
    }
    with_runs(text, BETWEEN)
}

/// The searchable part of an attribute's value.
pub(super) fn searched(value: &str) -> String {
    fold(value).chars().take(VALUE_SEARCHED).collect()
}

/// The former slugs of a tag, the latest first, as [`Tag::former_slugs`] has them.
///
/// [`Tag::former_slugs`]: domain::tag::Tag::former_slugs
pub(super) async fn former_slugs(
    db: &mut dyn Query,
    tag: TagId,
) -> Result<Vec<Slug>, StorageError> {
    let sql =
        "SELECT slug FROM former_slugs WHERE tag_id = ?1 ORDER BY replaced_at DESC, slug DESC";
    let found = db.query(sql, &values![tag]).await?.into_iter();
    found
        .map(|mut row| row.text("slug", |slug| Slug::parse(slug).ok()))
        .collect()
}

/// Computes the searchable texts of tags whose attributes or former slugs changed.
pub(super) async fn renew(tx: &mut dyn Transaction, ids: &[TagId]) -> Result<(), StorageError> {
    let tags = whole::stored(tx, ids).await?;
    let mut rest = tags.iter();
    for many in shared::pieces(tags.len()) {
        let (mut values, mut texts) = (Vec::with_capacity(2 * many), String::new());
        for (tag, _) in rest.by_ref().take(many) {
            values.extend(values![tag.id, folded(&tag.fields, &tag.former_slugs)]);
            let text = values.len();
            texts = format!("{texts} WHEN ?{} THEN ?{text}", text - 1);
        }
        let ids: Vec<_> = (0..many).map(|tag| format!("?{}", 2 * tag + 1)).collect();
        let ids = ids.join(", ");
        let text = format!("CAST(CASE id{texts} END AS TEXT)");
        let sql = format!("UPDATE tags SET {FOLDED} = {text} WHERE id IN ({ids})");
        tx.execute(&sql, &values).await?;
    }
    index(tx, ids).await
}

/// Adds new tags to SQLite's index; a condition follows.
pub(crate) const INDEX_TAGS: &str =
    "INSERT INTO tags_search (rowid, folded) SELECT id, folded FROM tags";
/// Replaces tags in SQLite's index; a condition follows. It looks each of them up first.
const INDEX_AGAIN: &str =
    "INSERT OR REPLACE INTO tags_search (rowid, folded) SELECT id, folded FROM tags";

/// Adds new tags to SQLite's index.
pub(in crate::shared) async fn index_new(
    tx: &mut dyn Transaction,
    tags: &[TagId],
) -> Result<(), StorageError> {
    run(tx, INDEX_TAGS, tags).await
}

/// Replaces tags in SQLite's index by their current texts.
pub(in crate::shared) async fn index(
    tx: &mut dyn Transaction,
    tags: &[TagId],
) -> Result<(), StorageError> {
    run(tx, INDEX_AGAIN, tags).await
}

async fn run(
    tx: &mut dyn Transaction,
    statement: &str,
    tags: &[TagId],
) -> Result<(), StorageError> {
    if tx.dialect() == Dialect::Sqlite && !tags.is_empty() {
        let sql = format!("{statement} WHERE id IN ids(?1)");
        tx.execute(&sql, &values![Value::list(tags)]).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::tag::{Properties, PropertyKey};

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
        let own = format!("\u{1f}chateau\u{1f}k3v9qa\u{1f}\u{1f}{value}\u{1f}m\u{1f}");
        let runs = "\u{1e}e\u{4}\u{1e}e\u{5}\u{1e}e\u{6}\u{1e}e\u{7}\u{1e}e\u{8}\u{1e}";
        assert_eq!(folded(&tag, &[]), format!("{own}{runs}\u{1f}"));
        let former = ["Old-2", "old-1"].map(|slug| Slug::parse(slug).unwrap());
        let expected = format!("{own}old-2\u{1f}old-1\u{1f}{runs}\u{1f}");
        assert_eq!(folded(&tag, &former), expected);
    }

    #[test]
    fn a_code_is_also_in_the_text_without_its_separators() {
        let tag = TagFields {
            slug: Slug::parse("sn-0815").unwrap(),
            ..TagFields::named("Cru SN-0815".to_owned())
        };
        let expected = "\u{1f}cru sn-0815\u{1f}sn-0815\u{1f}\u{1f}sn0815\u{1f}";
        assert_eq!(
            folded(&tag, &[]),
            expected,
            "once, behind the parts as they are"
        );
    }
}
