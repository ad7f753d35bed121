//! A visitor who tries everything.

use std::time::Duration;

use fantoccini::actions::{InputSource as _, MOUSE_BUTTON_LEFT, PointerAction, TouchActions};
use tapdesk_tests::eventually;
use tapdesk_tests::length;

use super::{ATTRACT, Hall};
use crate::window::{Hands, Window};

/// Pause between the visitor's actions; each step takes about 25 ms.
const STEP: Duration = Duration::from_millis(20);

/// Pseudo-random numbers that repeat with the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn place(&mut self, hands: &Hands) -> (i16, i16) {
        let (width, height) = hands.size;
        let x = i16::try_from(self.below(width.into())).unwrap();
        let y = i16::try_from(self.below(height.into())).unwrap();
        (x, y)
    }
}

/// Control, shift, alt and super, by the display's usual key codes.
const MODIFIERS: [u8; 4] = [37, 50, 64, 133];

fn act(hands: &Hands, dice: &mut Dice) {
    // From Escape to the keys of a media keyboard.
    let key = |dice: &mut Dice| u8::try_from(9 + dice.below(110)).unwrap();
    match dice.below(10) {
        0..=2 => hands.keys(&[key(dice)]),
        3 | 4 => {
            let modifier = MODIFIERS[usize::try_from(dice.below(4)).unwrap()];
            hands.keys(&[modifier, key(dice)]);
        }
        5 => {
            let (one, other) = (dice.below(4), dice.below(4));
            let modifier = |number: u64| MODIFIERS[usize::try_from(number).unwrap()];
            hands.keys(&[modifier(one), modifier(other), key(dice)]);
        }
        6..=8 => {
            let (x, y) = dice.place(hands);
            // Left, middle, right, the wheel, back and forward.
            let button = [1, 1, 1, 2, 3, 3, 4, 5, 8, 9][usize::try_from(dice.below(10)).unwrap()];
            hands.click(x, y, button);
        }
        _ => hands.drag(dice.place(hands), dice.place(hands)),
    }
}

/// Touches the kiosk's own page by script, because the display's protocol has no touch. Returns
/// whether something was hit.
async fn touch(window: &Window, hands: &Hands, dice: &mut Dice) -> bool {
    let (x, y) = dice.place(hands);
    let finger = TouchActions::new("finger".to_owned())
        .then(PointerAction::MoveTo {
            duration: None,
            x: x.into(),
            y: y.into(),
        })
        .then(PointerAction::Down {
            button: MOUSE_BUTTON_LEFT,
        })
        .then(PointerAction::MoveBy {
            duration: None,
            x: 25.0,
            y: -15.0,
        })
        .then(PointerAction::Up {
            button: MOUSE_BUTTON_LEFT,
        });
    window.perform_actions(finger).await.is_ok()
}

#[tokio::test]
async fn nobody_leaves_the_kiosk_by_keys_clicks_drags_and_touches() {
    let seed = length(0x5EED_0001, 0x5EED_0002);
    let steps = length(15, 600) * 1_000 / 25;
    println!("seed {seed}, {steps} steps");
    let (hall, card) = Hall::set_up(20).await;
    let window = hall.open().await;
    let hands = hall.desk.hands();
    let shown = hands.windows();
    assert_eq!(shown.len(), 1);
    let mut dice = Dice(seed);
    let mut card = Some(card);
    let mut laid = None;
    let mut touches = 0;
    for step in 0..steps {
        if step % 200 == 0 {
            hands.focus();
            // Half the time is spent on an owner's page, half on the attract page.
            match card.take() {
                Some(card) => laid = Some(hall.desk.readers().lay_down(card)),
                None => {
                    card = laid
                        .take()
                        .map(tapdesk_tests::virtual_reader::LaidDown::take_away);
                }
            }
        }
        act(&hands, &mut dice);
        if step % 10 == 0 {
            touches += u32::from(touch(&window, &hands, &mut dice).await);
        }
        if step % 40 == 0 {
            assert_eq!(
                hall.desk.close("Tapdesk kiosk"),
                1,
                "it is still there at {step}"
            );
            assert_eq!(hands.windows(), shown, "another window at {step}");
        }
        tokio::time::sleep(STEP).await;
    }
    assert_eq!(hands.windows(), shown);
    assert!(touches > 10, "{touches} touches");
    assert!(
        !hall.desk.log().contains("the kiosk was left"),
        "{}",
        hall.desk.log()
    );
    // Everything that was opened closes automatically, and visitors are served again.
    eventually("the attract page comes back", async || {
        window.find(fantoccini::Locator::XPath(ATTRACT)).await.ok()
    })
    .await;
    window.quit().await;
}
