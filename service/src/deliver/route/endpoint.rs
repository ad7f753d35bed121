//! An endpoint as what makes deliveries sees it, and the pages of events that it goes through.

use std::collections::HashMap;

use crate::id::TagId;
use crate::storage::{Cursor, EventProperties, NewDelivery, Place, RouteFields, RouteState};
use crate::webhook::Happening;

/// Events of one kind behind a place, in the order of their commits.
pub(super) struct Page {
    /// Each event with its place.
    pub(super) events: Vec<(Place, Happening)>,
    from: Place,
    /// Where the page ends.
    pub(super) to: Place,
    /// Whether there may be more behind it.
    pub(super) full: bool,
}

impl Page {
    /// An empty page behind `from`.
    pub(super) fn new(from: Place, full: bool) -> Self {
        Self {
            events: Vec::new(),
            from,
            to: from,
            full,
        }
    }

    /// Whether everything behind `place`, which is not before the page, begins in it. A page that is
    /// not full has all that there is, also for those who are further than its last event.
    pub(super) fn has(&self, place: Place) -> bool {
        !self.full || place < self.to
    }

    /// Whether nothing happened.
    pub(super) fn is_empty(&self) -> bool {
        self.from == self.to
    }

    fn after(&self, place: Place) -> impl Iterator<Item = &(Place, Happening)> {
        let begin = self.events.partition_point(|(at, _)| *at <= place);
        self.events[begin..].iter()
    }
}

/// An endpoint that is on.
pub(super) struct Endpoint {
    pub(super) known: RouteFields,
    pub(super) state: RouteState,
    /// How far it is. Its stored position may be behind, if nothing in between was for it.
    pub(super) at: Cursor,
}

impl Endpoint {
    /// What it is to get of these pages, about `room` of each, and how far it is then.
    pub(super) fn deliveries(
        &self,
        taps: &Page,
        outbox: &Page,
        properties: &HashMap<TagId, EventProperties>,
        room: usize,
    ) -> (Vec<NewDelivery>, Cursor) {
        let (tapped, taps) = self.taken(taps, self.at.taps, properties, room);
        let (told, outbox) = self.taken(outbox, self.at.outbox, properties, room);
        let tapped = tapped.into_iter().map(|(place, one)| {
            let again = place.seq <= self.state.again_seq;
            (again, one)
        });
        let told = told.into_iter().map(|(place, one)| {
            let again = place.seq <= self.state.again_outbox_seq;
            (again, one)
        });
        let made = tapped.chain(told).map(|(again, one)| {
            let of_tag = self.of_tag(one, properties);
            let variables = of_tag.map(|properties| &properties.variables);
            NewDelivery {
                webhook_id: self.state.id,
                event_id: one.key.clone(),
                again: again.then(|| format!("{}_r{}", one.key, self.state.resends)),
                kind: one.kind,
                at: one.at,
                tag_id: one.tag_id,
                body: one.body(&self.known.fields, variables),
            }
        });
        (made.collect(), Cursor { taps, outbox })
    }

    /// Events of a page behind `from` that it is to get, and how far it is with them: behind the
    /// page, or where there are `room` of them. Those of one place stay together. It never goes
    /// back: another endpoint may have begun the page.
    fn taken<'p>(
        &self,
        page: &'p Page,
        from: Place,
        properties: &HashMap<TagId, EventProperties>,
        room: usize,
    ) -> (Vec<&'p (Place, Happening)>, Place) {
        let (mut taken, mut to) = (Vec::new(), from);
        for event in page.after(from) {
            if taken.len() >= room && event.0 != to {
                return (taken, to);
            }
            to = event.0;
            if self.wants(&event.1, properties) {
                taken.push(event);
            }
        }
        (taken, from.max(page.to))
    }

    /// The properties of the tag that an event is about. One that leads out of reach by now has none.
    fn of_tag<'p>(
        &self,
        one: &Happening,
        properties: &'p HashMap<TagId, EventProperties>,
    ) -> Option<&'p EventProperties> {
        let of_tag = one.tag_id.and_then(|tag| properties.get(&tag));
        of_tag.filter(|of_tag| self.known.reach.has(of_tag.experience_id))
    }

    fn wants(&self, one: &Happening, properties: &HashMap<TagId, EventProperties>) -> bool {
        let filter = &self.known.fields.filter;
        // An alert is about the whole service.
        let about = one.experience_id.filter(|_| !one.kind.is_alert());
        self.known.fields.wants(one.kind, one.simulated)
            && self.known.reach.has(about)
            && (one.kind.is_alert()
                || (filter
                    .experience_id
                    .is_none_or(|id| one.experience_id == Some(id))
                    && filter.has_attributes(
                        self.of_tag(one, properties)
                            .map(|properties| &properties.attributes),
                    )))
    }
}
