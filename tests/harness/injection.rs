//! Malicious input of strangers.

/// Values that try to become markup, script, style, a header, a template or
/// another URL (`tests/vectors/injection.txt`).
pub fn injections() -> Vec<String> {
    let lines = include_str!("../vectors/injection.txt").lines();
    let values = lines.filter(|line| line.starts_with('"'));
    values
        .map(|line| serde_json::from_str(line).expect("each value is a JSON string"))
        .collect()
}
