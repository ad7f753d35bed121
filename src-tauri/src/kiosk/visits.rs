//! Serves visitors: opens a page for a tag on the reader, and returns to the attract page.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use tapdesk_service::clock::{Clock as _, SystemClock};
use tapdesk_service::id::GroupId;
use tapdesk_service::kiosk::KioskState;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, timeout};
use url::Url;

use super::allowed_hosts::AllowedHosts;
use super::tally::Day;
use super::{Event, Kiosk, Notice, Problem, Report, Visit, lock};
use crate::reader::board::{OnReader, Table};
use crate::reader::copy_check::{Chip, Refusal, refuse_copy};
use crate::reader::inlay::Reading;
use crate::reader::send_tap::{TestTap, announce_test_tap, path_and_query};
use crate::shell::Shell;
use crate::state::ShellState;

/// Seconds after which a service that failed is started again.
const RESTART_SECONDS: u32 = 5;
/// How long a message stays, in seconds: long enough to read its two sentences. A page that is loaded
/// again must not show it to a later visitor.
const NOTICE_SECONDS: u32 = 12;
/// Visits after which the attract page gets a new process. `WebKit`'s process of a page grows by up to
/// 0.5 MB with each visit, although the page itself keeps nothing: a day of 3,000 visits would take
/// a gigabyte.
const RENEWAL_VISITS: u64 = 100;
/// Seconds without a tag, a visit or a message, after which nobody is there who would see the screen
/// dark for the second that the new process takes.
const QUIET_SECONDS: u32 = 20;

/// The page with which a visit begins, and its look.
pub(super) struct FirstPage {
    /// The number of the visit, which the page's reports carry.
    pub visit: u64,
    /// The URL of the page.
    pub url: Url,
    /// The hosts and paths that the visitor may see.
    pub allowed_hosts: AllowedHosts,
    /// The language that the visitor chose; `None` for that of the computer.
    pub language: Option<String>,
    /// Whether a keyboard appears for a field of the page.
    pub has_keyboard: bool,
    /// The colour behind the page until it is drawn, as `#rrggbb`; `None` for Tapdesk's own.
    pub colour: Option<String>,
}

/// Seconds within which the page of a visit opens, if the owner's time for a visit is not shorter: a
/// server that does not answer must not hold the verdict on the screen.
const OPENING_SECONDS: u16 = 15;
/// How long the check of a tag may take. Until then no event is handled, not even the end of the
/// visit before.
const CHECK_TIME: Duration = Duration::from_secs(8);

/// The place where visits are shown; a trait, so that tests need no window.
pub(super) trait Display: Send + 'static {
    /// Begins a visit, in place of the current one.
    fn begin(&self, page: FirstPage);
    /// Ends the visit and deletes everything that its page stored.
    fn end(&self);
    /// Loads the attract page again, in a new process.
    fn renew(&self);
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
    /// Whether a keyboard appears for a field of a visitor's page.
    pub has_keyboard: bool,
    /// The owner's background colour, as `#rrggbb`.
    pub colour: Option<String>,
    /// The URLs by which phones reach this computer, as the attract page knows them.
    pub lan: Vec<String>,
    /// For how many seconds the service has failed.
    pub failed_seconds: u32,
    /// For how many seconds the message to a visitor has been shown.
    pub noticed_seconds: u32,
    /// For how many seconds nobody has used the kiosk.
    pub quiet_seconds: u32,
    /// The number of visits that had begun when the attract page got its process.
    pub renewed_at: u64,
    /// The number of visits since the kiosk was shown.
    pub begun: u64,
}

