//! The tag that a text names which is no tag's present slug, and slugs that are the same but for
//! case.

use crate::shared::{Query, Transaction};
use crate::value::{Row, Value, values};
use crate::{CachedPart, NamedTag, StorageError};
use domain::id::TagId;
use domain::tag::Slug;

/// The slugs, present and former, that are `?1` but for case; `?2` is `?1` in lower case. A slug in
/// lower case is found by its unique index. The others have an index of their own, which is small
/// because generated slugs are not in it.
///
/// The limit is more than the slugs that one tag can have, with the first one found twice: rows of
/// several tags are seen as such.
const NAMED: &str = "
    SELECT slug, tag_id FROM former_slugs WHERE slug = ?1
    UNION ALL SELECT slug, id FROM tags WHERE slug = ?2
    UNION ALL SELECT slug, id FROM tags WHERE lower(slug) = ?2 AND slug <> lower(slug)
    UNION ALL SELECT slug, tag_id FROM former_slugs WHERE slug = ?2
    UNION ALL SELECT slug, tag_id FROM former_slugs WHERE lower(slug) = ?2 AND slug <> lower(slug)
    LIMIT 103";

/// Whether no other slug, present or former, is the same as that of a tag in the alias `t` but for
/// case. A slug in lower case has no twin in lower case, because slugs are unique.
pub(crate) const IS_ONLY_SPELLING: &str = "
    NOT EXISTS (SELECT 1 FROM tags o
        WHERE lower(o.slug) = lower(t.slug) AND o.slug <> lower(o.slug) AND o.id <> t.id)
    AND NOT EXISTS (SELECT 1 FROM former_slugs f
        WHERE lower(f.slug) = lower(t.slug) AND f.slug <> lower(f.slug))
    AND (t.slug = lower(t.slug)
        OR NOT EXISTS (SELECT 1 FROM tags o WHERE o.slug = lower(t.slug))
            AND NOT EXISTS (SELECT 1 FROM former_slugs f WHERE f.slug = lower(t.slug)))";

/// The tags that have or had a slug with capitals which is one of `?1`, in lower case, but for case.
const ALIKE: &str = "
    SELECT id FROM tags WHERE lower(slug) IN texts(?1) AND slug <> lower(slug)
    UNION SELECT tag_id FROM former_slugs WHERE lower(slug) IN texts(?1) AND slug <> lower(slug)";
/// The tags that have or had a slug of `?1`.
const OF_SLUGS: &str = "
    SELECT id FROM tags WHERE slug IN texts(?1)
    UNION SELECT tag_id FROM former_slugs WHERE slug IN texts(?1)";

/// The tag that `slug` names: the one that had it before, or else the only one that has or had it in
/// another case.
pub(crate) async fn named(
    db: &mut dyn Query,
    slug: &str,
) -> Result<Option<NamedTag>, StorageError> {
    let values = values![slug, slug.to_ascii_lowercase()];
    let found = db.query(NAMED, &values).await?.into_iter().map(read);
    Ok(decide(slug, found.collect::<Result<_, _>>()?))
}

/// Marks the tags as changed whose slugs stop being the only ones of their spelling, because tags
/// are about to get these `slugs`: caches find them in any case.
pub(super) async fn void_alike(
    tx: &mut dyn Transaction,
    slugs: &[&str],
) -> Result<(), StorageError> {
    let (mut all, mut of_capitals) = (Vec::new(), Vec::new());
    for slug in slugs {
        let lower = slug.to_ascii_lowercase();
        if lower != *slug {
            of_capitals.push(lower.clone());
        }
        all.push(lower);
    }
    let mut found = tx.query(ALIKE, &values![Value::list(all)]).await?;
    // Generated slugs have no capitals.
    if !of_capitals.is_empty() {
        let values = values![Value::list(of_capitals)];
        found.extend(tx.query(OF_SLUGS, &values).await?);
    }
    for mut row in found {
        tx.changes(Some(CachedPart::Tag(row.take()?)));
    }
    Ok(())
}

fn read(mut row: Row) -> Result<(Slug, TagId), StorageError> {
    let slug = row.text("slug", |slug| Slug::parse(slug).ok())?;
    Ok((slug, row.take()?))
}

fn decide(slug: &str, found: Vec<(Slug, TagId)>) -> Option<NamedTag> {
    let is_exact = |(one, _): &&(Slug, TagId)| one.as_str() == slug;
    let exact = found.iter().find(is_exact).map(|(_, tag)| *tag);
    let (_, first) = found.first()?;
    let is_only = found.iter().all(|(_, tag)| tag == first);
    let tag = exact.or(is_only.then_some(*first))?;
    let mut slugs: Vec<Slug> = Vec::new();
    for (one, of) in found {
        if of == tag && !slugs.contains(&one) {
            let at = if one.as_str() == slug { 0 } else { slugs.len() };
            slugs.insert(at, one);
        }
    }
    Some(NamedTag { tag, slugs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_slug_goes_before_one_in_another_case_and_several_name_nobody() {
        let named = |text: &str, found: &[(&str, i64)]| {
            let found = found.iter();
            let found = found.map(|(slug, tag)| (Slug::parse(slug).unwrap(), TagId::new(*tag)));
            let named = decide(text, found.collect())?;
            let slugs: Vec<_> = named.slugs.iter().map(Slug::to_string).collect();
            Some((named.tag.get(), slugs.join(" ")))
        };
        let of = |tag, slugs: &str| Some((tag, slugs.to_owned()));
        assert_eq!(named("ab", &[]), None);
        assert_eq!(named("ab", &[("AB", 1)]), of(1, "AB"));
        assert_eq!(named("ab", &[("AB", 1), ("Ab", 1)]), of(1, "AB Ab"));
        assert_eq!(named("ab", &[("AB", 1), ("Ab", 2)]), None);
        assert_eq!(named("Ab", &[("Ab", 2), ("AB", 1), ("Ab", 2)]), of(2, "Ab"));
        assert_eq!(named("Ab", &[("AB", 1), ("Ab", 1)]), of(1, "Ab AB"));
    }
}
