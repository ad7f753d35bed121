//! The product seen from outside: what the black-box tests share.

/// How many cases a test of `short` cases runs: ten times as many in a soak
/// (`TAPDESK_TEST_LENGTH=soak`).
pub fn cases(short: u32) -> u32 {
    let soak = std::env::var("TAPDESK_TEST_LENGTH").is_ok_and(|length| length == "soak");
    if soak { short * 10 } else { short }
}
