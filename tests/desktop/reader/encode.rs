//! Encoding in the real window: one tag, and a run of 50 with trouble.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, Sender, channel};

use fantoccini::key::Key;
use serde_json::{Value, json};
use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::key::AesKey;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{Tear, TornOut, VirtualCard};

use super::{bottle, made};
use crate::window::{Desk, Window};

/// Commands by which the monitor reads a blank chip before it is encoded.
const READ: usize = 10;

fn uid(number: u8) -> Uid {
    Uid::from_bytes([0x04, 0xE0, 0x00, 0x00, 0x00, number, 0x80])
}

fn blank(number: u8) -> VirtualNtag424 {
    VirtualNtag424::new(uid(number))
}

/// The verdict, large, by its tone and its title.
async fn verdict(window: &Window, tone: &str, title: &str) {
    let verdict = format!(
        "//section[starts-with(@aria-label, 'Verdict')][contains(@class, '{tone}')][.//p[normalize-space()='{title}']]"
    );
    window.see(&verdict).await;
}

async fn no_inlay(window: &Window) {
    window.see("//header//a[contains(., '2 readers')]").await;
}

async fn get(window: &Window, path: &str) -> Value {
    let (status, body) = window
        .call("GET", &format!("/admin/v1{path}"), &Value::Null)
        .await;
    assert_eq!(status, 200, "{body}");
    body
}

#[tokio::test]
async fn a_tag_gets_an_inlay_that_was_torn_away_once_and_is_wiped_again() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let window = desk.open_ready().await;
    let bottle = bottle(&window, "bottle-41").await;
    window
        .value_of(&format!(
            "location.hash = '#/tags/{}?part=inlay'",
            bottle.id
        ))
        .await;
    window.click_named("Encode an inlay…").await;
    // What will be written, and every step of it, before anything is sent.
    window
        .see("//*[@role='dialog']//dl[dt='URL']/dd[contains(., '/t/bottle-41?uid=')]")
        .await;
    window
        .press("//summary[normalize-space()='Dry run: every step']")
        .await;
    window
        .see("//details[@open]//li[strong='Change key 0']")
        .await;
    window.leave_picture("encode-plan").await;
    window
        .press("//*[@role='dialog']//button[normalize-space()='Encode']")
        .await;
    window
        .see("//p[normalize-space()='Place a new inlay on the reader.']")
        .await;

    let torn = desk
        .readers()
        .lay_down(TornOut::new(Tear::after(READ + 27), blank(1)));
    verdict(&window, "again", "Again").await;
    let chip = torn.take_away().into_card();
    no_inlay(&window).await;
    let laid = desk.readers().lay_down(chip);
    verdict(&window, "good", "Encoded").await;
    window.leave_picture("encoded").await;
    let inlays = get(&window, &format!("/inlays?tag_id={}", bottle.id)).await;
    assert_eq!(inlays["items"][0]["uid"], uid(1).to_string(), "{inlays}");

    window.click_named("Wipe this inlay…").await;
    window
        .press("//*[@role='dialog']//button[normalize-space()='Wipe']")
        .await;
    verdict(&window, "good", "Wiped").await;
    let chip = laid.take_away();
    assert!((0..5).all(|number| chip.key(number).is_factory()));
    assert!(!chip.ndef_settings().has_sdm());
    assert_eq!(chip.file(2)[..2], [0, 0]);
    let inlays = get(&window, &format!("/inlays?tag_id={}", bottle.id)).await;
    assert_eq!(inlays["items"], json!([]));
    // Steps and statuses are logged, and never data.
    assert!(!desk.log().contains("90C4"));
    window.quit().await;
}

/// A chip that answers so many commands, tells that it was asked another one, and waits
/// until its reader's program is gone.
struct Stalling {
    card: VirtualNtag424,
    answered: usize,
    asked: Sender<()>,
    gone: Receiver<()>,
}

impl VirtualCard for Stalling {
    fn atr(&self) -> Vec<u8> {
        self.card.atr()
    }

    fn power_on(&mut self) {
        self.card.power_on();
    }

    fn transmit(&mut self, command: &[u8]) -> Option<Vec<u8>> {
        if self.answered == 0 {
            let _ = self.asked.send(());
            let _ = self.gone.recv();
            return None;
        }
        self.answered -= 1;
        self.card.transmit(command)
    }
}

/// Lays a chip down, waits for its verdict, and takes it away.
async fn lay<C: VirtualCard + 'static>(
    desk: &Desk,
    window: &Window,
    card: C,
    tone: &str,
    title: &str,
) -> C {
    let laid = desk.readers().lay_down(card);
    verdict(window, tone, title).await;
    let card = laid.take_away();
    no_inlay(window).await;
    card
}

