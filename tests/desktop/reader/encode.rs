//! Encoding in the real window: one tag, and a run of 50 with problems.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, Sender, channel};

use fantoccini::key::Key;
use serde_json::{Value, json};
use tapdesk_service::clock::Timestamp;
use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::key::AesKey;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{Tear, TornOut, VirtualCard};

use super::{bottle, made};
use crate::window::{Desk, Window};

/// Number of commands by which the monitor reads a blank chip before it is encoded.
const READ: usize = 10;

fn uid(number: u8) -> Uid {
    Uid::from_bytes([0x04, 0xE0, 0x00, 0x00, 0x00, number, 0x80])
}

pub(crate) fn blank(number: u8) -> VirtualNtag424 {
    VirtualNtag424::new(uid(number))
}

/// Waits for the large verdict with this tone and title.
async fn verdict(window: &Window, tone: &str, title: &str) {
    let verdict = format!(
        "//section[starts-with(@aria-label, 'Verdict')][contains(@class, '{tone}')][.//p[normalize-space()='{title}']]"
    );
    window.see(&verdict).await;
}

async fn no_inlay(window: &Window) {
    window.see("//header//a[contains(., '2 readers')]").await;
}

/// The button that confirms that the chips are only for this computer, whose address is not proved.
pub(crate) const FOR_TRYING: &str = "//button[normalize-space()='For trying on this computer']";

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
    // Phones cannot use the address of this computer, so the screen asks.
    window.press(FOR_TRYING).await;
    // The data to write, and every step, are shown before anything is sent.
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
        .press("//*[@role='dialog']//button[normalize-space()='Wipe inlay']")
        .await;
    verdict(&window, "good", "Wiped").await;
    let chip = laid.take_away();
    assert!((0..5).all(|number| chip.key(number).is_factory()));
    assert!(!chip.ndef_settings().has_sdm());
    assert_eq!(chip.file(2)[..2], [0, 0]);
    let inlays = get(&window, &format!("/inlays?tag_id={}", bottle.id)).await;
    assert_eq!(inlays["items"], json!([]));
    // The log has steps and statuses, but never data.
    assert!(!desk.log().contains("90C4"));
    window.quit().await;
}

/// A chip that answers some commands, reports the next one, and then waits until the reader's
/// program is gone.
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

/// Places a chip, waits for its verdict, and removes it.
pub(crate) async fn lay<C: VirtualCard + 'static>(
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

/// Creates a run of 50 with only the keyboard.
async fn create_run(window: &Window) {
    window.keys("gn").await;
    window.see("//h1[normalize-space()='Encode']").await;
    window.keys("n").await;
    window.tab_to(FOR_TRYING).await;
    window.key(Key::Enter).await;
    window
        .tab_to("//input[@id=//label[normalize-space()='Name']/@for]")
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

/// Places an inlay, kills the desktop during the encoding, and finishes it in a new window.
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
    window.keys("gn").await;
    window
        .tab_to("//*[@data-row='2'][contains(., 'Roll 12')]")
        .await;
    window.key(Key::Enter).await;
    let next = format!("//p[normalize-space()='Place inlay {number} of 50 on the reader.']");
    window.see(&next).await;
    // The confirmation was valid only while the window was open.
    window.press(FOR_TRYING).await;
    lay(desk, &window, half, "good", "Encoded").await;
    window
}

