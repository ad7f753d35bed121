//! Macros that can never have a value, found before a text is saved.
//!
//! A template shows nothing in place of a macro that does not exist, and shows an open `{{`
//! literally. Visitors would see the gap, but the owner might never notice it.

use super::template::{Written, operands};
use super::{FIXED, KEYED, Macro};
use crate::tag::PropertyKey;

/// Names that people spell out, with their macros.
const SPELLED_OUT: [(&str, &str); 1] = [("interaction:rolling_key", "interaction:rk")];

/// Longest part of a text that a message shows, in characters.
const SHOWN_MAX: usize = 40;

/// A macro that can never have a value. Each is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misspelt {
    /// No macro has this name.
    #[error("There is no macro {{{{{name}}}}}. The nearest is {{{{{nearest}}}}}.")]
    Unknown {
        /// The name as written, cut if it is long.
        name: String,
        /// The name that was probably meant.
        nearest: String,
    },
    /// It has no name between its braces or next to a `||`.
    #[error("The macro {0} names nothing. Write for example {{{{tag:name}}}}.")]
    Nothing(String),
    /// Its `{{` does not become a macro.
    #[error(
        "The macro {0} cannot be read: it ends in }}}}, with || between names and \"fallbacks\". \
         Write \\{{{{ for two braces that are no macro."
    )]
    Open(String),
}

/// Checks that each macro of a text of a page or a redirect can have a value.
pub fn check(text: &str) -> Result<(), Misspelt> {
    check_for(text, Macro::is_of_tap)
}

/// Checks that each macro of a text of a label can have a value.
pub fn check_of_label(text: &str) -> Result<(), Misspelt> {
    check_for(text, Macro::is_of_label)
}

/// The macros that a text can have.
type Known = fn(&Macro) -> bool;

fn check_for(text: &str, known: Known) -> Result<(), Misspelt> {
    let mut rest = text;
    while let Some((before, braced)) = rest.find("{{").map(|at| rest.split_at(at)) {
        let inner = &braced["{{".len()..];
        rest = if before.ends_with('\\') {
            inner
        } else if let Some((written, after)) = operands(inner) {
            let expression = &braced[..braced.len() - after.len()];
            check_operands(&written, expression, known)?;
            after
        } else if inner.starts_with('{') {
            // A brace before the two of a macro.
            &braced["{".len()..]
        } else {
            return Err(Misspelt::Open(shown(braced)));
        };
    }
    Ok(())
}

