//! Visits without a window, so that a day of them takes seconds.

use std::sync::atomic::{AtomicI32, Ordering};

use tapdesk_service::clock::Timestamp;
use tapdesk_service::inlay::technology::Access;

use super::*;
use crate::folders::Folders;
use crate::keychain::Keychain;
use crate::reader::board::{Failed, ReaderSlot, Trouble};
use crate::reader::inlay::{Chip as ChipKind, Codes, Message, Original};

/// Counts the pages that are shown at once.
#[derive(Clone, Default)]
struct Recorder(Arc<Shown>);

#[derive(Default)]
struct Shown {
    pages: AtomicI32,
    languages: std::sync::Mutex<Vec<Option<String>>>,
    renewals: AtomicI32,
}

impl Display for Recorder {
    fn begin(&self, page: FirstPage) {
        // As on the stage, a visit ends the one before.
        self.0.pages.store(1, Ordering::Relaxed);
        lock(&self.0.languages).push(page.language);
    }

    fn end(&self) {
        self.0.pages.store(0, Ordering::Relaxed);
    }

    fn renew(&self) {
        self.0.renewals.fetch_add(1, Ordering::Relaxed);
    }
}

/// Visits of tags that lead to the owner's site, and the home of their files.
fn visits(display: Recorder) -> (Visits<Recorder>, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let folders = Folders::around(&home.path().join("tapdesk.db")).unwrap();
    let keychain = Keychain::of_system(&folders);
    let visits = Visits {
        kiosk: Arc::new(Kiosk::new(&folders, true)),
        display,
        shell: Arc::new(Shell::new(folders, keychain, None)),
        allowed_hosts: AllowedHosts {
            address: "http://127.0.0.1:8787".parse().unwrap(),
            tag_url: None,
            hosts: vec!["shop.example.com".to_owned()],
        },
        group_id: None,
        idle_seconds: 10,
        has_keyboard: true,
        colour: None,
        lan: Vec::new(),
        failed_seconds: 0,
        noticed_seconds: 0,
        quiet_seconds: 0,
        renewed_at: 0,
        begun: 0,
    };
    (visits, home)
}

/// Reports an event of the current visit's page.
fn report(visits: &Visits<Recorder>, event: Event) {
    let visit = visits.kiosk.view.borrow().visit.map(|visit| visit.number);
    visits.happened(Report { visit, event });
}

fn reading() -> Reading {
    Reading {
        uid: None,
        random_uid: false,
        atr: String::new(),
        chip: ChipKind::Unknown,
        memory: None,
        original: Original::Unknown,
        lock: Access::Unknown,
        codes: Codes::Off,
        message: Message::None,
        url: Some("https://shop.example.com/vase".to_owned()),
        sentence: String::new(),
    }
}

/// A reader with a card that cannot be read, or an empty one.
fn table(failed: Option<u64>) -> Table {
    let on = failed.map_or(OnReader::Nothing, |insertion| {
        OnReader::Failed(Box::new(Failed {
            insertion,
            at: Timestamp::from_millis(0),
            trouble: Trouble {
                kind: "unreadable",
                text: String::new(),
            },
            uid: None,
            may_have_counted: false,
            log: Vec::new(),
        }))
    });
    let name = "A reader".to_owned();
    Table {
        fault: None,
        readers: vec![ReaderSlot { name, on }],
    }
}

#[test]
fn a_tag_is_on_the_reader_until_it_is_lifted_readable_or_not() {
    assert!(has_tag(&table(Some(1))));
    assert!(!has_tag(&table(None)));
    assert_eq!(latest(&table(Some(7))).0, 7);
}

