//! Verifies the URL of a tap: `verify URL KEY`, or `verify URL KEY KEY` if the meta key differs
//! from the file key. It finds the template by itself, so it does not check the URL's host.

use inlay::key::SomeKey;
use inlay::solver::{Puzzle, solve};

const USAGE: &str = "Usage: verify URL KEY [KEY]. Quote the URL, because shells cut it at &.";
const NO_KEY_FITS: &str =
    "Not genuine: no key fits. Check the keys, and paste the URL as the chip wrote it.";
const REPEATS: &str =
    "Not genuine: the URL is the same on every tap. Switch on the chip's UID and counter mirrors.";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let verdict = verdict(&arguments).unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(1)
    });
    println!("{verdict}");
}

fn verdict(arguments: &[String]) -> Result<String, String> {
    let Some((url, keys @ [_, ..])) = arguments.split_first() else {
        return Err(USAGE.to_owned());
    };
    let keys: Result<Vec<_>, _> = keys.iter().map(|key| SomeKey::from_hex(key)).collect();
    let keys = keys.map_err(|error| format!("A key cannot be read: {error}. {USAGE}"))?;
    let puzzle = Puzzle {
        urls: &[url],
        keys: &keys,
        master_keys: &[],
    };
    let solution = solve(&puzzle, &mut || true);
    let proved = solution.candidates.iter().find(|one| one.proved_by > 0);
    let (Some(uid), Some(counter @ 1..)) = proved.ok_or(NO_KEY_FITS)?.reads[0] else {
        return Err(REPEATS.to_owned());
    };
    Ok(format!(
        "Genuine. UID {uid}, counter {counter}. Accept each counter only once."
    ))
}

#[cfg(test)]
mod tests {
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
        let counter_off =
            "https://tags.example/?m=046910EA841390x000000xCO00000000x146F1F74FFB89569";
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
}
