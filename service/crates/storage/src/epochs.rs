//! The epoch of the last change of each part of the configuration. A cache must drop its data of a
//! part if it read them under an earlier epoch than the part's.
//!
//! Parts share slots by their ids, so a change may invalidate too many parts, but never too few. One
//! caller at a time moves epochs, and a change is not acknowledged before. SQLite's writer counts
//! them; on PostgreSQL the database counts, and each node learns of the epochs of all.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::CachedPart;

/// Slots of a page. A page takes no memory until a change touches it.
const PAGE: usize = 1 << 12;
/// Pages of slots for tags, for experiences, and for groups. Ids are consecutive, so no two share a slot until
/// there are more than a million. The slots take at most 8 MB for each kind.
const PAGES: usize = 1 << 8;

/// The parts of the configuration that a transaction changes.
#[derive(Default)]
pub(crate) struct Changed {
    any: bool,
    parts: Vec<CachedPart>,
}

impl Changed {
    /// Adds a changed part; `None` if no cache holds the changed data.
    pub(crate) fn add(&mut self, part: Option<CachedPart>) {
        self.any = true;
        self.parts.extend(part);
    }

    /// The changed parts; `None` if the transaction changes no configuration.
    pub(crate) fn parts(&self) -> Option<&[CachedPart]> {
        self.any.then_some(self.parts.as_slice())
    }
}

/// The current epoch, and that of each part's last change.
pub(crate) struct Epochs {
    newest: AtomicU64,
    all: AtomicU64,
    tags: Slots,
    experiences: Slots,
    groups: Slots,
    url_templates: AtomicU64,
    phones: AtomicU64,
    settings: AtomicU64,
}

/// The epochs of all parts of a kind, by id.
struct Slots(Box<[OnceLock<Box<[AtomicU64]>>]>);

impl Slots {
    fn new() -> Self {
        Self((0..PAGES).map(|_| OnceLock::new()).collect())
    }

    fn place(id: i64) -> (usize, usize) {
        let id = usize::try_from(id).unwrap_or_default();
        (id / PAGE % PAGES, id % PAGE)
    }

    fn get(&self, id: i64) -> u64 {
        let (page, slot) = Self::place(id);
        let page = self.0[page].get();
        page.map_or(0, |page| page[slot].load(Ordering::Acquire))
    }

    fn set(&self, id: i64, epoch: u64) {
        let (page, slot) = Self::place(id);
        let page = self.0[page].get_or_init(|| (0..PAGE).map(|_| AtomicU64::new(0)).collect());
        page[slot].store(epoch, Ordering::Release);
    }
}

impl Default for Epochs {
    fn default() -> Self {
        Self {
            newest: AtomicU64::new(1),
            all: AtomicU64::new(0),
            tags: Slots::new(),
            experiences: Slots::new(),
            groups: Slots::new(),
            url_templates: AtomicU64::new(0),
            phones: AtomicU64::new(0),
            settings: AtomicU64::new(0),
        }
    }
}

impl Epochs {
    /// The current epoch: data read from now on is read under it.
    pub(crate) fn newest(&self) -> u64 {
        self.newest.load(Ordering::Acquire)
    }

    /// The epoch of a part's last change.
    pub(crate) fn of(&self, part: CachedPart) -> u64 {
        let changed = match part {
            CachedPart::Tag(id) => self.tags.get(id.get()),
            CachedPart::Experience(id) => self.experiences.get(id.get()),
            CachedPart::Group(id) => self.groups.get(id.get()),
            CachedPart::UrlTemplates => self.url_templates.load(Ordering::Acquire),
            CachedPart::Phones => self.phones.load(Ordering::Acquire),
            CachedPart::Settings => self.settings.load(Ordering::Acquire),
        };
        changed.max(self.all.load(Ordering::Acquire))
    }

