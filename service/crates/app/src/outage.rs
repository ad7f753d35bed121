//! Warnings of loops that try again until it works.

/// The failures in a row of a loop. The first one is worth a warning, and the others would fill the
/// log with the same line.
#[derive(Debug, Default)]
pub(crate) struct Outage {
    lasts: bool,
}

impl Outage {
    /// Notes a failure. Returns whether it is the first one in a row.
    pub(crate) fn begins(&mut self) -> bool {
        !std::mem::replace(&mut self.lasts, true)
    }

    /// Notes a success. Returns whether it is the first one after a failure.
    pub(crate) fn ends(&mut self) -> bool {
        std::mem::take(&mut self.lasts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_begins_at_the_first_failure_and_ends_at_the_first_success() {
        let mut outage = Outage::default();
        assert!(!outage.ends(), "nothing failed");
        assert!(outage.begins() && !outage.begins() && !outage.begins());
        assert!(outage.ends() && !outage.ends());
        assert!(outage.begins(), "another one");
    }
}
