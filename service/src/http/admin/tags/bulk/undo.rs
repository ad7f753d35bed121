//! What takes a bulk change back, one request for each former state, and what
//! completes it; ids as ranges. A change of a million tags that were alike is
//! taken back by a few bytes; at worst an answer has the ids of all its tags.

use std::collections::HashMap;

use super::{BulkChange, Ids, Selection};
use crate::id::TagId;
use crate::storage::TagChange;

/// Ids and ranges in one request: it stays well below the largest JSON body.
const IN_ONE_REQUEST: usize = 100_000;

/// The requests that take changes back. `changed` is in the order of ids.
pub(super) fn of(changed: Vec<(TagId, TagChange)>) -> Vec<BulkChange> {
    let mut order = Vec::new();
    let mut ids_by_change = HashMap::<TagChange, Vec<Ids>>::new();
    for (id, back) in changed {
        let ids = ids_by_change.entry(back).or_insert_with(|| {
            order.push(back);
            Vec::new()
        });
        add(ids, id);
    }
    let mut requests = Vec::new();
    for back in order {
        let ids = ids_by_change.remove(&back).unwrap_or_default();
        let parts = ids.chunks(IN_ONE_REQUEST);
        requests.extend(parts.map(|ids| BulkChange::of(back, Selection::Ids(ids.to_vec()))));
    }
    requests
}

/// The requests that make `change` to `ids`, each to at most `limit` tags. `ids` rise.
pub(super) fn rest(change: TagChange, ids: &[TagId], limit: usize) -> Vec<BulkChange> {
    let parts = ids.chunks(limit.min(IN_ONE_REQUEST)).map(|part| {
        let mut ids = Vec::new();
        for id in part {
            add(&mut ids, *id);
        }
        BulkChange::of(change, Selection::Ids(ids))
    });
    parts.collect()
}

/// Adds the next id. Only ids without a gap become a range: a tag in a gap was not changed.
fn add(ids: &mut Vec<Ids>, id: TagId) {
    match ids.last_mut() {
        Some(last) if last.bounds().1.0 + 1 == id.0 => *last = Ids::Range([last.bounds().0, id]),
        _ => ids.push(Ids::One(id)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::Status;

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
        let changed = changed.map(|(id, back)| (TagId(id), back)).to_vec();
        let range = |first, last| Ids::Range([TagId(first), TagId(last)]);
        assert_eq!(
            of(changed),
            [
                BulkChange::of(active, Selection::Ids(vec![range(1, 2), range(4, 6)])),
                BulkChange::of(
                    archived,
                    Selection::Ids(vec![Ids::One(TagId(3)), Ids::One(TagId(9))])
                ),
            ]
        );
    }

    #[test]
    fn the_rest_names_only_the_tags_that_were_selected() {
        let ids = [1, 2, 3, 5, 6, 9].map(TagId);
        let range = |first, last| Ids::Range([TagId(first), TagId(last)]);
        let request = |ids| BulkChange::of(TagChange::Delete, Selection::Ids(ids));
        assert_eq!(
            rest(TagChange::Delete, &ids, 4),
            [
                request(vec![range(1, 3), Ids::One(TagId(5))]),
                request(vec![Ids::One(TagId(6)), Ids::One(TagId(9))]),
            ]
        );
        assert_eq!(rest(TagChange::Delete, &[], usize::MAX), []);
    }

    #[test]
    fn no_request_is_larger_than_a_body_may_be() {
        let apart = (0..250_000).map(|n| (TagId(9_000_000_000 + 2 * n), TagChange::Restore));
        let requests = of(apart.collect());
        assert_eq!(requests.len(), 3);
        for request in requests {
            let json = serde_json::to_vec(&request).unwrap();
            assert!(json.len() < 4 * 1024 * 1024, "{}", json.len());
        }
    }
}
