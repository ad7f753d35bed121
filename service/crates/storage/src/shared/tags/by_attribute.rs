//! Lists of tags in the order of the values of an attribute.
//!
//! No index has this order: a value can be a tag's own or come from a group, and an index of all
//! properties would cost every import as much as the properties themselves. So each page reads the
//! values of all tags that match, part by part, and keeps only the entries of the page.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::in_groups::given;
use super::search::{VALUE_SEARCHED, searched};
use super::select::Select;
use super::tally::Parts;
use super::whole;
use crate::shared::Query;
use crate::value::Value;
use crate::{AttributeOrder, Invalid, StorageError, TagPlace, TagsByAttribute};
use domain::id::{GroupId, TagId};
use domain::tag::{PropertyKey, Tag};

/// Most tags that are read by one statement. Each costs a look into the properties, together about a
/// tenth of a second, and 50,000 long values are some 10 MB.
const AT_ONCE: usize = 50_000;

/// The value of a tag in the form that is compared; `None` without a value.
type Valued = (Option<String>, TagId);

/// A piece of the list: complete tags, each with its place.
pub(super) async fn tags(
    db: &mut dyn Query,
    list: &TagsByAttribute,
) -> Result<Vec<(Tag, TagPlace)>, StorageError> {
    let entries = page(db, list, AT_ONCE).await?;
    let ids: Vec<_> = entries.iter().map(|(_, id)| *id).collect();
    let tags = whole::whole(db, &ids).await?.into_iter();
    let places = entries
        .into_iter()
        .map(|(value, id)| TagPlace::Attribute(value, id));
    Ok(tags.map(|(tag, _)| tag).zip(places).collect())
}

/// The entries of a page in its order, from tags that are read in parts if they are more than
/// `at_once`.
async fn page(
    db: &mut dyn Query,
    list: &TagsByAttribute,
    at_once: usize,
) -> Result<Vec<Valued>, StorageError> {
    let mut page = Page::of(list)?;
    let values = Values::of(db, &list.order.key).await?;
    let parts = Parts::of(db, &list.filter).await?;
    // One statement finds few tags faster than one for each part.
    let select = parts.select_all(db.reach());
    let found = values.read(db, select, at_once + 1).await?;
    if found.len() <= at_once {
        page.add(found);
        return Ok(page.in_order());
    }
    drop(found);
    for part in parts.all() {
        let select = parts.select(db.reach(), part);
        page.add(values.read(db, select, usize::MAX).await?);
    }
    Ok(page.in_order())
}

/// The first entries of a list after a place, of all that were added.
struct Page<'a> {
    order: &'a AttributeOrder,
    after: Option<Valued>,
    limit: usize,
    entries: Vec<Valued>,
}

impl<'a> Page<'a> {
    fn of(list: &'a TagsByAttribute) -> Result<Self, StorageError> {
        let after = match &list.after {
            None => None,
            Some(TagPlace::Attribute(value, id)) => Some((value.clone(), *id)),
            Some(_) => return Err(Invalid::OtherOrder.into()),
        };
        Ok(Self {
            order: &list.order,
            after,
            limit: list.limit,
            entries: Vec::new(),
        })
    }

    fn add(&mut self, found: Vec<Valued>) {
        let (order, after) = (self.order, self.after.as_ref());
        let is_beyond = |entry: &Valued| {
            after.is_none_or(|after| order.compare(after, entry) == Ordering::Less)
        };
        self.entries.extend(found.into_iter().filter(is_beyond));
        if self.entries.len() > self.limit {
            let compare = |one: &Valued, other: &Valued| order.compare(one, other);
            self.entries.select_nth_unstable_by(self.limit, compare);
            self.entries.truncate(self.limit);
        }
    }

    fn in_order(mut self) -> Vec<Valued> {
        let order = self.order;
        self.entries
            .sort_unstable_by(|one, other| order.compare(one, other));
        self.entries
    }
}

/// The values of one attribute.
struct Values<'a> {
    key: &'a PropertyKey,
    /// The values that groups give to tags without one of their own, in the form that is compared.
    of_groups: HashMap<GroupId, String>,
}

impl<'a> Values<'a> {
    async fn of(db: &mut dyn Query, key: &'a PropertyKey) -> Result<Self, StorageError> {
        let of_groups = given(db, key).await?.into_iter();
        let of_groups = of_groups.map(|given| (given.group, searched(&given.value)));
        Ok(Self {
            key,
            of_groups: of_groups.collect(),
        })
    }

