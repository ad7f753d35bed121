//! How long the long tests are: short by default, long in a soak.

/// `short`, or `soak` if the environment says `TAPDESK_TEST_LENGTH=soak`.
pub fn length<T>(short: T, soak: T) -> T {
    if std::env::var("TAPDESK_TEST_LENGTH").is_ok_and(|length| length == "soak") {
        soak
    } else {
        short
    }
}

/// How many cases a test of `short` cases runs: ten times as many in a soak.
pub fn cases(short: u32) -> u32 {
    length(short, short * 10)
}
