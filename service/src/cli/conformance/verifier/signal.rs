//! How an answer shows that the verifier accepts a code: any difference between the answers to right
//! and to wrong codes that does not follow from the code itself.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use url::Url;

use crate::cli::conformance::web::Answer;

/// An answer, reduced to the parts that can show a verdict.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    status: u16,
    /// The destination of a redirect.
    target: Option<String>,
    /// `tag_verified` of the payload, if the redirect has a rolling key.
    verified: Option<Value>,
    body: String,
}

/// A difference that shows a verdict.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Signal {
    /// The payload says that the tag is verified.
    Verified,
    /// This status of the answer.
    Status(u16),
    /// A redirect to this host and path.
    Target(String),
    /// The body is JSON and has this value at this place, or the destination has it as a parameter.
    Member(String, Value),
    /// The body has this word.
    Word(String),
    /// The body has these words one after the other: "verified" is also in "not verified".
    Pair([String; 2]),
    /// Body or destination contain this text, which a person chose.
    Text(String),
}

impl Seen {
    pub(super) fn new(answer: &Answer, verified: Option<Value>) -> Self {
        Self {
            status: answer.status,
            target: answer.target().map(str::to_owned),
            verified,
            body: answer.body.clone(),
        }
    }

    /// Whether the body contains a text, or its hex digits, in any case.
    pub(super) fn contains(&self, text: &str) -> bool {
        let body = self.body.to_ascii_lowercase();
        let digits = super::code::hex(text.as_bytes());
        body.contains(&text.to_ascii_lowercase()) || body.contains(&digits.to_ascii_lowercase())
    }

    /// Host and path of the destination; its query can contain a key.
    fn place(&self) -> Option<String> {
        let target = Url::parse(self.target.as_ref()?).ok()?;
        Some(format!("{}{}", target.host_str()?, target.path()))
    }

    /// The members of a JSON body that can show a verdict, with their paths, and the parameters of the
    /// destination. Numbers and hex digits are values of the code, but for 0 and 1.
    fn members(&self) -> Vec<(String, Value)> {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_default();
        let mut members = Vec::new();
        collect(&body, String::new(), &mut members);
        let target = self.target.as_deref();
        let target = target.and_then(|target| Url::parse(target).ok());
        let parameters = target.iter().flat_map(Url::query_pairs);
        // A rolling key is of one tap.
        for (name, value) in parameters.filter(|(name, _)| name != "rk") {
            collect(&Value::from(&*value), format!("?{name}"), &mut members);
        }
        members
    }

    /// The words of the body that can show a verdict, in their order.
    fn words(&self) -> Vec<String> {
        let words = self.body.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| word.len() > 1 && !is_hex(word));
        words.map(str::to_lowercase).collect()
    }

    /// The words that follow each other in the body, with those of its markup.
    fn pairs(&self) -> Vec<[String; 2]> {
        let words = self.body.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| !is_hex(word)).map(str::to_lowercase);
        let words: Vec<String> = words.collect();
        let pairs = words.windows(2);
        pairs
            .map(|pair| [pair[0].clone(), pair[1].clone()])
            .collect()
    }
}

/// The first of `parts` that all `right` answers have, and no `wrong` one. `read` makes the parts of an
/// answer fit for a search: each answer is read once, because it can have thousands of them.
fn first_shared<T, C>(
    parts: Vec<T>,
    (right, wrong): (&[Seen], &[Seen]),
    read: impl Fn(&Seen) -> C,
    has: impl Fn(&C, &T) -> bool,
) -> Option<T> {
    let right: Vec<C> = right.iter().map(&read).collect();
    let wrong: Vec<C> = wrong.iter().map(&read).collect();
    let mut parts = parts.into_iter();
    parts.find(|part| {
        right.iter().all(|answer| has(answer, part))
            && !wrong.iter().any(|answer| has(answer, part))
    })
}

