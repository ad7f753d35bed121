//! Builds the requests that revert a bulk change, one for each former state, and the requests that
//! complete it. Ids form ranges, so reverting a million equal tags takes a few bytes. In the worst
//! case, an answer contains the ids of all its tags.

use std::collections::HashMap;

use super::step::Step;
use super::{BulkChange, Ids, Selection};
use domain::id::TagId;

/// Maximum number of ids and ranges in one request, so that it stays well below the limit for JSON
/// bodies.
const IN_ONE_REQUEST: usize = 100_000;

/// Bytes of the former states after which a call ends: each tag may have had other values.
const LARGE: usize = 8 * 1024 * 1024;
/// About the bytes of a request without values.
const REQUEST_BYTES: usize = 100;

/// The requests that revert a change, while it is made.
#[derive(Default)]
pub(super) struct Undo {
    /// Each former state and its tags, in the order in which they came.
    states: Vec<(Step, Vec<Ids>)>,
    places: HashMap<Step, usize>,
    bytes: usize,
}

impl Undo {
    /// Adds a changed tag. Tags come in the order of ids.
    pub(super) fn add(&mut self, id: TagId, back: Step) {
        let (states, bytes) = (&mut self.states, &mut self.bytes);
        let place = *self.places.entry(back).or_insert_with_key(|back| {
            *bytes += REQUEST_BYTES + back.bytes();
            states.push((back.clone(), Vec::new()));
            states.len() - 1
        });
        if let Some((_, ids)) = self.states.get_mut(place) {
            add(ids, id);
        }
    }

    /// Whether it has so many former states that the call should end.
    pub(super) const fn is_large(&self) -> bool {
        self.bytes >= LARGE
    }

    /// The requests that restore the former state, one for each former state.
    pub(super) fn requests(&self) -> Vec<BulkChange> {
        let requests = self.states.iter().flat_map(|(back, ids)| {
            let parts = ids.chunks(IN_ONE_REQUEST);
            parts.map(|ids| back.request(Selection::Ids(ids.to_vec())))
        });
        requests.collect()
    }
}

/// The requests that make `step` to `ids`, each to at most `limit` tags. `ids` are in increasing
/// order.
pub(super) fn rest(step: &Step, ids: &[TagId], limit: usize) -> Vec<BulkChange> {
    let parts = ids.chunks(limit.min(IN_ONE_REQUEST)).map(|part| {
        let mut ids = Vec::new();
        for id in part {
            add(&mut ids, *id);
        }
        step.request(Selection::Ids(ids))
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
    use domain::tag::{PropertyKey, Status};
    use storage::{FormVariables, TagChange, TagSet};

    fn plain(to: TagChange) -> Step {
        of_variables(to, FormVariables::Leave)
    }

    fn of_variables(to: TagChange, variables: FormVariables) -> Step {
        Step::Change {
            to,
            variables,
            from: None,
        }
    }

    fn of(changed: impl IntoIterator<Item = (i64, Step)>) -> Vec<BulkChange> {
        let mut undo = Undo::default();
        for (id, back) in changed {
            undo.add(TagId::new(id), back);
        }
        undo.requests()
    }

    fn request(back: TagChange, ids: Vec<Ids>) -> BulkChange {
        plain(back).request(Selection::Ids(ids))
    }

    #[test]
    fn variables_that_were_added_are_removed_again_and_no_others() {
        let back = TagChange::Assign(None);
        let remove = FormVariables::Remove(vec![PropertyKey::parse("owner").unwrap()]);
        let remove = of_variables(back, remove);
        let changed = vec![(1, remove.clone()), (2, plain(back)), (3, remove.clone())];
        let ids = vec![Ids::One(TagId::new(1)), Ids::One(TagId::new(3))];
        assert_eq!(
            of(changed),
            [
                remove.request(Selection::Ids(ids)),
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
        let changed = changed.map(|(id, back)| (id, plain(back)));
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
        let delete = plain(TagChange::Delete);
        let request = |ids| request(TagChange::Delete, ids);
        assert_eq!(
            rest(&delete, &ids, 4),
            [
                request(vec![range(1, 3), Ids::One(TagId::new(5))]),
                request(vec![Ids::One(TagId::new(6)), Ids::One(TagId::new(9))]),
            ]
        );
        assert_eq!(rest(&delete, &[], usize::MAX), []);
    }

    #[test]
    fn former_values_are_large_however_few_tags_have_them() {
        let set = |value: String| {
            let key = PropertyKey::parse("note").unwrap();
            Step::Set {
                to: TagSet {
                    data: [(key, Some(value))].into(),
                    ..TagSet::default()
                },
                from: TagSet::default(),
            }
        };
        let mut undo = Undo::default();
        for id in 1..=100_000 {
            undo.add(TagId::new(id), set("the same".to_owned()));
        }
        assert!(!undo.is_large());
        let value = "x".repeat(4_000);
        let large = (1..100_000).find(|id| {
            undo.add(TagId::new(200_000 + id), set(format!("{value}{id}")));
            undo.is_large()
        });
        assert!((2_000..2_100).contains(&large.unwrap()), "{large:?}");
        let requests = i64::try_from(undo.requests().len()).unwrap();
        assert_eq!(requests, 1 + large.unwrap());
    }

    #[test]
    fn no_request_is_larger_than_a_body_may_be() {
        let apart = (0..250_000).map(|n| (9_000_000_000 + 2 * n, plain(TagChange::Restore)));
        let requests = of(apart);
        assert_eq!(requests.len(), 3);
        for request in requests {
            let json = serde_json::to_vec(&request).unwrap();
            assert!(json.len() < 4 * 1024 * 1024, "{}", json.len());
        }
    }
}
