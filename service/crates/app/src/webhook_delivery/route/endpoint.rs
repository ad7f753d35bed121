//! An endpoint while deliveries are created, and the pages of events that it reads.

use std::collections::HashMap;

use domain::id::TagId;
use domain::webhook::{Happening, TagNow};
use storage::{CommitPosition, Cursor, EventProperties, NewDelivery, RouteFields, RouteState};

/// Events from taps or from the outbox after a position, in the order of their commits.
pub(super) struct Page {
    /// The events with their positions.
    pub(super) events: Vec<(CommitPosition, Happening)>,
    from: CommitPosition,
    /// Position of the end of the page.
    pub(super) to: CommitPosition,
    /// Whether more events may follow.
    pub(super) full: bool,
}

impl Page {
    /// An empty page after `from`.
    pub(super) fn new(from: CommitPosition, full: bool) -> Self {
        Self {
            events: Vec::new(),
            from,
            to: from,
            full,
        }
    }

    /// Whether the events after `place` begin in this page. `place` must not be before the page. A
    /// page that is not full contains all events that exist, so it also serves endpoints beyond its
    /// last event.
    pub(super) fn has(&self, place: CommitPosition) -> bool {
        !self.full || place < self.to
    }

    /// Whether nothing happened after the start of the page.
    pub(super) fn is_empty(&self) -> bool {
        self.from == self.to
    }

    fn after(&self, place: CommitPosition) -> impl Iterator<Item = &(CommitPosition, Happening)> {
        let begin = self.events.partition_point(|(at, _)| *at <= place);
        self.events[begin..].iter()
    }
}

/// An endpoint that is switched on.
pub(super) struct Endpoint {
    pub(super) known: RouteFields,
    pub(super) state: RouteState,
    /// The current position. The stored position may be older if no event in between was for this
    /// endpoint.
    pub(super) at: Cursor,
}

impl Endpoint {
    /// The deliveries of these pages for this endpoint, about `room` of each page, and its new
    /// position.
    pub(super) fn deliveries(
        &self,
        taps: &Page,
        outbox: &Page,
        properties: &HashMap<TagId, EventProperties>,
        room: usize,
    ) -> (Vec<NewDelivery>, Cursor) {
        let (tapped, taps) = self.taken(taps, self.at.taps, properties, room);
        let (from_outbox, outbox) = self.taken(outbox, self.at.outbox, properties, room);
        let tapped = tapped.into_iter().map(|(place, one)| {
            let again = place.seq <= self.state.again_seq;
            (again, one)
        });
        let from_outbox = from_outbox.into_iter().map(|(place, one)| {
            let again = place.seq <= self.state.again_outbox_seq;
            (again, one)
        });
        let made = tapped.chain(from_outbox).map(|(again, one)| {
            let of_tag = self.of_tag(one, properties);
            let tag = TagNow {
                attributes: of_tag.map(|properties| &properties.attributes),
                variables: of_tag.map(|properties| &properties.variables),
                is_outside: self.known.reach.limit().is_some()
                    && one.tag_id.is_some()
                    && of_tag.is_none(),
            };
            NewDelivery {
                webhook_id: self.state.id,
                event_id: one.key.clone(),
                again: again.then(|| format!("{}_r{}", one.key, self.state.resends)),
                kind: one.kind,
                at: one.at,
                tag_id: one.tag_id,
                body: one.body(&self.known.fields, tag),
            }
        });
        (made.collect(), Cursor { taps, outbox })
    }

    /// The events of a page after `from` for this endpoint, and its new position: the end of the
    /// page, or the position after `room` events. Events of one position stay together. The
    /// position never goes back, because another endpoint may have started the page.
    fn taken<'p>(
        &self,
        page: &'p Page,
        from: CommitPosition,
        properties: &HashMap<TagId, EventProperties>,
        room: usize,
    ) -> (Vec<&'p (CommitPosition, Happening)>, CommitPosition) {
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

    /// The properties of an event's tag; `None` if the tag has moved out of the endpoint's reach.
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
        // An alert concerns the whole service.
        let about = one.experience_id.filter(|_| !one.kind.is_alert());
        let of_tag = self.of_tag(one, properties);
        self.known.fields.wants(one.kind, one.simulated)
            && self.known.reach.has(about)
            && (one.kind.is_alert()
                || (filter
                    .experience_id
                    .is_none_or(|id| one.experience_id == Some(id))
                    && filter.has_group(of_tag.map(|of_tag| &*of_tag.groups))
                    && filter.has_attributes(of_tag.map(|of_tag| &of_tag.attributes))))
    }
}