/// Chips that do not become inlays of the run, each with its own message.
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
                .see("//p[normalize-space()='Paused. Press P to resume.']")
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
    // A chip that belongs to another run.
    let mut other = json!({"name": "Other", "plan": {"pattern": "Other {n}"}});
    other["allow_unproved_address"] = true.into();
    let other = made(&window, "/encoding-runs", other).await;
    let mut begun = json!({"uid": uid(103).to_string(), "run_id": other});
    begun["allow_unproved_address"] = true.into();
    made(&window, "/encodings", begun).await;
    create_run(&window).await;

    let mut first = None;
    for number in 1..=50 {
        trouble(&desk, &window, number, &mut first).await;
        match number {
            // Removed in the middle, and placed again.
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

    assert_run(&window).await;
    window.quit().await;
}

/// Each row of the run, in the order in which its chips were first placed: position, UID, state and
/// reason. Duplicates and the chip of another run have no row.
fn expected_rows() -> Vec<Value> {
    let rejected = |number, reason| json!([null, uid(number).to_string(), "rejected", reason]);
    let mut rows = Vec::new();
    for number in 1..=50 {
        match number {
            7 => rows.push(rejected(101, "foreign_key")),
            14 => rows.push(rejected(102, "lrp")),
            22 => rows.push(rejected(104, "not_encodable")),
            _ => {}
        }
        rows.push(json!([number, uid(number).to_string(), "verified", null]));
    }
    rows
}

async fn assert_run(window: &Window) {
    let run = get(window, "/encoding-runs/2").await;
    let rows = run["rows"].as_array().unwrap();
    let reported = |row: &Value| json!([row["position"], row["uid"], row["state"], row["reason"]]);
    let seen: Vec<_> = rows.iter().map(reported).collect();
    assert_eq!(seen, expected_rows());
    let tags: BTreeSet<_> = rows
        .iter()
        .filter_map(|row| row["tag_id"].as_u64())
        .collect();
    assert_eq!(tags.len(), 50, "no tag has two");

    // From the service's first look at a chip to its verified tap, without the reader's own polling
    // and reading. Chips that were removed or interrupted spent time off the reader.
    let encodings = get(window, "/encodings?run_id=2&limit=100").await;
    let encodings = encodings["items"].as_array().unwrap();
    let whole = |encoding: &&Value| {
        let interrupted = [5, 20, 25, 35].map(|number| uid(number).to_string());
        let of = encoding["uid"].as_str().unwrap().to_owned();
        encoding["state"] == "verified" && !interrupted.contains(&of)
    };
    let mut took: Vec<_> = encodings
        .iter()
        .filter(whole)
        .map(|encoding| {
            let at =
                |name: &str| serde_json::from_value::<Timestamp>(encoding[name].clone()).unwrap();
            at("updated_at").since(at("created_at")).get()
        })
        .collect();
    took.sort_unstable();
    let [first, median, last] = [took[0], took[took.len() / 2], took[took.len() - 1]];
    println!(
        "{} inlays: median {median} ms, {first} to {last} ms each",
        took.len()
    );
    assert_eq!(took.len(), 46);
    // On a busy machine, most of them take longer.
    assert!(first < 1_000, "{took:?}");
}

/// Confirms the question after a key of a run, with only the keyboard. The button that has the
/// focus first changes nothing.
async fn confirm_with_keys(window: &Window, title: &str, action: &str) {
    window
        .see(&format!(
            "//*[@role='dialog']//*[normalize-space()='{title}']"
        ))
        .await;
    window
        .tab_to(&format!(
            "//*[@role='dialog']//button[normalize-space()='{action}']"
        ))
        .await;
    window.key(Key::Enter).await;
}

/// The other keys of a run, after its twelfth inlay.
async fn reject_skip_and_undo(desk: &Desk, window: &Window) {
    // A chip that stays unfinished: its tag goes to the next one.
    let torn = TornOut::new(Tear::after(READ + 20), blank(13));
    lay(desk, window, torn, "again", "Again").await;
    window.keys("r").await;
    confirm_with_keys(
        window,
        &format!("Reject inlay {}?", uid(13)),
        "Reject inlay",
    )
    .await;
    verdict(window, "bad", "Rejected").await;
    // Skips a tag, which then comes last.
    window.keys("s").await;
    verdict(window, "warn", "Skipped").await;
    let chip = lay(desk, window, blank(14), "good", "Encoded").await;
    // The previous inlay is not the last one.
    window.keys("u").await;
    confirm_with_keys(window, &format!("Wipe inlay {}?", uid(14)), "Wipe inlay").await;
    window
        .see(&format!(
            "//p[normalize-space()='Place {} on the reader to wipe it. Press Escape to keep it.']",
            uid(14)
        ))
        .await;
    let other = lay(desk, window, blank(15), "warn", "Another inlay").await;
    assert_eq!(other.tally().writes, 0);
    let chip = lay(desk, window, chip, "good", "Wiped").await;
    assert!((0..5).all(|slot| chip.key(slot).is_factory()));
    let run = get(window, "/encoding-runs/1").await;
    let rows = run["rows"].as_array().unwrap();
    let state = |number| {
        let of = uid(number).to_string();
        let row = rows.iter().find(|row| row["uid"] == of);
        row.map(|row| row["state"].as_str().unwrap())
    };
    assert_eq!(state(13), Some("abandoned"));
    assert_eq!(state(14), Some("reset"));
    assert_eq!(state(15), None);
    assert_eq!(run["verified_count"], 12, "{run}");
}

/// The points at which a chip is removed during its encoding, in commands after the monitor's read,
/// and whether the last command was executed: from its first look to the read that verifies it.
const TEARS: [(usize, bool); 12] = [
    (2, false),
    (8, true),
    (11, false),
    (13, true),
    (20, false),
    (23, true),
    (26, true),
    (27, false),
    (28, true),
    (31, false),
    (33, true),
    (36, true),
];

#[tokio::test]
async fn a_dozen_inlays_torn_away_at_other_steps_are_each_finished_and_the_last_is_undone() {
    let mut desk = Desk::new();
    desk.plug_readers_in();
    let window = desk.open_ready().await;
    create_run(&window).await;
    for (number, (at, executed)) in (1..).zip(TEARS) {
        let tear = if executed {
            Tear::after(READ + at)
        } else {
            Tear::before(READ + at)
        };
        let torn = TornOut::new(tear, blank(number));
        let torn = lay(&desk, &window, torn, "again", "Again").await;
        assert!(torn.is_torn(), "{tear:?}");
        let chip = lay(&desk, &window, torn.into_card(), "good", "Encoded").await;
        assert!(chip.tally().refusals <= 2, "{tear:?}");
        let version = chip.key_version(0);
        assert!(
            (0..5).all(|slot| !chip.key(slot).is_factory() && chip.key_version(slot) == version)
        );
    }
    let run = get(&window, "/encoding-runs/1").await;
    assert_eq!(run["verified_count"], 12, "{run}");
    // The first chip created the root, which is in no backup yet.
    window
        .see("//*[@role='status'][contains(., 'in no backup yet')]//a[normalize-space()='Open backup']")
        .await;
    reject_skip_and_undo(&desk, &window).await;
    window.quit().await;
}
