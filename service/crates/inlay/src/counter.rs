//! Has this code been used before? A chip's read counter rises by one with every read and never
//! falls. So a code is accepted once, and only after those before it.

/// The stored state of an inlay's counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterState {
    /// The last accepted counter; 0 if none was accepted (a chip's first read is 1).
    pub last: u32,
    /// Bit `i` is set if counter `last - i` was accepted. It only decides whether a refused code
    /// counts as replayed or as out of order.
    pub seen: u64,
}

/// The verdict on an authentic code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// Not seen before, and higher than all accepted counters.
    Accepted {
        /// The state to store.
        state: CounterState,
        /// The last accepted counter until now; a difference above 1 is a gap (reads that
        /// never reached the service).
        previous: u32,
    },
    /// Accepted before, or 64 or more behind the last one, where this is no longer recorded.
    Replayed {
        /// The last accepted counter.
        last: u32,
    },
    /// Never accepted, but a later one was. Also the counter 0, which no chip sends.
    OutOfOrder {
        /// The last accepted counter.
        last: u32,
    },
}

impl CounterState {
    /// Decides on an authentic code with this counter. Of all codes of an inlay, at most one for
    /// each counter is accepted, and accepted counters only rise.
    #[must_use]
    pub fn accept(self, counter: u32) -> Acceptance {
        let last = self.last;
        if counter == 0 {
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
}

/// By how much the counter of a chip without a MAC may rise in a day. Neither a forged FFFFFF nor
/// 20,000 small steps must lock the real tag out.
pub const DAILY_RISE_MAX: u32 = 1_000;

/// The highest first counter of a chip without a MAC. Its memory is specified for 100,000 writes, and
/// each read is one. A forged FFFFFF must not be the last counter of a tag that nobody tapped before.
pub const FIRST_MAX: u32 = 1_000_000;

/// The stored counter of a chip whose codes prove nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MirrorState {
    /// The highest counter that was shown; 0 if none was.
    pub last: u32,
    /// The day of its last rise, since the Unix epoch.
    pub day: i64,
    /// By how much it rose on that day.
    pub risen: u32,
}

impl MirrorState {
    /// The state after this counter was shown on `day`. `None` if the state stays: the counter did
    /// not rise, or it rose by more than allowed ([`Self::jumps`]). The first counter is no rise,
    /// because nobody knows the one before it.
    #[must_use]
    pub fn show(self, counter: u32, day: i64) -> Option<Self> {
        let rise = counter.checked_sub(self.last).filter(|rise| *rise > 0)?;
        if self.last == 0 {
            return (counter <= FIRST_MAX).then_some(Self {
                last: counter,
                day,
                risen: 0,
            });
        }
        let risen = self.risen_on(day).saturating_add(rise);
        (risen <= DAILY_RISE_MAX).then_some(Self {
            last: counter,
            day,
            risen,
        })
    }

    /// Whether the counter would rise by more than it may on `day`, or is too high as the first one.
    #[must_use]
    pub fn jumps(self, counter: u32, day: i64) -> bool {
        counter > self.last && self.show(counter, day).is_none()
    }

    fn risen_on(self, day: i64) -> u32 {
        if self.day == day { self.risen } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::code::COUNTER_MAX;

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
    fn a_counter_of_32_bits_reaches_its_end() {
        let state = accepted(CounterState::default(), u32::MAX - 1);
        let state = accepted(state, u32::MAX);
        let replayed = Acceptance::Replayed { last: u32::MAX };
        assert_eq!(state.accept(u32::MAX), replayed);
    }

    #[test]
    fn without_a_mac_a_counter_rises_by_so_much_a_day_and_no_further() {
        let first = MirrorState::default().show(1, 7).unwrap();
        let state = first.show(400, 7).unwrap();
        assert_eq!(state.show(400, 7), None, "it did not rise");
        assert!(!state.jumps(400, 7) && !state.jumps(3, 7));
        let full = state.show(DAILY_RISE_MAX + 1, 7).unwrap();
        assert!(full.jumps(DAILY_RISE_MAX + 2, 7) && full.jumps(0x00FF_FFFF, 7));
        let next = full.show(DAILY_RISE_MAX + 2, 8).unwrap();
        assert_eq!((next.last, next.risen), (DAILY_RISE_MAX + 2, 1));
        assert!(next.jumps(0x00FF_FFFF, 9));
    }

    #[test]
    fn the_first_counter_without_a_mac_is_no_jump_unless_no_chip_was_read_so_often() {
        let new = MirrorState::default();
        assert!(!new.jumps(0, 7) && new.show(0, 7).is_none());
        let first = new.show(0x3F31, 7).unwrap();
        assert_eq!((first.last, first.day, first.risen), (0x3F31, 7, 0));
        // A whole day's rise is left.
        assert!(!first.jumps(0x3F31 + DAILY_RISE_MAX, 7));
        assert!(first.jumps(0x3F31 + DAILY_RISE_MAX + 1, 7));
        assert!(!new.jumps(FIRST_MAX, 7) && new.jumps(FIRST_MAX + 1, 7));
        assert!(new.jumps(0x00FF_FFFF, 7) && new.show(0x00FF_FFFF, 7).is_none());
    }

    proptest! {
        /// The model is the set of counters accepted so far. Steps are near the last one and over
        /// the whole range, so that the window is crossed in both directions.
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
                    Acceptance::Replayed { last: reported } => {
                        prop_assert_eq!(reported, last);
                        prop_assert!(model.contains(&counter) || last - counter >= 64);
                    }
                    Acceptance::OutOfOrder { last: reported } => {
                        prop_assert_eq!(reported, last);
                        prop_assert!(!model.contains(&counter) && counter <= last);
                    }
                }
                prop_assert_eq!(state.last, model.last().copied().unwrap_or(0));
            }
        }
    }
}