fn check_operands(
    operands: &[Written<'_>],
    expression: &str,
    known: Known,
) -> Result<(), Misspelt> {
    for operand in operands {
        match operand {
            Written::Name("") => return Err(Misspelt::Nothing(shown(expression))),
            Written::Name(name) if !can_be_filled(name, known) => {
                return Err(Misspelt::Unknown {
                    name: shown(name),
                    nearest: nearest(name, known),
                });
            }
            Written::Name(_) | Written::Text(_) => {}
        }
    }
    Ok(())
}

/// Whether a tag or a tap can have a value for the macro: the macro exists, and its key is a valid
/// key.
fn can_be_filled(name: &str, known: Known) -> bool {
    match name.parse() {
        Ok(Macro::TagAttribute(key) | Macro::TagData(key) | Macro::TagVariable(key)) => {
            PropertyKey::parse(&key).is_ok()
        }
        // The key of a tap and the mark of a page are never passed on.
        Ok(Macro::Query(ref parameter)) if matches!(&**parameter, "rk" | "again") => false,
        Ok(parsed) => known(&parsed),
        Err(_) => false,
    }
}

/// The beginning of a text, in one line.
fn shown(text: &str) -> String {
    let mut line: String = text.chars().take(SHOWN_MAX).collect();
    line = line.replace(char::is_control, " ");
    if line.len() < text.len() {
        line.push('…');
    }
    line
}

/// The macro that was probably meant: the one with the fewest typing errors between it and `name`.
/// Of a name that resembles none, only the last word counts: a macro that ends in it, or else the
/// attribute with that key.
fn nearest(name: &str, known: Known) -> String {
    // No name is that long. The limit also bounds the time for comparing an endless text.
    let name: String = name.chars().take(128).collect();
    let name = separated(&name);
    let (owner, key) = name.rsplit_once(':').unwrap_or(("", &name));
    let key = key_of(key);
    let of_fixed = FIXED
        .iter()
        .filter(|(_, fixed)| known(fixed))
        .map(|(fixed, _)| {
            // A name without its first word means the same macro.
            let short = fixed.split_once(':').map_or(*fixed, |(_, rest)| rest);
            let distance = distance(&name, fixed).min(distance(&name, short) + 1);
            (distance, (*fixed).to_owned())
        });
    let of_spelled_out = SPELLED_OUT
        .iter()
        .filter(|(_, fixed)| can_be_filled(fixed, known))
        .map(|(long, fixed)| (distance(&name, long), (*fixed).to_owned()));
    let keyed = KEYED.iter().filter(|keyed| {
        let example = format!("{keyed}x").parse();
        example.is_ok_and(|example| known(&example))
    });
    let of_keyed = keyed.filter_map(|keyed| {
        let class = keyed.trim_end_matches(':');
        let short = class.split_once(':').map_or(class, |(_, rest)| rest);
        let candidate = format!("{keyed}{}", key.as_deref()?);
        let distance = distance(owner, class).min(distance(owner, short) + 1);
        (!owner.is_empty()).then_some((distance, candidate))
    });
    let (errors, found) = of_fixed
        .chain(of_spelled_out)
        .chain(of_keyed)
        .min_by_key(|(errors, _)| *errors)
        .unwrap_or_default();
    match key {
        Some(key) if errors > name.chars().count() / 2 => {
            last_word(&key, known).map_or_else(|| format!("{}{key}", KEYED[0]), str::to_owned)
        }
        _ => found,
    }
}

/// The first macro that ends in `word`, as `tag:id` does in `id`.
fn last_word(word: &str, known: Known) -> Option<&'static str> {
    let ends = |name: &str| name.rsplit(':').next() == Some(word);
    let mut fixed = FIXED.iter().filter(|(_, fixed)| known(fixed));
    fixed.find(|(name, _)| ends(name)).map(|(name, _)| *name)
}

/// A name as it is probably meant: in lower case up to its key, with `:` between its words.
fn separated(name: &str) -> String {
    let colons: String = name
        .chars()
        .map(|c| match c {
            '/' | '.' if !name.contains(':') => ':',
            c => c,
        })
        .filter(|c| !c.is_whitespace())
        .collect();
    match colons.match_indices(':').nth(1) {
        // Keys are case sensitive.
        Some((at, _)) => colons[..at].to_ascii_lowercase() + &colons[at..],
        None => colons.to_ascii_lowercase(),
    }
}

/// The text as a key of a property, without characters that keys cannot have; `None` if no
/// character is left.
fn key_of(text: &str) -> Option<String> {
    let kept = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let key: String = text.chars().filter(kept).take(64).collect();
    PropertyKey::parse(&key).ok().map(|key| key.to_string())
}

