//! A person who uses only the keyboard.

use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::key::Key;
use serde_json::json;

use super::Window;

/// Most Tab steps to a target; beyond that it counts as unreachable.
const REACH: usize = 80;

impl Window {
    /// Presses and releases a key.
    pub(crate) async fn key(&self, value: impl Into<char>) {
        self.strike(value.into()).await;
        self.effort.pressed();
    }

    async fn strike(&self, value: char) {
        let press = KeyActions::new("keyboard".to_owned())
            .then(KeyAction::Down { value })
            .then(KeyAction::Up { value });
        self.perform_actions(press)
            .await
            .expect("a key can be pressed");
    }

    /// Presses and releases a key while Ctrl is held.
    pub(crate) async fn command(&self, value: char) {
        let held = Key::Control.into();
        let press = KeyActions::new("keyboard".to_owned())
            .then(KeyAction::Down { value: held })
            .then(KeyAction::Down { value })
            .then(KeyAction::Up { value })
            .then(KeyAction::Up { value: held });
        self.perform_actions(press)
            .await
            .expect("keys can be pressed");
        self.effort.pressed();
    }

    /// Presses the keys of a text or a chord in order.
    pub(crate) async fn keys(&self, text: &str) {
        for value in text.chars() {
            self.strike(value).await;
        }
        self.effort.pressed();
    }

    /// Holds the Escape key for longer than three seconds. A busy page learns of it late.
    pub(crate) async fn hold_escape(&self) {
        let value = Key::Escape.into();
        let hold = KeyActions::new("keyboard".to_owned())
            .then(KeyAction::Down { value })
            .then(KeyAction::Pause {
                duration: std::time::Duration::from_secs(6),
            })
            .then(KeyAction::Up { value });
        self.perform_actions(hold).await.expect("a key can be held");
        self.effort.pressed();
    }

    /// Moves the focus with the Tab key to the element at this `XPath`.
    pub(crate) async fn tab_to(&self, xpath: &str) {
        self.see(xpath).await;
        let focused = "const found = document.evaluate(arguments[0], document, null, 9).singleNodeValue; \
                       return found !== null && found === document.activeElement";
        for _ in 0..REACH {
            self.key(Key::Tab).await;
            if self
                .execute(focused, vec![json!(xpath)])
                .await
                .expect("the script runs")
                == true
            {
                return;
            }
        }
        let focus = self.value_of("document.activeElement.outerHTML").await;
        panic!("the Tab key does not reach {xpath}; it is at {focus}");
    }
}