impl<D: Display> Visits<D> {
    /// Runs until the task is aborted.
    pub(super) async fn run(
        mut self,
        mut tables: Option<mpsc::UnboundedReceiver<Table>>,
        mut reports: mpsc::UnboundedReceiver<Report>,
    ) {
        let mut seconds = interval(Duration::from_secs(1));
        seconds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        self.kiosk.view.send_modify(|view| view.has_service = true);
        // A tag that was on the reader before the kiosk was shown is no visitor's tap.
        let mut seen = None;
        loop {
            tokio::select! {
                Some(table) = next(&mut tables) => {
                    let (insertion, read) = latest(&table);
                    let seen = seen.get_or_insert(insertion);
                    self.kiosk.view.send_if_modified(|view| {
                        let now = (!table.readers.is_empty(), has_tag(&table));
                        let before = (view.has_reader, view.has_tag);
                        (view.has_reader, view.has_tag) = now;
                        before != now
                    });
                    if insertion > *seen {
                        *seen = insertion;
                        self.placed(read).await;
                    }
                }
                Some(report) = reports.recv() => self.happened(report),
                _ = seconds.tick() => self.second_passed(),
                else => return,
            }
        }
    }

    async fn placed(&mut self, read: Result<&Reading, Notice>) {
        self.quiet_seconds = 0;
        self.kiosk.view.send_modify(|view| view.is_reading = true);
        let page = match read {
            Ok(reading) => timeout(CHECK_TIME, self.page_of(reading))
                .await
                .unwrap_or(Err(Notice::Failed)),
            Err(notice) => Err(notice),
        };
        let (visit, notice) = match page {
            Ok((url, verified)) => {
                self.begun += 1;
                self.display.begin(self.first_page(url));
                lock(&self.kiosk.tally).visited(SystemClock::start().now());
                let visit = Visit {
                    number: self.begun,
                    seconds_left: self.idle_seconds.min(OPENING_SECONDS),
                    verified,
                    is_open: false,
                };
                (Some(visit), None)
            }
            Err(notice) => {
                self.display.end();
                self.note(notice);
                (None, Some(notice))
            }
        };
        self.noticed_seconds = 0;
        self.kiosk.view.send_modify(|view| {
            view.is_reading = false;
            view.visit = visit;
            view.notice = notice;
            view.tags += 1;
        });
    }

    fn first_page(&self, url: Url) -> FirstPage {
        FirstPage {
            visit: self.begun,
            url,
            allowed_hosts: self.allowed_hosts.clone(),
            language: lock(&self.kiosk.language).clone(),
            has_keyboard: self.has_keyboard,
            colour: self.colour.clone(),
        }
    }