/// How many letters must be added, removed, replaced or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut cost = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                cost = cost.min(before[j - 2] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_every_macro_can_fill_is_saved() {
        for text in [
            "",
            "no macro",
            "a } b }} { c",
            "{{tag:name}}",
            "{{ tag:name }}",
            "{{ tag:title || tag:name || \"none\" }}",
            r#"{{ tag:title || "a}}b{{c||d \" {{" }}"#,
            "{{\"only text\"}}",
            "{{tag:attribute:sku}} {{tag:data:a.b-c_D}} {{tag:variable:owner}}",
            "{{{tag:id}}}",
            "{{{{tag:id}}}}",
            r"\{{ anything }} \{{",
            r"C:\{{",
            "{ {tag:id} }",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        for (name, fixed) in FIXED {
            let text = format!("{{{{{name}}}}}");
            assert_eq!(check(&text).is_ok(), fixed.is_of_tap(), "{name}");
            assert_eq!(check_of_label(&text).is_ok(), fixed.is_of_label(), "{name}");
        }
        let refused = check_of_label("{{interaction:id}}")
            .unwrap_err()
            .to_string();
        assert!(refused.ends_with("The nearest is {{tag:id}}."), "{refused}");
    }

    #[test]
    fn a_misspelt_macro_is_named_with_the_nearest_one() {
        for (name, nearest) in [
            ("tag:atribute:sku", "tag:attribute:sku"),
            ("tag:attributes:SKU", "tag:attribute:SKU"),
            ("tag:attribut:sku", "tag:attribute:sku"),
            ("attribute:sku", "tag:attribute:sku"),
            ("Tag:Attribute:Sku", "tag:attribute:Sku"),
            ("tag:attribute:s ku", "tag:attribute:sku"),
            ("tag:attribute:größe", "tag:attribute:gre"),
            ("tag:varaible:owner", "tag:variable:owner"),
            ("variable:owner", "tag:variable:owner"),
            ("tag.variable.owner", "tag:variable:owner"),
            ("tag:date:colour", "tag:data:colour"),
            ("tag:nmae", "tag:name"),
            ("tag:titel", "tag:title"),
            ("TAG:NAME", "tag:name"),
            ("tag name", "tag:name"),
            ("title", "tag:title"),
            ("rk", "interaction:rk"),
            ("interaction:rolling_key", "interaction:rk"),
            ("interaktion:rk", "interaction:rk"),
            (
                "interaction:verification",
                "interaction:verification:result",
            ),
            (
                "interaction:verification:resutl",
                "interaction:verification:result",
            ),
            ("device:contry", "device:country"),
            ("country", "device:country"),
            ("location:long", "location:lon"),
            ("venue:name", "location:venue:name"),
            ("serial_number", "tag:attribute:serial_number"),
            (
                "bottle_of_wine:serial_number",
                "tag:attribute:serial_number",
            ),
            ("bottle_of_wine:title", "tag:title"),
        ] {
            let misspelt = check(&format!("a {{{{ {name} }}}} b")).unwrap_err();
            let found = match &misspelt {
                Misspelt::Unknown { nearest, .. } => nearest.as_str(),
                _ => "",
            };
            assert_eq!(found, nearest, "{name}");
            assert_eq!(
                misspelt.to_string(),
                format!("There is no macro {{{{{name}}}}}. The nearest is {{{{{nearest}}}}}.")
            );
            assert_eq!(check(&format!("{{{{{nearest}}}}}")), Ok(()), "{nearest}");
        }
    }

    #[test]
    fn each_operand_is_checked_and_so_is_what_is_no_macro() {
        for (text, words) in [
            (
                r#"{{ tag:name || tag:titel || "x" }}"#,
                "There is no macro {{tag:titel}}. The nearest is {{tag:title}}.",
            ),
            (
                "{{tag:name}} {{tag:atribute:sku}}",
                "There is no macro {{tag:atribute:sku}}. The nearest is {{tag:attribute:sku}}.",
            ),
            (
                "{{}}",
                "The macro {{}} names nothing. Write for example {{tag:name}}.",
            ),
            (
                "{{ tag:title || }}",
                "The macro {{ tag:title || }} names nothing. Write for example {{tag:name}}.",
            ),
            (
                "Hello {{tag:name, welcome",
                "The macro {{tag:name, welcome cannot be read: it ends in }}, with || between names and \
                 \"fallbacks\". Write \\{{ for two braces that are no macro.",
            ),
        ] {
            assert_eq!(check(text).unwrap_err().to_string(), words, "{text}");
        }
        for text in [
            "{{",
            "{{ tag:id }",
            "{{ tag:id } }",
            "{{ open {{ tag:id }}",
            "{{ tag:id | tag:name }}",
            r#"{{ tag:id || "open }}"#,
            r#"{{ tag:id "x" }}"#,
            "{{{{",
        ] {
            assert!(matches!(check(text), Err(Misspelt::Open(_))), "{text}");
        }
    }

    #[test]
    fn a_long_text_is_checked_in_little_time_and_named_in_few_words() {
        for text in [
            "{{".repeat(100_000),
            "{{a".repeat(100_000),
            format!("{{{{{}}}}}", "x:".repeat(100_000)),
            format!("{{{{{}}}}}", "ü ".repeat(100_000)),
            format!("{{{{tag:attribute:{}}}}}", "x".repeat(65)),
        ] {
            let words = check(&text).unwrap_err().to_string();
            assert!(words.len() < 400, "{words}");
        }
    }
}
