//! The report for programs: `JUnit` XML, which most systems of continuous integration read.

use std::io;

use quick_xml::Writer;

use super::check::{Finding, Outcome};
use super::report::count;

/// The XML of a run. `suite` names its kind, and is the class of each test case.
pub(super) fn xml(suite: &str, findings: &[Finding]) -> io::Result<Vec<u8>> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let total = findings.len().to_string();
    let failures = count(findings, Outcome::Failed).to_string();
    let skipped = count(findings, Outcome::NotChecked).to_string();
    let counts = [
        ("name", suite),
        ("tests", total.as_str()),
        ("failures", failures.as_str()),
        ("errors", "0"),
        ("skipped", skipped.as_str()),
    ];
    let suites = writer.create_element("testsuites");
    suites.write_inner_content(|writer| {
        let element = writer.create_element("testsuite").with_attributes(counts);
        element.write_inner_content(|writer| {
            let mut cases = findings.iter();
            cases.try_for_each(|found| case(writer, suite, found))
        })?;
        Ok(())
    })?;
    let mut xml = writer.into_inner();
    xml.push(b'\n');
    Ok(xml)
}

fn case(writer: &mut Writer<Vec<u8>>, suite: &str, found: &Finding) -> io::Result<()> {
    let detail = legal(&found.verdict.detail);
    let named = [("classname", suite), ("name", found.name)];
    let element = writer.create_element("testcase").with_attributes(named);
    element.write_inner_content(|writer| {
        let properties = writer.create_element("properties");
        properties.write_inner_content(|writer| {
            let source = [("name", "source"), ("value", found.source)];
            let property = writer.create_element("property");
            property.with_attributes(source).write_empty()?;
            Ok(())
        })?;
        let result = match found.verdict.outcome {
            Outcome::Passed => return Ok(()),
            Outcome::Failed => "failure",
            Outcome::NotChecked => "skipped",
        };
        let result = writer.create_element(result);
        let message = ("message", detail.as_str());
        result.with_attribute(message).write_empty()?;
        Ok(())
    })?;
    Ok(())
}

/// The text with a replacement for each character that XML 1.0 cannot contain (its section 2.2).
/// Line ends are replaced, too: a reader of an attribute changes them.
fn legal(text: &str) -> String {
    let illegal = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    text.replace(illegal, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::conformance::check::{failed, not_checked, passed};

    #[test]
    fn xml_escapes_the_words_of_a_subject() {
        let found = |name, verdict| Finding {
            name,
            source: "4.1 & 7",
            verdict,
        };
        let findings = [
            found("one", passed("It holds.")),
            found("two", failed("It says <a href=\"x\">\u{1}]]>\n.")),
            found("three", not_checked("It needs 'more'.")),
        ];
        let xml = String::from_utf8(xml("suite", &findings).unwrap()).unwrap();
        let open = r#"<testsuite name="suite" tests="3" failures="1" errors="0" skipped="1">"#;
        assert!(xml.contains(open), "{xml}");
        assert!(xml.contains(r#"<property name="source" value="4.1 &amp; 7"/>"#));
        let failure =
            "<failure message=\"It says &lt;a href=&quot;x&quot;&gt;\u{fffd}]]&gt;\u{fffd}.\"/>";
        assert!(xml.contains(failure), "{xml}");
        assert!(
            xml.contains(r#"<skipped message="It needs &apos;more&apos;."/>"#),
            "{xml}"
        );
    }
}
