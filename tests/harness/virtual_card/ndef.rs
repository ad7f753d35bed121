//! NDEF messages in the form that is written to a chip (NFC Forum, NDEF 1.0 and URI RTD 1.0).

/// A message with one URI record; `https://` and `http://` are abbreviated as usual.
///
/// # Panics
/// When the URL has more than 250 characters.
pub fn uri(url: &str) -> Vec<u8> {
    let (prefix, rest) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
        (Some(rest), _) => (0x04, rest),
        (_, Some(rest)) => (0x03, rest),
        _ => (0x00, url),
    };
    let length = u8::try_from(rest.len() + 1).expect("the URL fits a short record");
    let mut message = vec![0xD1, 0x01, length, b'U', prefix];
    message.extend_from_slice(rest.as_bytes());
    message
}

/// The URL of a message with one URI record; `None` for another message.
pub fn url(message: &[u8]) -> Option<String> {
    let (&[0xD1, 0x01, length, b'U', prefix], rest) = message.split_first_chunk()? else {
        return None;
    };
    let prefixes = ["", "http://www.", "https://www.", "http://", "https://"];
    let prefix = prefixes.get(usize::from(prefix))?;
    let whole = usize::from(length) == rest.len() + 1;
    whole.then(|| format!("{prefix}{}", String::from_utf8_lossy(rest)))
}
