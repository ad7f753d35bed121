//! Builds the requests that revert a bulk change, one for each former state, and the requests that
//! complete it. Ids form ranges, so reverting a million equal tags takes a few bytes. In the worst
//! case, an answer contains the ids of all its tags.

use std::collections::HashMap;

use super::{BulkChange, Ids, Selection};
use domain::id::TagId;
use domain::tag::PropertyKey;
use storage::{ChangedTag, FormVariables, TagChange};

/// Maximum number of ids and ranges in one request, so that it stays well below the limit for JSON
/// bodies.
const IN_ONE_REQUEST: usize = 100_000;

/// The requests that revert changes. `changed` is in the order of ids.
pub(super) fn of(changed: Vec<ChangedTag>) -> Vec<BulkChange> {
    type Back = (TagChange, Vec<PropertyKey>);
    let mut order = Vec::<Back>::new();
    let mut ids_by_change = HashMap::<Back, Vec<Ids>>::new();
    for ChangedTag { id, back, added } in changed {
        let back = (back, added);
        if let Some(ids) = ids_by_change.get_mut(&back) {
            add(ids, id);
        } else {
            order.push(back.clone());
            ids_by_change.insert(back, vec![Ids::One(id)]);
        }
    }
    let mut requests = Vec::new();
    for key in order {
        let ids = ids_by_change.remove(&key).unwrap_or_default();
        let (back, added) = key;
        let variables = if added.is_empty() {
            FormVariables::Leave
        } else {
            FormVariables::Remove(added)
        };
        let parts = ids.chunks(IN_ONE_REQUEST);
        let request = |ids: &[Ids]| BulkChange::of(back, &variables, Selection::Ids(ids.to_vec()));
        requests.extend(parts.map(request));
    }
    requests
}

/// The requests that make `change` to `ids`, each to at most `limit` tags. `ids` are in increasing
/// order.
pub(super) fn rest(
    change: TagChange,
    variables: &FormVariables,
    ids: &[TagId],
    limit: usize,
) -> Vec<BulkChange> {
    let parts = ids.chunks(limit.min(IN_ONE_REQUEST)).map(|part| {
        let mut ids = Vec::new();
        for id in part {
            add(&mut ids, *id);
        }
        BulkChange::of(change, variables, Selection::Ids(ids))
    });
    parts.collect()
}

/// Adds the next id. Only consecutive ids form a range, because a tag in a gap was not changed.
fn add(ids: &mut Vec<Ids>, id: TagId) {
    match ids.last_mut() {
        Some(last) if last.bounds().1.get() + 1 == id.get() => {
            *last = Ids::Range([last.bounds().0, id]);
        }
        _ => ids.push(Ids::One(id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::tag::Status;

    fn tag(id: i64, back: TagChange, added: &[&str]) -> ChangedTag {
        let added = added.iter().map(|key| PropertyKey::parse(key).unwrap());
        ChangedTag {
            id: TagId::new(id),
            back,
            added: added.collect(),
        }
    }

    fn request(back: TagChange, ids: Vec<Ids>) -> BulkChange {
        BulkChange::of(back, &FormVariables::Leave, Selection::Ids(ids))
    }

    #[test]
    fn variables_that_were_added_are_removed_again_and_no_others() {
        let back = TagChange::Assign(None);
        let changed = vec![
            tag(1, back, &["owner"]),
            tag(2, back, &[]),
            tag(3, back, &["owner"]),
        ];
        let remove = FormVariables::Remove(vec![PropertyKey::parse("owner").unwrap()]);
        let ids = vec![Ids::One(TagId::new(1)), Ids::One(TagId::new(3))];
        assert_eq!(
            of(changed),
            [
                BulkChange::of(back, &remove, Selection::Ids(ids)),
                request(back, vec![Ids::One(TagId::new(2))]),
            ]
        );
    }

    #[test]
    fn ids_without_a_gap_become_a_range_for_each_former_state() {
        let (active, archived) = (
            TagChange::Status(Status::Active),
            TagChange::Status(Status::Archived),
        );
        let changed = [
            (1, active),
            (2, active),
            (3, archived),
            (4, active),
            (5, active),
            (6, active),
            (9, archived),
        ];
        let changed = changed.map(|(id, back)| tag(id, back, &[])).to_vec();
        let range = |first, last| Ids::Range([TagId::new(first), TagId::new(last)]);
        assert_eq!(
            of(changed),
            [
                request(active, vec![range(1, 2), range(4, 6)]),
                request(
                    archived,
                    vec![Ids::One(TagId::new(3)), Ids::One(TagId::new(9))]
                ),
            ]
        );
    }

    #[test]
    fn the_rest_names_only_the_tags_that_were_selected() {
        let ids = [1, 2, 3, 5, 6, 9].map(TagId::new);
        let range = |first, last| Ids::Range([TagId::new(first), TagId::new(last)]);
        let leave = FormVariables::Leave;
        let request = |ids| request(TagChange::Delete, ids);
        assert_eq!(
            rest(TagChange::Delete, &leave, &ids, 4),
            [
                request(vec![range(1, 3), Ids::One(TagId::new(5))]),
                request(vec![Ids::One(TagId::new(6)), Ids::One(TagId::new(9))]),
            ]
        );
        assert_eq!(rest(TagChange::Delete, &leave, &[], usize::MAX), []);
    }

    #[test]
    fn no_request_is_larger_than_a_body_may_be() {
        let apart = (0..250_000).map(|n| tag(9_000_000_000 + 2 * n, TagChange::Restore, &[]));
        let requests = of(apart.collect());
        assert_eq!(requests.len(), 3);
        for request in requests {
            let json = serde_json::to_vec(&request).unwrap();
            assert!(json.len() < 4 * 1024 * 1024, "{}", json.len());
        }
    }
}