#[tokio::test]
async fn the_attract_page_gets_a_new_process_after_many_visits_once_nobody_is_there() {
    let display = Recorder::default();
    let (mut visits, _home) = visits(display.clone());
    let renewals = || display.0.renewals.load(Ordering::Relaxed);
    let reading = reading();
    let wait = |visits: &mut Visits<Recorder>, seconds| {
        for _ in 0..seconds {
            visits.second_passed();
        }
    };
    for _ in 0..RENEWAL_VISITS {
        assert_eq!(renewals(), 0);
        visits.placed(Ok(&reading)).await;
        report(&visits, Event::Done);
        wait(&mut visits, QUIET_SECONDS - 1);
    }
    // A tag that stays on the reader is somebody who is there, and so is one who reads a message.
    for has_tag in [true, false] {
        visits.kiosk.view.send_modify(|view| view.has_tag = has_tag);
        wait(&mut visits, if has_tag { 60 } else { QUIET_SECONDS - 1 });
        assert_eq!(renewals(), 0);
    }
    visits.placed(Err(Notice::Unread)).await;
    wait(&mut visits, NOTICE_SECONDS);
    assert_eq!(renewals(), 0);
    wait(&mut visits, QUIET_SECONDS + 1);
    assert_eq!(renewals(), 1);
    // It has a new process for the next visits.
    wait(&mut visits, 600);
    assert_eq!(renewals(), 1);
}

/// Ten hours with 3,000 visits. Each ends in one of the ways that there are, 20 of them because the
/// page failed with the service.
#[tokio::test]
async fn a_day_of_visits_leaves_nothing_behind() {
    let display = Recorder::default();
    let (mut visits, _home) = visits(display.clone());
    let pages = || display.0.pages.load(Ordering::Relaxed);
    let reading = reading();
    for number in 1..=3_000 {
        visits.placed(Ok(&reading)).await;
        report(&visits, Event::PageShown);
        let visit = visits.kiosk.view.borrow().visit;
        assert!(visit.is_some_and(|visit| visit.is_open), "visit {number}");
        assert_eq!(pages(), 1);
        match number % 150 {
            0 => report(&visits, Event::PageFailed),
            1 => report(&visits, Event::PageBroke),
            2..=75 => report(&visits, Event::Done),
            _ => {}
        }
        for _ in 0..12 {
            visits.second_passed();
        }
        let view = visits.kiosk.view.borrow().clone();
        assert_eq!((view.visit, pages()), (None, 0), "visit {number}");
        assert!(!view.is_reading);
    }
    let now = SystemClock::start().now();
    let counted = lock(&visits.kiosk.tally).today(now).clone();
    // Midnight may have passed in the meantime.
    assert!(
        counted.visits <= 3_000 && counted.failed <= 40,
        "{counted:?}"
    );
    assert!(lock(&visits.kiosk.tally).last_visit_at().is_some());
}

#[tokio::test]
async fn a_page_that_the_service_does_not_judge_is_shown_without_a_verdict() {
    let (mut visits, _home) = visits(Recorder::default());
    visits.placed(Ok(&reading())).await;
    let visit = visits.kiosk.view.borrow().visit;
    assert_eq!(
        visit,
        Some(Visit {
            number: 1,
            seconds_left: 10,
            verified: None,
            is_open: false,
        })
    );
}

#[test]
fn the_page_asks_for_its_code_again_when_the_address_of_the_computer_changes() {
    let (mut visits, _home) = visits(Recorder::default());
    let mut network_at = |lan: &[&str]| {
        visits.follow_addresses(lan.iter().map(|&url| url.to_owned()).collect());
        visits.kiosk.view.borrow().network
    };
    assert_eq!(network_at(&[]), 0);
    assert_eq!(network_at(&["http://192.0.2.7:8787"]), 1);
    assert_eq!(network_at(&["http://192.0.2.7:8787"]), 1);
    assert_eq!(network_at(&["http://192.0.2.9:8787"]), 2);
}

#[tokio::test]
async fn a_visit_opens_in_the_language_that_the_visitor_chose() {
    let display = Recorder::default();
    let (mut visits, _home) = visits(display.clone());
    let reading = reading();
    visits.placed(Ok(&reading)).await;
    *lock(&visits.kiosk.language) = Some("ja".to_owned());
    visits.placed(Ok(&reading)).await;
    let languages = lock(&display.0.languages).clone();
    assert_eq!(languages, [None, Some("ja".to_owned())]);
}

