//! Arguments in commands that people copy from an output.

/// `text` as one word of a shell: in quotes if a shell would split or change it.
///
/// A path of a data folder has spaces on some systems.
pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_if_a_shell_would_change_it() {
        for plain in ["/var/lib/tapdesk.db", "sqlite:data/ü.db", "http://a:1"] {
            assert_eq!(shell_word(plain), plain);
        }
        assert_eq!(shell_word("http://[::1]:1"), "'http://[::1]:1'");
        assert_eq!(shell_word("my data/a.db"), "'my data/a.db'");
        assert_eq!(shell_word("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(shell_word(""), "''");
    }
}
