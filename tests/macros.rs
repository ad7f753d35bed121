//! Macros with strangers' values.

mod html;
mod location;

use std::borrow::Cow;

use tapdesk_service::macros::{Macro, Scope};

/// A scope that returns the same value for every macro, except the interaction's key.
struct Says<'a>(&'a str);

impl Scope for Says<'_> {
    fn value(&self, _: &Macro) -> Option<Cow<'_, str>> {
        Some(self.0.into())
    }
}

#[test]
fn the_corpus_has_at_least_200_values() {
    let values: std::collections::BTreeSet<_> = tapdesk_tests::injections().into_iter().collect();
    assert!(values.len() >= 200, "{}", values.len());
}
