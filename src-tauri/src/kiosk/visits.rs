//! Serves visitors: opens a page for a tag on the reader, and returns to the attract page.

use std::sync::Arc;
use std::time::Duration;

use tapdesk_service::clock::{Clock as _, SystemClock};
use tapdesk_service::id::GroupId;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use url::Url;

use super::allowed_hosts::AllowedHosts;
use super::tally::Day;
use super::{Event, Kiosk, Notice, Visit, lock};
use crate::reader::board::{OnReader, Table};
use crate::reader::copy_check::{Chip, Refusal, refuse_copy};
use crate::reader::inlay::Reading;
use crate::reader::send_tap::{TestTap, announce_test_tap, path_and_query};
use crate::shell::Shell;

/// The place where visits are shown; a trait, so that tests need no window.
pub(super) trait Display: Send + 'static {
    /// Begins a visit at a URL, in place of the current one.
    fn begin(&self, url: Url, allowed_hosts: AllowedHosts);
    /// Ends the visit and deletes everything that its page stored.
    fn end(&self);
}

/// The work of one kiosk until it is closed.
pub(super) struct Visits<D> {
    /// State of the kiosk, shared with its window.
    pub kiosk: Arc<Kiosk>,
    /// Shows the visitors' pages.
    pub display: D,
    /// Answers whether a URL was copied.
    pub shell: Arc<Shell>,
    /// The hosts and paths that visitors may see.
    pub allowed_hosts: AllowedHosts,
    /// The group whose tags visitors may open, with all groups below it; `None` for all tags.
    pub group_id: Option<GroupId>,
    /// How long a visit lasts without input, in seconds.
    pub idle_seconds: u16,
}

impl<D: Display> Visits<D> {
    /// Runs until the task is aborted.
    pub(super) async fn run(
        self,
        mut tables: Option<mpsc::UnboundedReceiver<Table>>,
        mut events: mpsc::UnboundedReceiver<Event>,
    ) {
        let mut seconds = interval(Duration::from_secs(1));
        seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // A tag that was on the reader before the kiosk was shown is no visitor's tap.
        let mut seen = None;
        loop {
            tokio::select! {
                Some(table) = next(&mut tables) => {
                    let (insertion, read) = latest(&table);
                    let seen = seen.get_or_insert(insertion);
                    self.kiosk.view.send_if_modified(|view| {
                        let has_reader = !table.readers.is_empty();
                        std::mem::replace(&mut view.has_reader, has_reader) != has_reader
                    });
                    if insertion > *seen {
                        *seen = insertion;
                        self.placed(read).await;
                    }
                }
                Some(event) = events.recv() => self.happened(event),
                _ = seconds.tick() => self.second_passed(),
                else => return,
            }
        }
    }

    async fn placed(&self, read: Result<&Reading, Notice>) {
        let page = match read {
            Ok(reading) => self.page_of(reading).await,
            Err(notice) => Err(notice),
        };
        let notice = match page {
            Ok(page) => {
                self.display.begin(page, self.allowed_hosts.clone());
                self.count(|day| day.visits += 1);
                None
            }
            Err(notice) => {
                self.display.end();
                self.note(notice);
                Some(notice)
            }
        };
        let visit = notice.is_none().then_some(Visit {
            seconds_left: self.idle_seconds,
        });
        self.kiosk.view.send_modify(|view| {
            view.visit = visit;
            view.notice = notice;
            view.tags += 1;
        });
    }

    /// The page with which the visit of a tag begins.
    async fn page_of(&self, reading: &Reading) -> Result<Url, Notice> {
        let url = reading.url.as_deref().ok_or(Notice::Blank)?;
        let page = self.allowed_hosts.of_tag(url).ok_or(Notice::OtherHost)?;
        // Copies can be recognized only for URLs of this service.
        if self.allowed_hosts.is_of_service(&page) {
            let service = self.shell.embedded_backend().await;
            let service = service.ok_or(Notice::Failed)?;
            let checked = refuse_copy(&service, url, &Chip::from(reading)).await;
            let checked = checked.map_err(|refusal| match refusal {
                Refusal::Copied(_) => Notice::Copied,
                Refusal::Unknown => Notice::Failed,
            })?;
            if !self.shows(&checked.group_ids) {
                return Err(Notice::OtherGroup);
            }
            announce_test_tap(&service, &path_and_query(&page), TestTap::Kiosk).await;
        } else if !self.shows(&[]) {
            // Only the service knows the group of a tag.
            return Err(Notice::OtherGroup);
        }
        Ok(page)
    }

