//! A person who uses the keyboard alone.

use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::key::Key;
use serde_json::json;

use super::Window;

/// Most steps with the Tab key before what is looked for counts as out of reach.
const REACH: usize = 80;

impl Window {
    /// Presses and releases a key.
    pub(crate) async fn key(&self, value: impl Into<char>) {
        let value = value.into();
        let press = KeyActions::new("keyboard".to_owned())
            .then(KeyAction::Down { value })
            .then(KeyAction::Up { value });
        self.perform_actions(press)
            .await
            .expect("a key can be pressed");
    }

    /// Presses the keys of a text, one after the other.
    pub(crate) async fn keys(&self, text: &str) {
        for value in text.chars() {
            self.key(value).await;
        }
    }

    /// Holds the Escape key for longer than three seconds.
    pub(crate) async fn hold_escape(&self) {
        let value = Key::Escape.into();
        let hold = KeyActions::new("keyboard".to_owned())
            .then(KeyAction::Down { value })
            .then(KeyAction::Pause {
                duration: std::time::Duration::from_millis(3_500),
            })
            .then(KeyAction::Up { value });
        self.perform_actions(hold).await.expect("a key can be held");
    }

    /// Moves the focus with the Tab key until it is on what is at this `XPath`.
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