/// Whether a text can be a value of the code. The empty text is one.
fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn collect(value: &Value, path: String, members: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                collect(value, format!("{path}/{name}"), members);
            }
        }
        Value::Bool(_) => members.push((path, value.clone())),
        Value::Number(number) if matches!(number.as_u64(), Some(0 | 1)) => {
            members.push((path, value.clone()));
        }
        Value::String(text) if !is_hex(text) || matches!(&**text, "0" | "1") => {
            members.push((path, value.clone()));
        }
        _ => {}
    }
}

impl Signal {
    /// A difference that all `right` answers share, and no `wrong` one has.
    pub(super) fn find(right: &[Seen], wrong: &[Seen]) -> Option<Self> {
        let first = right.first()?;
        let mut candidates = vec![Self::Verified, Self::Status(first.status)];
        candidates.extend(first.place().map(Self::Target));
        let differs = |signal: &Self| {
            right.iter().all(|seen| signal.accepts(seen))
                && !wrong.iter().any(|seen| signal.accepts(seen))
        };
        let found = candidates.into_iter().find(differs);
        let found = found.or_else(|| Self::member(first, right, wrong));
        let found = found.or_else(|| Self::word(first, right, wrong));
        found.or_else(|| Self::pair(first, right, wrong))
    }

    /// A member of JSON bodies that shows a verdict.
    fn member(first: &Seen, right: &[Seen], wrong: &[Seen]) -> Option<Self> {
        let mut members = first.members();
        // A truth value says more than a text, which could be the name of the mode, and a number may
        // count something.
        members.sort_by_key(|(_, value)| match value {
            Value::Bool(_) => 0,
            Value::String(text) if !is_hex(text) => 1,
            _ => 2,
        });
        let by_path = |seen: &Seen| seen.members().into_iter().collect::<HashMap<_, _>>();
        let found = first_shared(members, (right, wrong), by_path, |all, (path, value)| {
            all.get(path) == Some(value)
        });
        found.map(|(path, value)| Self::Member(path, value))
    }

    /// A word of pages that shows a verdict.
    fn word(first: &Seen, right: &[Seen], wrong: &[Seen]) -> Option<Self> {
        let words = |seen: &Seen| seen.words().into_iter().collect::<HashSet<_>>();
        let found = first_shared(first.words(), (right, wrong), words, HashSet::contains);
        found.map(Self::Word)
    }

    /// Two words of pages that show a verdict by their order.
    fn pair(first: &Seen, right: &[Seen], wrong: &[Seen]) -> Option<Self> {
        let pairs = |seen: &Seen| seen.pairs().into_iter().collect::<HashSet<_>>();
        let found = first_shared(first.pairs(), (right, wrong), pairs, HashSet::contains);
        found.map(Self::Pair)
    }