    /// Whether visitors may open a tag that is in these groups.
    fn shows(&self, groups: &[GroupId]) -> bool {
        self.group_id.is_none_or(|group| groups.contains(&group))
    }

    fn happened(&self, event: Event) {
        let visiting = self.kiosk.view.borrow().visit.is_some();
        match event {
            Event::Input => self.kiosk.view.send_modify(|view| {
                if let Some(visit) = &mut view.visit {
                    visit.seconds_left = self.idle_seconds;
                    // The visitor has read the message by now.
                    view.notice = None;
                }
            }),
            Event::Done if visiting => {
                self.count(|day| day.done += 1);
                self.finish(None);
            }
            Event::OwnerAsks if visiting => {
                self.finish(None);
                self.kiosk.view.send_modify(|view| view.asked += 1);
            }
            // The visitor stays on the page with the link.
            Event::LedToOtherHost if visiting => {
                self.note(Notice::OtherHost);
                self.kiosk
                    .view
                    .send_modify(|view| view.notice = Some(Notice::OtherHost));
            }
            Event::PageFailed if visiting => self.give_up(Notice::Failed),
            Event::PageBroke if visiting => self.give_up(Notice::Broke),
            Event::Done
            | Event::OwnerAsks
            | Event::LedToOtherHost
            | Event::PageFailed
            | Event::PageBroke
            | Event::AttractBroke => {}
        }
    }

    fn second_passed(&self) {
        let is_over = self
            .kiosk
            .view
            .borrow()
            .visit
            .map(|visit| visit.seconds_left <= 1);
        match is_over {
            Some(true) => self.finish(None),
            Some(false) => self.kiosk.view.send_modify(|view| {
                if let Some(visit) = &mut view.visit {
                    visit.seconds_left -= 1;
                }
            }),
            None => {}
        }
    }

    fn give_up(&self, notice: Notice) {
        self.note(notice);
        self.finish(Some(notice));
    }

    fn finish(&self, notice: Option<Notice>) {
        self.display.end();
        self.kiosk.view.send_modify(|view| {
            view.visit = None;
            view.notice = notice;
        });
    }

    fn note(&self, notice: Notice) {
        self.count(|day| match notice {
            Notice::Unread | Notice::Blank => day.unread += 1,
            Notice::OtherHost => day.other_host += 1,
            Notice::OtherGroup => day.other_group += 1,
            Notice::Copied => day.copied += 1,
            Notice::Failed | Notice::Broke => day.failed += 1,
        });
    }

    fn count(&self, count: impl FnOnce(&mut Day)) {
        lock(&self.kiosk.tally).count(SystemClock::start().now(), count);
    }
}

/// The next table; waits for ever if readers cannot be watched.
async fn next(tables: &mut Option<mpsc::UnboundedReceiver<Table>>) -> Option<Table> {
    match tables {
        Some(tables) => tables.recv().await,
        None => std::future::pending().await,
    }
}

/// The number of the newest insertion, or 0 if no reader has an inlay, and its reading.
fn latest(table: &Table) -> (u64, Result<&Reading, Notice>) {
    let insertions = table.readers.iter().filter_map(|place| match &place.on {
        OnReader::Inlay(placed) => Some((placed.insertion, Ok(&placed.reading))),
        OnReader::Failed(failed) => Some((failed.insertion, Err(Notice::Unread))),
        OnReader::Nothing | OnReader::Unavailable | OnReader::Module => None,
    });
    insertions
        .max_by_key(|(insertion, _)| *insertion)
        .unwrap_or((0, Err(Notice::Unread)))
}