    /// The tags of a selection with their values, at most `limit`, in no order.
    async fn read(
        &self,
        db: &mut dyn Query,
        mut select: Select,
        limit: usize,
    ) -> Result<Vec<Valued>, StorageError> {
        let (key, limit) = (
            select.bind(self.key.to_string()),
            select.bind(Value::limit(limit)),
        );
        let (id, clauses) = (select.source.id(), select.clauses());
        // A long value is compared by its beginning, so that the memory is bounded.
        let sql = format!(
            "SELECT {id}, t.group_id, (SELECT substr(p.value, 1, {VALUE_SEARCHED}) FROM properties p
                 WHERE p.tag_id = t.id AND p.class = 'attribute' AND p.key = {key})
             FROM {clauses} LIMIT {limit}"
        );
        let found = db.query_once(&sql, &select.values).await?.into_iter();
        let entries = found.map(|mut row| {
            let id: TagId = row.take()?;
            let group: Option<GroupId> = row.take()?;
            let own: Option<String> = row.take()?;
            let inherited = || self.of_groups.get(&group?).cloned();
            let value = own.map(|own| searched(&own)).or_else(inherited);
            Ok((value, id))
        });
        entries.collect()
    }
}

impl AttributeOrder {
    /// Compares values, then ids. Tags without a value come last, whether the order descends or not.
    fn compare(&self, one: &Valued, other: &Valued) -> Ordering {
        let ordering = match (&one.0, &other.0) {
            (Some(_), None) => return Ordering::Less,
            (None, Some(_)) => return Ordering::Greater,
            _ => one.cmp(other),
        };
        if self.descends {
            ordering.reverse()
        } else {
            ordering
        }
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::*;
    use crate::TagFilter;
    use crate::shared::dialect::Dialect;
    use crate::value::Row;

    fn lot(descends: bool) -> AttributeOrder {
        AttributeOrder {
            key: PropertyKey::parse("lot").unwrap(),
            descends,
        }
    }

    #[test]
    fn tags_without_a_value_come_last_in_both_directions() {
        let sorted = |descends: bool| {
            let all = [
                (None, 1),
                (Some("b"), 2),
                (Some(""), 3),
                (Some("a"), 4),
                (None, 5),
                (Some("b"), 6),
            ];
            let all = all.map(|(value, id)| (value.map(str::to_owned), TagId::new(id)));
            let mut all = all.to_vec();
            let order = lot(descends);
            all.sort_unstable_by(|one, other| order.compare(one, other));
            all.into_iter().map(|(_, id)| id.get()).collect::<Vec<_>>()
        };
        assert_eq!(sorted(false), [3, 4, 2, 6, 1, 5]);
        assert_eq!(sorted(true), [6, 2, 4, 3, 5, 1]);
    }

    /// A database of 20,000 tags without groups. All but each third have a value.
    struct Many {
        statements: usize,
    }

    impl Many {
        const TAGS: i64 = 20_000;

        fn lot(id: i64) -> Option<String> {
            (id % 3 != 0).then(|| format!("L{:05}", id * 7_919 % Self::TAGS))
        }
    }

    #[async_trait]
    impl Query for Many {
        fn dialect(&self) -> Dialect {
            Dialect::Postgres
        }

        async fn query(&mut self, sql: &str, of: &[Value<'_>]) -> Result<Vec<Row>, StorageError> {
            if sql.contains("max(id)") {
                return Ok(vec![Row::new(vec![Self::TAGS.into()])]);
            }
            if !sql.contains("properties") {
                return Ok(Vec::new());
            }
            self.statements += 1;
            let (first, last) = match of {
                [
                    ..,
                    Value::Integer(first),
                    Value::Integer(last),
                    Value::Text(_),
                    _,
                ] => (*first, *last),
                _ => (1, Self::TAGS),
            };
            let Some(Value::Integer(limit)) = of.last() else {
                panic!("{of:?}")
            };
            let limit = usize::try_from(*limit).unwrap();
            let tags = (first..=last.min(Self::TAGS)).take(limit);
            let row = |id: i64| Row::new(vec![id.into(), Value::Null, Self::lot(id).into()]);
            Ok(tags.map(row).collect())
        }
    }

    #[tokio::test]
    async fn many_tags_are_read_in_parts_and_few_at_once_in_the_same_order() {
        for descends in [false, true] {
            let mut list = TagsByAttribute {
                filter: TagFilter::default(),
                order: lot(descends),
                after: None,
                limit: 7_000,
            };
            let mut all: Vec<_> = (1..=Many::TAGS)
                .map(|id| (Many::lot(id).map(|lot| lot.to_lowercase()), TagId::new(id)))
                .collect();
            all.sort_unstable_by(|one, other| list.order.compare(one, other));
            for expected in all.chunks(list.limit) {
                for (at_once, statements) in [(20_000, 1), (19_999, 4)] {
                    let mut db = Many { statements: 0 };
                    let found = page(&mut db, &list, at_once).await.unwrap();
                    assert!(found == expected, "{at_once}");
                    assert_eq!(db.statements, statements);
                }
                let (value, id) = expected.last().cloned().unwrap();
                list.after = Some(TagPlace::Attribute(value, id));
            }
        }
    }
}
