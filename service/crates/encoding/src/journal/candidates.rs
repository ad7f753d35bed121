//! The keys that a slot of a chip may have, in the order in which they are tried.

use super::{Candidate, Journal, Roots, SlotState};

impl Journal {
    /// The keys that slot 0 may have, the most probable first. `shown` is the version that the chip
    /// states without proof.
    pub fn candidates_of_key_0(&self, shown: Option<u8>, roots: &Roots) -> Vec<Candidate> {
        let mut all = Vec::new();
        // Others wrote these with versions of their own, which say nothing.
        let imported = self.imported(0).map(|_| Candidate::Imported);
        let imported = imported.filter(|_| self.confirmed.is_none());
        let foreign = self.of_bureau(0).or(imported);
        match shown {
            Some(0) if self.confirmed.is_none() && foreign.is_none() => {
                all.push(Candidate::Factory);
            }
            Some(version)
                if version != 0 && (foreign.is_none() || self.state(version, 0).is_some()) =>
            {
                all.extend(self.named(0, version, roots));
            }
            _ => {}
        }
        all.extend(foreign);
        all.extend(self.confirmed.map(Candidate::Recorded));
        let newest_first = self.generations.iter().rev();
        let sent = newest_first.filter(|one| one.slots[0] == SlotState::Sent);
        all.extend(sent.map(|one| Candidate::Recorded(one.number)));
        all.push(Candidate::Factory);
        // The journal may be older than the chip.
        if let (Some(imported), Some(version)) = (imported, shown) {
            all.push(imported);
            all.extend(self.named(0, version, roots));
        }
        self.in_order(all)
    }

    /// The keys that another slot may have if its key is not as expected. `like` opened another
    /// slot.
    pub fn candidates_of_slot(
        &self,
        slot: u8,
        shown: u8,
        like: Option<Candidate>,
        roots: &Roots,
    ) -> Vec<Candidate> {
        let mut all = Vec::new();
        let named = self.named(slot, shown, roots);
        let imported = self.imported(slot).map(|_| Candidate::Imported);
        if self.state(shown, slot).is_none() {
            all.extend(self.of_bureau(slot));
            all.extend(imported);
        }
        let of_ours = |like| !matches!(like, Candidate::Factory | Candidate::Imported);
        if like.is_some_and(of_ours) {
            all.extend(&named);
            all.push(Candidate::Factory);
        } else {
            all.extend(
                named
                    .iter()
                    .filter(|one| matches!(one, Candidate::Recorded(_))),
            );
            all.push(Candidate::Factory);
            all.extend(&named);
        }
        let newest_first = self.generations.iter().rev();
        let sent = newest_first.filter(|one| one.slots[usize::from(slot)] == SlotState::Sent);
        all.extend(sent.map(|one| Candidate::Recorded(one.number)));
        all.extend(imported);
        self.in_order(all)
    }

    /// The key that a bureau wrote to a slot, unless another one was proved there.
    pub fn of_bureau(&self, slot: u8) -> Option<Candidate> {
        let number = self.bureau?;
        let may = matches!(
            self.state(number, slot),
            Some(SlotState::Sent | SlotState::Confirmed)
        );
        may.then_some(Candidate::Recorded(number))
    }

    /// The keys whose version is `shown`: from the journal, or else derived from any root. Retired
    /// roots come first: the journal has every key of the active root, so an unknown key is from an
    /// older one.
    fn named(&self, slot: u8, shown: u8, roots: &Roots) -> Vec<Candidate> {
        match self.state(shown, slot) {
            Some(_) => vec![Candidate::Recorded(shown)],
            None if shown == 0 => Vec::new(),
            None => {
                let mut roots: Vec<_> = roots.0.iter().collect();
                roots.sort_by_key(|root| !root.retired);
                let derived = roots.into_iter().map(|root| Candidate::Derived {
                    root: root.id,
                    generation: shown,
                });
                derived.collect()
            }
        }
    }

    /// Each candidate once, with the refused ones last. The factory key comes second at the latest,
    /// unless it was refused or another key was confirmed, because only two keys are tried in one
    /// insertion.
    fn in_order(&self, all: Vec<Candidate>) -> Vec<Candidate> {
        let mut once: Vec<Candidate> = Vec::with_capacity(all.len());
        for one in all {
            if !once.contains(&one) {
                once.push(one);
            }
        }
        once.sort_by_key(|one| self.refused.contains(one));
        let place = once.iter().position(|one| *one == Candidate::Factory);
        if let Some(place) = place.filter(|place| *place > 1)
            && self.confirmed.is_none()
            && !self.refused.contains(&Candidate::Factory)
        {
            let factory = once.remove(place);
            once.insert(1, factory);
        }
        once
    }
}