#[tokio::test]
async fn a_page_that_does_not_open_ends_its_visit_with_a_notice() {
    let display = Recorder::default();
    let (mut visits, _home) = visits(display.clone());
    visits.idle_seconds = 3_600;
    visits.placed(Ok(&reading())).await;
    for _ in 1..OPENING_SECONDS {
        visits.second_passed();
        // The verdict leaves nothing to touch, so input does not prolong it.
        report(&visits, Event::Input);
    }
    assert!(visits.kiosk.view.borrow().visit.is_some());
    visits.second_passed();
    let view = visits.kiosk.view.borrow().clone();
    assert_eq!((view.visit, view.notice), (None, Some(Notice::Failed)));
    assert_eq!(display.0.pages.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_message_ends_by_itself_and_each_one_has_its_full_time() {
    let (mut visits, _home) = visits(Recorder::default());
    let notice = |visits: &Visits<Recorder>| visits.kiosk.view.borrow().notice;
    visits.placed(Err(Notice::Unread)).await;
    for _ in 1..NOTICE_SECONDS {
        visits.second_passed();
    }
    visits.placed(Err(Notice::Blank)).await;
    for _ in 1..NOTICE_SECONDS {
        visits.second_passed();
        assert_eq!(notice(&visits), Some(Notice::Blank));
    }
    visits.second_passed();
    assert_eq!(notice(&visits), None, "a later visitor finds no message");
    // The message about a page that broke ends as soon.
    visits.placed(Ok(&reading())).await;
    report(&visits, Event::PageBroke);
    for _ in 1..NOTICE_SECONDS {
        visits.second_passed();
        assert_eq!(notice(&visits), Some(Notice::Broke));
    }
    visits.second_passed();
    assert_eq!(notice(&visits), None);
}

#[tokio::test]
async fn a_page_that_opens_late_gets_the_whole_time_of_a_visit() {
    let (mut visits, _home) = visits(Recorder::default());
    visits.idle_seconds = 60;
    visits.placed(Ok(&reading())).await;
    for _ in 0..10 {
        visits.second_passed();
    }
    report(&visits, Event::PageShown);
    let visit = visits.kiosk.view.borrow().visit;
    assert_eq!(visit.map(|visit| visit.seconds_left), Some(60));
}

#[tokio::test]
async fn a_late_report_of_a_visit_does_not_reach_the_next_one() {
    let display = Recorder::default();
    let (mut visits, _home) = visits(display.clone());
    let reading = reading();
    visits.placed(Ok(&reading)).await;
    let before = visits.kiosk.view.borrow().visit.map(|visit| visit.number);
    // The next visitor places a tag while the page before still loads, or its button is pressed.
    visits.placed(Ok(&reading)).await;
    let shown = visits.kiosk.view.borrow().clone();
    assert_ne!(shown.visit.map(|visit| visit.number), before);
    for event in [
        Event::PageShown,
        Event::Input,
        Event::LedToOtherHost,
        Event::Done,
        Event::OwnerAsks,
        Event::PageFailed,
        Event::PageBroke,
    ] {
        let visit = before;
        visits.happened(Report { visit, event });
        assert_eq!(*visits.kiosk.view.borrow(), shown, "{event:?}");
        assert_eq!(display.0.pages.load(Ordering::Relaxed), 1, "{event:?}");
    }
    // The attract page outlives all visits, so the Escape key works there in each of them.
    visits.happened(Report {
        visit: None,
        event: Event::OwnerAsks,
    });
    assert_eq!(visits.kiosk.view.borrow().visit, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_fails_during_the_day_tells_staff_why() {
    let (mut visits, home) = visits(Recorder::default());
    std::fs::write(home.path().join("tapdesk.db"), "a letter to grandmother").unwrap();
    visits.shell.start().await;
    visits.second_passed();
    let view = visits.kiosk.view.borrow().clone();
    assert!(!view.has_service);
    let problem = view.problem.unwrap();
    assert_eq!(problem.title, "The file is not a Tapdesk database.");
    // A file does not repair itself, so visitors are not asked to wait.
    assert!(!problem.passes && !problem.can_close);
}
