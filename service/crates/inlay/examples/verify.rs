//! `verify URL KEY [KEY]` verifies a tap with the file key, and the meta key if it is another one.
//! It finds the template by itself, and does not check the host. Accept each counter only once.

use inlay::key::SomeKey;
use inlay::solver::{Puzzle, solve};

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    println!("{}", verdict(&arguments)?);
    Ok(())
}

fn verdict(arguments: &[String]) -> Result<String, String> {
    let Some((url, keys @ [_, ..])) = arguments.split_first() else {
        return Err("Usage: verify URL KEY [KEY]. Quote the URL: shells cut it at &.".into());
    };
    let keys: Result<Vec<_>, _> = keys.iter().map(|key| SomeKey::from_hex(key)).collect();
    let keys = keys.map_err(|error| format!("A key cannot be read: {error}."))?;
    let found = solve(&Puzzle::of(&[url], &keys), &mut || true).candidates;
    let proved = found.iter().find(|one| one.proved_by > 0);
    match proved.map(|one| one.reads[0]) {
        Some((Some(uid), Some(n @ 1..))) => Ok(format!("Genuine. UID {uid}, counter {n}.")),
        Some(_) => Err("Not genuine: always the same. Switch on the chip's mirrors.".into()),
        None => Err("Not genuine. Check the keys, and paste the URL as the chip wrote it.".into()),
    }
}

#[cfg(test)]
#[path = "verify/tests.rs"]
mod tests;
