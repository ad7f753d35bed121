//! Lists of tags in the order of the values of an attribute.
//!
//! No index has this order: a value can be a tag's own or come from a group, and an index of all
//! properties would cost every import as much as the properties themselves. So a list reads the
//! values of all tags that match, and is refused if there are too many.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::in_groups::given;
use super::search::{VALUE_SEARCHED, searched};
use super::select::Select;
use super::source::Source;
use super::wanted::Wanted;
use super::whole;
use crate::shared::Query;
use crate::value::Value;
use crate::{AttributeOrder, Invalid, StorageError, TagPlace, TagsByAttribute};
use domain::id::{GroupId, TagId};
use domain::tag::Tag;

/// Most tags that are sorted: each costs a look into the properties, together about a tenth of a
/// second. It is also how many candidates a list in the order of taps looks at.
const SORTED_MAX: usize = 50_000;

/// The value of a tag in the form that is compared; `None` without a value.
type Valued = (Option<String>, TagId);

/// A piece of the list: complete tags, each with its place.
pub(super) async fn tags(
    db: &mut dyn Query,
    list: &TagsByAttribute,
) -> Result<Vec<(Tag, TagPlace)>, StorageError> {
    let mut entries = entries(db, list, SORTED_MAX).await?;
    if let Some(after) = &list.after {
        let TagPlace::Attribute(value, id) = after else {
            return Err(Invalid::OtherOrder.into());
        };
        let after = (value.clone(), *id);
        entries.retain(|entry| list.order.compare(&after, entry) == Ordering::Less);
    }
    entries.sort_unstable_by(|one, other| list.order.compare(one, other));
    entries.truncate(list.limit);
    let ids: Vec<_> = entries.iter().map(|(_, id)| *id).collect();
    let tags = whole::whole(db, &ids).await?.into_iter();
    let places = entries
        .into_iter()
        .map(|(value, id)| TagPlace::Attribute(value, id));
    Ok(tags.map(|(tag, _)| tag).zip(places).collect())
}

/// All tags that match, in no order; an error if there are more than `most`.
async fn entries(
    db: &mut dyn Query,
    list: &TagsByAttribute,
    most: usize,
) -> Result<Vec<Valued>, StorageError> {
    let key = &list.order.key;
    let of_groups = given(db, key).await?.into_iter();
    let of_groups: HashMap<GroupId, String> = of_groups
        .map(|given| (given.group, searched(&given.value)))
        .collect();
    let wanted = Wanted::of(db, &list.filter).await?;
    let source = Source::of(db, &list.filter, &wanted).await?;
    let mut select = Select::new(&list.filter, &wanted, db.reach(), source);
    let (key, limit) = (
        select.bind(key.to_string()),
        select.bind(Value::limit(most + 1)),
    );
    let (id, clauses) = (select.source.id(), select.clauses());
    // A long value is compared by its beginning, so that the memory is bounded.
    let sql = format!(
        "SELECT {id}, t.group_id, (SELECT substr(p.value, 1, {VALUE_SEARCHED}) FROM properties p
             WHERE p.tag_id = t.id AND p.class = 'attribute' AND p.key = {key})
         FROM {clauses} LIMIT {limit}"
    );
    let found = db.query_once(&sql, &select.values).await?;
    if found.len() > most {
        return Err(Invalid::TooManyToSort(most).into());
    }
    let entries = found.into_iter().map(|mut row| {
        let id: TagId = row.take()?;
        let group: Option<GroupId> = row.take()?;
        let own: Option<String> = row.take()?;
        let inherited = || of_groups.get(&group?).cloned();
        let value = own.map(|own| searched(&own)).or_else(inherited);
        Ok((value, id))
    });
    entries.collect()
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
    use crate::shared::dialect::Dialect;
    use crate::value::Row;
    use crate::{Conflict, TagFilter};
    use domain::field_error::FieldError;
    use domain::tag::PropertyKey;

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

    /// A database of three tags without groups.
    struct Three;

    #[async_trait]
    impl Query for Three {
        fn dialect(&self) -> Dialect {
            Dialect::Postgres
        }

        async fn query(&mut self, sql: &str, _: &[Value<'_>]) -> Result<Vec<Row>, StorageError> {
            let tags = if sql.contains("properties") {
                1..4
            } else {
                0..0
            };
            let row = |id: i64| Row::new(vec![id.into(), Value::Null, "L03".into()]);
            Ok(tags.map(row).collect())
        }
    }

    #[tokio::test]
    async fn more_tags_than_can_be_sorted_are_refused_in_words() {
        let list = TagsByAttribute {
            filter: TagFilter::default(),
            order: lot(false),
            after: None,
            limit: 50,
        };
        let found = entries(&mut Three, &list, 3).await.unwrap();
        let expected = [1, 2, 3].map(|id| (Some("l03".to_owned()), TagId::new(id)));
        assert_eq!(found, expected);
        let refused = entries(&mut Three, &list, 2).await.unwrap_err();
        let StorageError::Conflict(Conflict::Invalid(why)) = refused else {
            panic!("{refused:?}")
        };
        let why = FieldError::from(why);
        assert_eq!(why.field.as_deref(), Some("sort"));
        assert_eq!(
            why.message,
            "More than 2 tags match, too many to sort them by an attribute. Narrow the list, for example to a group."
        );
    }
}
