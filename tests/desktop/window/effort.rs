//! Counts the clicks and keys that a person needs for a task, while a story does it.

use std::cell::Cell;

use tapdesk_service::clock::Stopwatch;

/// Clicks and keys in a session so far, in all of its windows.
#[derive(Debug, Default)]
pub(crate) struct Effort {
    /// Clicks with the mouse. Placing the cursor in a field takes one; an option of a list and a
    /// file take two.
    clicks: Cell<u32>,
    /// Keys instead of clicks. A text counts once, whatever its length.
    keys: Cell<u32>,
}

/// A person's task, from its beginning on.
pub(crate) struct Way<'d> {
    name: &'static str,
    effort: &'d Effort,
    /// Clicks and keys before the task.
    before: (u32, u32),
    watch: Stopwatch,
}

impl Effort {
    /// Adds the clicks that a person would make.
    pub(super) fn clicked(&self, times: u32) {
        self.clicks.set(self.clicks.get() + times);
    }

    /// Adds a key, a chord or a text.
    pub(super) fn pressed(&self) {
        self.keys.set(self.keys.get() + 1);
    }

    fn so_far(&self) -> (u32, u32) {
        (self.clicks.get(), self.keys.get())
    }

    /// Begins the task of this name.
    pub(super) fn begin(&self, name: &'static str) -> Way<'_> {
        Way {
            name,
            effort: self,
            before: self.so_far(),
            watch: Stopwatch::start(),
        }
    }
}

impl Way<'_> {
    /// Prints the clicks, keys and seconds of the task, and asserts the limits of clicks and keys.
    /// The seconds depend on the machine.
    pub(crate) fn done(self, most_clicks: u32, most_keys: u32) {
        let (clicks, keys) = self.effort.so_far();
        let (clicks, keys) = (clicks - self.before.0, keys - self.before.1);
        let seconds = self.watch.elapsed().as_secs_f64();
        let name = self.name;
        println!("{name}: {clicks} clicks, {keys} keys, {seconds:.1} s");
        assert!(
            clicks <= most_clicks && keys <= most_keys,
            "{name}: {clicks} clicks of at most {most_clicks}, {keys} keys of at most {most_keys}"
        );
    }
}
