//! A kiosk that serves visitors all day: readers are pulled out, and the program is killed and
//! started again, as systemd does.

use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use tapdesk_service::clock::Stopwatch;

use tapdesk_tests::{PATIENCE, eventually, length};

use super::{ATTRACT, DONE, Hall, pages};
use crate::window::{Desk, Window};

/// Visits after which the caches of a new process are filled.
const WARM: u32 = 5;
/// Visits after which the welcome page gets a new process as soon as nobody is there.
const RENEWAL: u32 = 100;
/// The most by which the memory may have grown since a process was new, in KiB. `WebKit`'s own of a
/// welcome page grows by 0.3 to 0.5 MB a visit; the pages of visitors would take a hundred times more.
const GROWTH: u64 = 80 * 1024;

/// The most that a visitor waits after the program was killed. systemd takes two seconds of the ten
/// that an exhibit has. A debug build beside other tests gets more.
const RESTART: (Duration, Duration) = (Duration::from_mins(1), Duration::from_secs(8));

/// The number of visits, of readers that are pulled out, and of kills. A soak has a day's 3,000
/// visits; `TAPDESK_TEST_VISITS` names another number. The others keep their share, and are two or
/// more.
fn day() -> (u32, u32, u32) {
    let visits = std::env::var("TAPDESK_TEST_VISITS").ok();
    let visits: Option<u32> = visits.and_then(|visits| visits.parse().ok());
    visits.map_or_else(
        || length((12, 2, 1), (3_000, 50, 20)),
        |visits| (visits, (visits / 60).max(2), (visits / 150).max(2)),
    )
}

/// Whether this is one of the visits before which something happens that happens `times` times.
fn is_turn(visit: u32, visits: u32, times: u32) -> bool {
    visit.is_multiple_of(visits / times)
}

/// The resident memory of the program and of its page, in KiB, without the page of a visit.
fn memory(window: &Window) -> u64 {
    let processes = pages(window.process).into_iter().chain([window.process]);
    let resident = processes.map(|process| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        number.unwrap_or_default()
    });
    resident.sum()
}

#[tokio::test]
async fn a_day_of_visits_with_lost_readers_and_crashes_leaves_memory_flat() {
    let (visits, unplugged, killed) = day();
    let restart = length(RESTART.0, RESTART.1);
    let (mut lost, mut kills) = (0, 0);
    let (mut hall, mut card) = Hall::set_up(60).await;
    let mut window = hall.open().await;
    let mut since_start = 0;
    let mut warm = 0;
    for visit in 1..=visits {
        if is_turn(visit, visits, unplugged) {
            hall.desk.readers_mut().kill();
            window.see("//*[contains(., 'not available')]").await;
            hall.desk.readers_mut().restart(true);
            window
                .see("//main[not(contains(., 'not available'))]")
                .await;
            lost += 1;
        }
        if is_turn(visit, visits, killed) {
            window.kill().await;
            let began = Stopwatch::start();
            window = hall.open().await;
            let again = began.elapsed();
            println!("visit {visit}: again after {again:?}");
            assert!(again < restart, "visit {visit}: again after {again:?}");
            since_start = 0;
            kills += 1;
        }
        let placed = hall.desk.readers().lay_down(card);
        hall.exhibit.next_visit().await;
        window.see(DONE).await;
        card = placed.take_away();
        window.press(DONE).await;
        window.see("//h1[contains(., 'Thank you')]").await;
        eventually("the process of the visit ends", async || {
            (pages(window.process).len() == 1).then_some(())
        })
        .await;
        since_start += 1;
        if since_start == WARM {
            warm = memory(&window);
            assert!(warm > 0, "visit {visit}: the memory is not known");
        } else if since_start > WARM {
            let now = memory(&window);
            assert!(now < warm + GROWTH, "visit {visit}: {warm} to {now} KiB");
        }
        if since_start == RENEWAL {
            let grown = memory(&window);
            let before = pages(window.process);
            eventually("the welcome page has a new process", async || {
                let now = pages(window.process);
                (now.len() == 1 && now != before).then_some(())
            })
            .await;
            let placed = hall.desk.readers().lay_down(card);
            hall.exhibit.next_visit().await;
            card = placed.take_away();
            println!("visit {visit}: {warm} to {grown} KiB, and renewed");
            // WebDriver does not follow a page into its new process, so it gets a new window.
            window.kill().await;
            window = hall.open().await;
            since_start = 0;
        }
    }
    println!("at the end: {} KiB", memory(&window));
    assert!(lost >= unplugged && kills >= killed, "{lost} and {kills}");
    window.see(ATTRACT).await;
    let today = fs::read_to_string(hall.desk.database().with_file_name("kiosk/today.json"));
    println!("{visits} visits: {}", today.unwrap());
    window.quit().await;
}

#[tokio::test]
async fn systemd_hears_that_the_window_works() {
    let name = format!("tapdesk-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let systemd = UnixDatagram::bind_addr(&address).unwrap();
    systemd.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut desk = Desk::new();
    desk.set("NOTIFY_SOCKET", format!("@{name}").leak());
    desk.set("WATCHDOG_USEC", "30000000");
    let window = desk.open_with(&["--kiosk"]).await;
    // The limit of the unit is for the start. After it, a window that hangs is ended sooner.
    for sign in ["WATCHDOG_USEC=8000000", "WATCHDOG=1", "WATCHDOG=1"] {
        let mut message = [0; 32];
        let length = systemd.recv(&mut message).unwrap();
        assert_eq!(message[..length], *sign.as_bytes());
    }
    window.quit().await;
}

/// Lets the welcome page hang, and waits until it is loaded again.
async fn hang(hall: &Hall, window: &Window) {
    let attract = pages(window.process)[0].to_string();
    let stopped = std::process::Command::new("kill")
        .args(["-STOP", &attract])
        .status();
    assert!(stopped.unwrap().success());
    eventually("the welcome page is loaded again", async || {
        let log = hall.desk.log();
        (log.contains("the welcome page hangs") && log.contains("page is loaded again"))
            .then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_page_that_hangs_while_the_kiosk_waits_is_loaded_again() {
    let (hall, mut card) = Hall::set_up(60).await;
    let other = TcpListener::bind(hall.service.trim_start_matches("http://")).unwrap();
    let window = hall.desk.open_with(&["--kiosk"]).await;
    window
        .see("//h1[normalize-space()='One moment, please.']")
        .await;
    hang(&hall, &window).await;
    assert!(!hall.desk.log().contains("the kiosk is shown"));
    drop(other);
    eventually("the kiosk is shown", async || {
        hall.desk.log().contains("the kiosk is shown").then_some(())
    })
    .await;
    // A tag that is there before the kiosk watches its readers is no tap, so a visitor tries again.
    let mut tries = 0;
    loop {
        let placed = hall.desk.readers().lay_down(card);
        let visit = tokio::time::timeout(Duration::from_secs(10), hall.exhibit.next_visit());
        if visit.await.is_ok() {
            break;
        }
        card = placed.take_away();
        tries += 1;
        assert!(tries < 3, "no tag opens its page");
    }
    window.quit().await;
}

#[tokio::test]
async fn a_page_that_hangs_is_loaded_again() {
    let (hall, card) = Hall::set_up(60).await;
    let window = hall.open().await;
    hang(&hall, &window).await;
    let placed = hall.desk.readers().lay_down(card);
    hall.exhibit.next_visit().await;
    placed.take_away();
    window.quit().await;
}