    /// Starts a new epoch, if the committed transaction changed anything.
    pub(crate) fn publish(&self, changed: &Changed) {
        if let Some(parts) = changed.parts() {
            self.publish_parts(self.newest() + 1, parts);
        }
    }

    /// Starts the epoch `epoch`, in which only these parts changed.
    pub(crate) fn publish_parts(&self, epoch: u64, parts: &[CachedPart]) {
        for part in parts {
            match *part {
                CachedPart::Tag(id) => self.tags.set(id.get(), epoch),
                CachedPart::Experience(id) => self.experiences.set(id.get(), epoch),
                CachedPart::Group(id) => self.groups.set(id.get(), epoch),
                CachedPart::UrlTemplates => self.url_templates.store(epoch, Ordering::Release),
                CachedPart::Phones => self.phones.store(epoch, Ordering::Release),
                CachedPart::Settings => self.settings.store(epoch, Ordering::Release),
            }
        }
        self.start(epoch);
    }

    /// Starts the epoch `epoch`, up to which any part may have changed.
    #[cfg(any(test, feature = "postgres"))]
    pub(crate) fn publish_all(&self, epoch: u64) {
        self.all.store(epoch, Ordering::Release);
        self.start(epoch);
    }

    /// Must come last: data read under the new epoch must not count as older than the change.
    fn start(&self, epoch: u64) {
        self.newest.store(epoch, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::{ExperienceId, GroupId, TagId};

    fn change(epochs: &Epochs, of: impl FnOnce(&mut Changed)) -> u64 {
        let mut changed = Changed::default();
        of(&mut changed);
        epochs.publish(&changed);
        epochs.newest()
    }

    #[test]
    fn a_change_is_of_its_part_alone() {
        let epochs = Epochs::default();
        let (one, other) = (
            CachedPart::Tag(TagId::new(7)),
            CachedPart::Tag(TagId::new(8)),
        );
        let start = epochs.newest();
        assert!(
            epochs.of(one) <= start,
            "what was read before any change holds"
        );
        assert_eq!(change(&epochs, |_| ()), start, "nothing was changed");

        let read = epochs.newest();
        let changed = change(&epochs, |changed| changed.add(Some(one)));
        assert!(epochs.of(one) > read, "what was read before it is void");
        assert_eq!(epochs.of(one), changed);
        for kept in [
            other,
            CachedPart::Experience(ExperienceId::new(7)),
            CachedPart::Group(GroupId::new(7)),
            CachedPart::UrlTemplates,
            CachedPart::Phones,
            CachedPart::Settings,
        ] {
            assert!(epochs.of(kept) <= read, "{kept:?}");
        }
    }

    #[test]
    fn what_is_not_known_to_be_of_a_part_is_of_all() {
        let epochs = Epochs::default();
        let read = epochs.newest();
        epochs.publish_all(read + 1);
        for part in [
            CachedPart::Tag(TagId::new(1)),
            CachedPart::Experience(ExperienceId::new(1)),
            CachedPart::Group(GroupId::new(1)),
            CachedPart::UrlTemplates,
            CachedPart::Phones,
            CachedPart::Settings,
        ] {
            assert!(epochs.of(part) > read, "{part:?}");
        }
        let epoch = change(&epochs, |changed| changed.add(None));
        assert_eq!(epoch, read + 2, "others hear of it");
        assert!(
            epochs.of(CachedPart::Tag(TagId::new(1))) < epoch,
            "and no cache is void"
        );
    }

    #[test]
    fn tags_that_share_a_slot_are_void_together() {
        let epochs = Epochs::default();
        let read = epochs.newest();
        let far = i64::try_from(PAGE * PAGES).unwrap() + 3;
        change(&epochs, |changed| {
            changed.add(Some(CachedPart::Tag(TagId::new(far))));
        });
        assert!(epochs.of(CachedPart::Tag(TagId::new(3))) > read);
        assert!(epochs.of(CachedPart::Tag(TagId::new(4))) <= read);
    }
}
