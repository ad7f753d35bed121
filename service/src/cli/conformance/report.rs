//! The report for people: a table of all checks, then the counts.

use std::io::{self, Write};

use tapdesk_service::plural::counted;

use super::check::{Finding, Outcome};

/// Writes a line for each check: its result, name, source and detail.
pub(super) fn write(findings: &[Finding], out: &mut impl Write) -> io::Result<()> {
    let widest = |column: fn(&Finding) -> &str| {
        let widths = findings.iter().map(|found| column(found).chars().count());
        widths.max().unwrap_or_default()
    };
    let (names, sources) = (widest(|found| found.name), widest(|found| found.source));
    for found in findings {
        let result = found.verdict.outcome.word();
        // The subject's answers are quoted, so remove characters that move the cursor of a terminal.
        let detail = found.verdict.detail.replace(char::is_control, "\u{fffd}");
        let (name, source) = (found.name, found.source);
        writeln!(
            out,
            "{result:<11}  {name:<names$}  {source:<sources$}  {detail}"
        )?;
    }
    writeln!(out)?;
    writeln!(out, "{}", counts(findings))
}

/// The sentence with the number of checks for each result.
pub(super) fn counts(findings: &[Finding]) -> String {
    let [passed, failed, unchecked] = [Outcome::Passed, Outcome::Failed, Outcome::NotChecked]
        .map(|outcome| count(findings, outcome));
    let checks = counted(findings.len() as u64, "check");
    format!("{checks}: {passed} passed, {failed} failed, {unchecked} not checked.")
}

/// The number of checks with this result.
pub(super) fn count(findings: &[Finding], outcome: Outcome) -> usize {
    let found = findings.iter();
    found
        .filter(|found| found.verdict.outcome == outcome)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::conformance::check::{failed, not_checked, passed};

    #[test]
    fn a_report_has_a_line_for_each_check_and_no_control_characters() {
        let found = |name, verdict| Finding {
            name,
            source: "a page",
            verdict,
        };
        let findings = [
            found("one", passed("It holds.")),
            found("longer", failed("It says \u{1b}[2J.")),
            found("last", not_checked("It needs another tap.")),
        ];
        let mut out = Vec::new();
        write(&findings, &mut out).unwrap();
        let expected = "\
passed       one     a page  It holds.
FAILED       longer  a page  It says \u{fffd}[2J.
not checked  last    a page  It needs another tap.

3 checks: 1 passed, 1 failed, 1 not checked.
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