    /// Whether an answer shows that the code is accepted.
    pub(super) fn accepts(&self, seen: &Seen) -> bool {
        match self {
            Self::Verified => seen.verified == Some(Value::Bool(true)),
            Self::Status(status) => seen.status == *status,
            Self::Target(place) => seen.place().as_ref() == Some(place),
            Self::Member(path, value) => {
                let members = seen.members();
                members
                    .iter()
                    .any(|(at, shown)| at == path && shown == value)
            }
            Self::Word(word) => seen.words().contains(word),
            Self::Pair(pair) => seen.pairs().contains(pair),
            Self::Text(text) => {
                let target = seen.target.as_deref().unwrap_or_default();
                seen.body.contains(text) || target.contains(text)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seen(status: u16, body: &str) -> Seen {
        Seen {
            status,
            target: None,
            verified: None,
            body: body.to_owned(),
        }
    }

    fn to(target: &str, verified: Option<Value>) -> Seen {
        Seen {
            target: Some(target.to_owned()),
            verified,
            ..seen(302, "")
        }
    }

    #[test]
    fn a_status_is_a_signal() {
        let found = Signal::find(&[seen(200, "")], &[seen(403, "")]);
        assert_eq!(found, Some(Signal::Status(200)));
        assert_eq!(Signal::find(&[seen(200, "a")], &[seen(200, "a")]), None);
    }

    #[test]
    fn a_member_is_a_signal_unless_it_is_a_value_of_the_code() {
        let right = |uid: &str| {
            seen(
                200,
                &json!({"uid": uid, "read_ctr": 7, "enc_mode": "AES"}).to_string(),
            )
        };
        let wrong = seen(200, r#"{"error": "Invalid message"}"#);
        let found = Signal::find(
            &[right("04AB"), right("04AB")],
            std::slice::from_ref(&wrong),
        );
        assert_eq!(
            found,
            Some(Signal::Member("/enc_mode".to_owned(), json!("AES")))
        );
        assert!(
            found.is_some_and(|signal| signal.accepts(&right("04CD")) && !signal.accepts(&wrong))
        );
    }

    #[test]
    fn a_word_is_a_signal_if_the_body_is_a_page() {
        let right = [
            seen(200, "<p>Genuine, tap 61</p>"),
            seen(200, "<p>Genuine, tap 62</p>"),
        ];
        let found = Signal::find(&right, &[seen(200, "<p>Fake, tap 63</p>")]);
        assert_eq!(found, Some(Signal::Word("genuine".to_owned())));
    }

    #[test]
    fn a_word_that_both_pages_have_is_a_signal_by_the_word_before_it() {
        let right = [seen(200, "<h1>Authentic</h1> 61")];
        let wrong = [seen(200, "<h1>Not authentic</h1> 62")];
        let found = Signal::find(&right, &wrong);
        let pair = ["h1", "authentic"].map(str::to_owned);
        assert_eq!(found, Some(Signal::Pair(pair)));
        let found = found.unwrap();
        assert!(found.accepts(&right[0]) && !found.accepts(&wrong[0]));
        assert!(!found.accepts(&seen(200, "<h1>Used before</h1> 63")));
    }

    #[test]
    fn a_parameter_of_the_destination_and_a_number_as_a_truth_value_are_signals() {
        let shop = |query: &str| to(&format!("https://shop.example/?{query}"), None);
        let right = [shop("ok=1&sid=61"), shop("ok=1&sid=62")];
        let found = Signal::find(&right, &[shop("ok=0&sid=63")]);
        assert_eq!(found, Some(Signal::Member("?ok".to_owned(), json!("1"))));
        let right = [seen(200, r#"{"tap": 61, "valid": 1}"#)];
        let found = Signal::find(&right, &[seen(200, r#"{"tap": 62, "valid": 0}"#)]);
        assert_eq!(found, Some(Signal::Member("/valid".to_owned(), json!(1))));
    }

    /// If each word were searched in each page, this would take hours.
    #[test]
    fn pages_of_many_words_are_compared_at_once() {
        let words: Vec<String> = (0..50_000).map(|number| format!("word{number}")).collect();
        let page = words.join(" ");
        let right = [seen(200, &page), seen(200, &page)];
        let wrong = [seen(200, &page)];
        assert_eq!(Signal::find(&right, &wrong), None);
        let right = [seen(200, &format!("{page} genuine"))];
        let found = Signal::find(&right, &wrong);
        assert_eq!(found, Some(Signal::Word("genuine".to_owned())));
    }

    #[test]
    fn a_verdict_of_a_payload_and_a_destination_are_signals() {
        let right = to("https://a.example/?rk=1", Some(json!(true)));
        let wrong = to("https://a.example/?rk=2", Some(json!(false)));
        let found = Signal::find(&[right], &[wrong]);
        assert_eq!(found, Some(Signal::Verified));
        let right = to("https://a.example/good?x=1", None);
        let found = Signal::find(&[right], &[to("https://a.example/bad?x=2", None)]);
        assert_eq!(found, Some(Signal::Target("a.example/good".to_owned())));
    }
}
