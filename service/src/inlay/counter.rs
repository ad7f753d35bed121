//! Has this code been used before? A chip's read counter rises by one with every
//! read and never comes back, so a code is accepted once, and only after those before it.

use crate::inlay::code::COUNTER_MAX;

/// What is remembered of an inlay's counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterState {
    /// The last accepted counter; 0 while there is none (a chip's first read is 1).
    pub last: u32,
    /// Bit `i` is set where counter `last - i` was accepted. It decides nothing but
    /// the name of a refusal: a replay, or a code that comes out of order.
    pub seen: u64,
}

/// What becomes of an authentic code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// First seen, and later than all before it.
    Accepted {
        /// What to remember now.
        state: CounterState,
        /// The last accepted counter until now; a difference above 1 is a gap (reads that
        /// never reached the service).
        previous: u32,
    },
    /// Accepted before, or so far behind (64 and more) that this can no longer be told.
    Replayed {
        /// The last accepted counter.
        last: u32,
    },
    /// Never accepted, but a later one was. Also a counter that no chip tells: 0, or
    /// above [`COUNTER_MAX`].
    OutOfOrder {
        /// The last accepted counter.
        last: u32,
    },
}

impl CounterState {
    /// What becomes of an authentic code with this counter. Of all codes of an inlay,
    /// one for each counter is ever accepted, and what is accepted only rises.
    #[must_use]
    pub fn accept(self, counter: u32) -> Acceptance {
        let last = self.last;
        if counter == 0 || counter > COUNTER_MAX {
            Acceptance::OutOfOrder { last }
        } else if counter > last {
            let kept = self.seen.checked_shl(counter - last).unwrap_or(0);
            let state = Self {
                last: counter,
                seen: kept | 1,
            };
            Acceptance::Accepted {
                state,
                previous: last,
            }
        } else {
            // Below the window every bit counts as set.
            let seen = self.seen.checked_shr(last - counter).unwrap_or(1);
            if counter == last || seen & 1 == 1 {
                Acceptance::Replayed { last }
            } else {
                Acceptance::OutOfOrder { last }
            }
        }
    }

    /// Whether the chip's counter has reached its end: it makes no further codes.
    pub fn used_up(&self) -> bool {
        self.last >= COUNTER_MAX
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn accepted(state: CounterState, counter: u32) -> CounterState {
        match state.accept(counter) {
            Acceptance::Accepted { state, previous } => {
                assert!(previous < counter);
                state
            }
            refused => panic!("{counter} after {state:?}: {refused:?}"),
        }
    }

    #[test]
    fn the_first_tap_is_1_and_0_is_never_accepted() {
        let new = CounterState::default();
        assert_eq!(new.accept(0), Acceptance::OutOfOrder { last: 0 });
        assert_eq!(accepted(new, 1), CounterState { last: 1, seen: 1 });
    }

    #[test]
    fn a_code_behind_the_last_is_a_replay_where_it_was_seen_and_out_of_order_where_not() {
        let state = accepted(accepted(CounterState::default(), 5), 8);
        let last = 8;
        assert_eq!(state.accept(8), Acceptance::Replayed { last });
        assert_eq!(state.accept(5), Acceptance::Replayed { last });
        assert_eq!(state.accept(6), Acceptance::OutOfOrder { last });
    }

    #[test]
    fn what_is_64_behind_counts_as_replayed() {
        let state = accepted(CounterState::default(), 100);
        assert_eq!(state.accept(37), Acceptance::OutOfOrder { last: 100 });
        assert_eq!(state.accept(36), Acceptance::Replayed { last: 100 });
    }

    #[test]
    fn at_its_end_the_counter_is_used_up() {
        let state = accepted(CounterState::default(), COUNTER_MAX - 1);
        assert!(!state.used_up());
        let state = accepted(state, COUNTER_MAX);
        assert!(state.used_up());
        let refused = Acceptance::OutOfOrder { last: COUNTER_MAX };
        assert_eq!(state.accept(COUNTER_MAX + 1), refused);
    }

    proptest! {
        /// The model is the set of counters accepted so far. Steps near the last one
        /// and over the whole range, so that the window is crossed in both directions.
        #[test]
        fn each_counter_is_accepted_once_and_only_upwards(
            steps in prop::collection::vec((any::<bool>(), -70i64..70, 0..=COUNTER_MAX), 1..200)
        ) {
            let mut state = CounterState::default();
            let mut model = BTreeSet::new();
            for (near, distance, anywhere) in steps {
                let beside = (i64::from(state.last) + distance).clamp(0, i64::from(COUNTER_MAX));
                let counter = if near { u32::try_from(beside).unwrap() } else { anywhere >> 8 };
                let last = model.last().copied().unwrap_or(0);
                match state.accept(counter) {
                    Acceptance::Accepted { state: next, previous } => {
                        prop_assert!(counter > last);
                        prop_assert_eq!(previous, last);
                        prop_assert!(model.insert(counter));
                        state = next;
                    }
                    Acceptance::Replayed { last: told } => {
                        prop_assert_eq!(told, last);
                        prop_assert!(model.contains(&counter) || last - counter >= 64);
                    }
                    Acceptance::OutOfOrder { last: told } => {
                        prop_assert_eq!(told, last);
                        prop_assert!(!model.contains(&counter) && counter <= last);
                    }
                }
                prop_assert_eq!(state.last, model.last().copied().unwrap_or(0));
            }
        }
    }
}
