//! The program's verdicts on published URLs, and its errors.

use super::verdict;

/// NXP AN12196 rev 1.8, tables 3 and 5.
const URL: &str = "https://tags.example/?p=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086";
const KEY: &str = "00000000000000000000000000000000";

fn run(arguments: &[&str]) -> Result<String, String> {
    let arguments = arguments.iter().copied().map(str::to_owned);
    verdict(&arguments.collect::<Vec<_>>())
}

#[test]
fn a_published_url_is_genuine() {
    let verdict = run(&[URL, KEY]).unwrap();
    assert!(
        verdict.starts_with("Genuine. UID 04DE5F1EACC040, counter 61."),
        "{verdict}"
    );
}

#[test]
fn errors_name_the_way_out() {
    let other_key = KEY.replace('0', "1");
    let edited = URL.replace("7086", "7087");
    let counter_off = "https://tags.example/?m=046910EA841390x000000xCO00000000x146F1F74FFB89569";
    for (arguments, way_out) in [
        (&[][..], "Usage: verify URL KEY"),
        (&[URL], "Usage: verify URL KEY"),
        (&[URL, "00"], "32 hex digits"),
        (&[URL, &other_key], "Check the keys"),
        (&[&edited, KEY], "Check the keys"),
        (&["no URL", KEY], "as the chip wrote it"),
        (&[counter_off, KEY], "Switch on the chip's"),
    ] {
        let error = run(arguments).unwrap_err();
        assert!(error.contains(way_out), "{arguments:?}: {error}");
    }
}
