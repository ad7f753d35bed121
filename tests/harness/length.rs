//! The length of long tests: short by default, long in a soak.

/// Returns `short`, or `soak` if the environment has `TAPDESK_TEST_LENGTH=soak`.
pub fn length<T>(short: T, soak: T) -> T {
    if std::env::var("TAPDESK_TEST_LENGTH").is_ok_and(|length| length == "soak") {
        soak
    } else {
        short
    }
}

/// The number of cases of a test that runs `short` cases by default: ten times as many in a soak.
pub fn cases(short: u32) -> u32 {
    length(short, short * 10)
}