/// Makes a run of 50 with the keyboard alone.
async fn create_run(window: &Window) {
    window.keys("gn").await;
    window.see("//h1[normalize-space()='Encode']").await;
    window.keys("n").await;
    window
        .tab_to("//input[@placeholder='Roll of 21 November']")
        .await;
    window.keys("Roll 12").await;
    window
        .tab_to("//*[@role='dialog']//button[normalize-space()='Create run of 50 inlays']")
        .await;
    window.key(Key::Enter).await;
    window
        .see("//p[normalize-space()='Place inlay 1 of 50 on the reader.']")
        .await;
}

/// Lays an inlay down, kills the desktop in the middle of it, and finishes it in a new window.
async fn killed(desk: &Desk, window: Window, number: u8) -> Window {
    let (asked, was_asked) = channel();
    let (go, gone) = channel();
    let laid = desk.readers().lay_down(Stalling {
        card: blank(number),
        answered: READ + 28,
        asked,
        gone,
    });
    let asked = tokio::task::spawn_blocking(move || was_asked.recv().unwrap());
    asked.await.unwrap();
    window.kill().await;
    drop(go);
    let half = laid.take_away().card;
    let window = desk.open_ready().await;
    window.value_of("location.hash = '#/encode/2'").await;
    let next = format!("//p[normalize-space()='Place inlay {number} of 50 on the reader.']");
    window.see(&next).await;
    lay(desk, &window, half, "good", "Encoded").await;
    window
}

/// What does not become an inlay of the run, and is told apart.
async fn trouble(desk: &Desk, window: &Window, number: u8, first: &mut Option<VirtualNtag424>) {
    match number {
        7 => {
            let keys = std::array::from_fn(|_| AesKey::from_bytes([9; 16]));
            let foreign = blank(101).with_keys(keys, 1);
            let foreign = lay(desk, window, foreign, "bad", "Foreign key").await;
            assert_eq!(foreign.tally().writes, 0);
            assert!(foreign.tally().refusals <= 2);
        }
        10 => {
            let first = first.take().unwrap();
            let writes = first.tally().writes;
            let first = lay(desk, window, first, "warn", "Duplicate").await;
            assert_eq!(first.tally().writes, writes);
        }
        14 => {
            lay(desk, window, blank(102).with_lrp(), "bad", "LRP mode").await;
        }
        17 => {
            let theirs = lay(desk, window, blank(103), "warn", "Other run").await;
            assert_eq!(theirs.tally().writes, 0);
        }
        22 => {
            let wrong = VirtualType2::factory(Type2Chip::Ntag215, uid(104).bytes());
            lay(desk, window, wrong, "bad", "Wrong chip").await;
        }
        30 => {
            window.keys("p").await;
            window
                .see("//p[normalize-space()='Paused. Press P to go on.']")
                .await;
            window.keys("p").await;
        }
        _ => {}
    }
}

#[tokio::test]
async fn a_run_of_50_tells_its_trouble_apart_and_goes_on_after_a_crash() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let mut window = desk.open_ready().await;
    // A chip that another run has begun.
    let other = json!({"name": "Other", "plan": {"pattern": "Other {n}"}});
    let other = made(&window, "/encoding-runs", other).await;
    let begun = json!({"uid": uid(103).to_string(), "run_id": other});
    made(&window, "/encodings", begun).await;
    create_run(&window).await;

    let mut first = None;
    for number in 1..=50 {
        trouble(&desk, &window, number, &mut first).await;
        match number {
            // Torn away in the middle, and laid down again.
            5 | 20 | 35 => {
                let tear = Tear::after(READ + usize::from(number));
                let torn = TornOut::new(tear, blank(number));
                let torn = lay(&desk, &window, torn, "again", "Again").await;
                lay(&desk, &window, torn.into_card(), "good", "Encoded").await;
            }
            25 => window = killed(&desk, window, number).await,
            _ => {
                let chip = lay(&desk, &window, blank(number), "good", "Encoded").await;
                first = first.or((number == 1).then_some(chip));
            }
        }
    }
    window.see("//p[normalize-space()='All 50 encoded.']").await;
    window.leave_picture("encoding-run").await;

    let run = get(&window, "/encoding-runs/2").await;
    let rows = run["rows"].as_array().unwrap();
    let of = |state: &str| rows.iter().filter(|row| row["state"] == state).count();
    assert_eq!(
        (of("verified"), of("rejected"), rows.len()),
        (50, 3, 53),
        "{run}"
    );
    let reasons: BTreeSet<_> = rows
        .iter()
        .filter_map(|row| row["reason"].as_str())
        .collect();
    assert_eq!(
        reasons,
        BTreeSet::from(["foreign_key", "lrp", "not_encodable"])
    );
    // No tag was skipped, and none has two.
    let verified = rows.iter().filter(|row| row["state"] == "verified");
    let positions: BTreeSet<_> = verified
        .map(|row| row["position"].as_u64().unwrap())
        .collect();
    assert_eq!(positions, (1..=50).collect());
    window.quit().await;
}
