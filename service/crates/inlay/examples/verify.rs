//! `verify URL KEY [KEY]` verifies a tap with the file key, and the meta key if it is another one. It
//! finds the template by itself, so it does not check the URL's host.

use inlay::key::SomeKey;
use inlay::solver::{Puzzle, solve};

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
        return Err("Usage: verify URL KEY [KEY]. Quote the URL: shells cut it at &.".into());
    };
    let keys: Result<Vec<_>, _> = keys.iter().map(|key| SomeKey::from_hex(key)).collect();
    let puzzle = Puzzle {
        urls: &[url],
        keys: &keys.map_err(|error| format!("A key cannot be read: {error}."))?,
        master_keys: &[],
    };
    let found = solve(&puzzle, &mut || true).candidates;
    match found.iter().find(|one| one.proved_by > 0) {
        None => Err("Not genuine. Check the keys, and paste the URL as the chip wrote it.".into()),
        Some(proved) => match proved.reads[0] {
            (Some(uid), Some(counter @ 1..)) => Ok(format!(
                "Genuine. UID {uid}, counter {counter}. Accept each counter only once."
            )),
            _ => Err(
                "Not genuine: always the same. Switch on the chip's UID and counter mirrors."
                    .into(),
            ),
        },
    }
}

#[cfg(test)]
#[path = "verify/tests.rs"]
mod tests;