    /// The page with which the visit of a tag begins, and the verdict that the tap gets.
    async fn page_of(&self, reading: &Reading) -> Result<(Url, Option<bool>), Notice> {
        let mut verified = None;
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
            verified = checked.verified;
            announce_test_tap(&service, &path_and_query(&page), TestTap::Kiosk).await;
        } else if !self.shows(&[]) {
            // Only the service knows the group of a tag.
            return Err(Notice::OtherGroup);
        }
        Ok((page, verified))
    }

    /// Whether visitors may open a tag that is in these groups.
    fn shows(&self, groups: &[GroupId]) -> bool {
        self.group_id.is_none_or(|group| groups.contains(&group))
    }

    fn happened(&self, report: Report) {
        let current = self.kiosk.view.borrow().visit.map(|visit| visit.number);
        if report.visit.is_some() && report.visit != current {
            tracing::debug!("a page reports after its visit: {:?}", report.event);
            return;
        }
        let visiting = current.is_some();
        match report.event {
            Event::Input => self.kiosk.view.send_modify(|view| {
                // Until the page opens, there is nothing that the visitor could use.
                if let Some(visit) = view.visit.as_mut().filter(|visit| visit.is_open) {
                    visit.seconds_left = self.idle_seconds;
                    // The visitor has read the message by now.
                    view.notice = None;
                }
            }),
            Event::PageShown if visiting => self.kiosk.view.send_modify(|view| {
                if let Some(visit) = &mut view.visit {
                    visit.is_open = true;
                    visit.seconds_left = self.idle_seconds;
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
            Event::PageShown
            | Event::Done
            | Event::OwnerAsks
            | Event::LedToOtherHost
            | Event::PageFailed
            | Event::PageBroke => {}
        }
    }

    fn second_passed(&mut self) {
        self.count_down();
        self.clear_notice();
        self.renew();
        self.follow_service();
        self.report();
    }

    /// Follows the service: after a restart its pages may have another address. A service that
    /// failed is started again.
    fn follow_service(&mut self) {
        self.shell.follow_network();
        let state = self.shell.state();
        let has_service = matches!(state, ShellState::Ready(_));
        let problem = match &state {
            ShellState::Failed { problem } => Some(Problem::from(problem.clone())),
            ShellState::Ready(_) | ShellState::Starting | ShellState::Rotating { .. } => None,
        };
        self.kiosk.view.send_if_modified(|view| {
            let is_news = (view.has_service, &view.problem) != (has_service, &problem);
            (view.has_service, view.problem) = (has_service, problem);
            is_news
        });
        match state {
            ShellState::Ready(ready) => {
                self.failed_seconds = 0;
                if let Ok(address) = ready.address.parse() {
                    self.allowed_hosts.address = address;
                }
                self.follow_addresses(ready.lan);
            }
            ShellState::Failed { .. } => {
                self.failed_seconds += 1;
                if self.failed_seconds >= RESTART_SECONDS {
                    self.failed_seconds = 0;
                    tracing::warn!("the service failed; the kiosk starts it again");
                    let shell = Arc::clone(&self.shell);
                    tauri::async_runtime::spawn(async move { shell.start_again().await });
                }
            }
            ShellState::Starting | ShellState::Rotating { .. } => {}
        }
    }

    /// Lets the attract page ask for its code again if the addresses of this computer have changed.
    fn follow_addresses(&mut self, lan: Vec<String>) {
        if self.lan != lan {
            self.lan = lan;
            self.kiosk.view.send_modify(|view| view.network += 1);
        }
    }

    /// Reports the state to the service, for the desk and the metrics.
    fn report(&self) {
        let (visits_today, last_visit_at) = {
            let mut tally = lock(&self.kiosk.tally);
            let visits = tally.today(SystemClock::start().now()).visits;
            (visits, tally.last_visit_at())
        };
        let has_reader = self.kiosk.view.borrow().has_reader;
        self.shell.report_kiosk(Some(KioskState {
            has_screen: lock(&self.kiosk.heartbeat).is_alive(),
            has_reader,
            visits_today,
            last_visit_at,
        }));
    }

    fn count_down(&self) {
        let visit = self.kiosk.view.borrow().visit;
        match visit {
            Some(visit) if visit.seconds_left <= 1 && visit.is_open => self.finish(None),
            // Its page did not open in time.
            Some(visit) if visit.seconds_left <= 1 => self.give_up(Notice::Failed),
            Some(_) => self.kiosk.view.send_modify(|view| {
                if let Some(visit) = &mut view.visit {
                    visit.seconds_left -= 1;
                }
            }),
            None => {}
        }
    }

    /// Removes a message that was there long enough. During a visit it stays until the visitor does
    /// something.
    fn clear_notice(&mut self) {
        let is_shown = {
            let view = self.kiosk.view.borrow();
            view.notice.is_some() && view.visit.is_none()
        };
        if !is_shown {
            self.noticed_seconds = 0;
            return;
        }
        self.noticed_seconds += 1;
        if self.noticed_seconds >= NOTICE_SECONDS {
            self.noticed_seconds = 0;
            self.kiosk.view.send_modify(|view| view.notice = None);
        }
    }

    /// Gives the attract page a new process after many visits, as soon as nobody is there.
    fn renew(&mut self) {
        let is_quiet = {
            let view = self.kiosk.view.borrow();
            view.visit.is_none() && view.notice.is_none() && !view.is_reading && !view.has_tag
        };
        self.quiet_seconds = if is_quiet { self.quiet_seconds + 1 } else { 0 };
        if self.quiet_seconds >= QUIET_SECONDS && self.begun - self.renewed_at >= RENEWAL_VISITS {
            self.renewed_at = self.begun;
            self.display.renew();
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

/// Whether a tag is on a reader, readable or not.
fn has_tag(table: &Table) -> bool {
    let mut places = table.readers.iter();
    places.any(|place| matches!(place.on, OnReader::Inlay(_) | OnReader::Failed(_)))
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
