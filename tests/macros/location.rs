//! Values in the target of a redirect: in every position they change only the text in that
//! position, and nothing else of the URL. The URL parser of the browsers' standard decides.

use proptest::prelude::*;
use tapdesk_service::macros::{Macro, Target};
use tapdesk_tests::{cases, injections};
use url::{Position, Url};

use crate::macros::Says;

const KEY: &str = "Zk3Zk3Zk3Zk3Zk3Zk3Zk3Zk3Zk3Zk3Zk3Zk3Zk3Zk3Zk";

/// Targets with a macro `{}` in each allowed position.
const PLACES: [&str; 27] = [
    "https://owner.example/{}",
    "https://owner.example/a/{}/b",
    "https://owner.example/a/b{}",
    "https://owner.example/a/{}b",
    "https://owner.example/a/.{}/b",
    "https://owner.example/a/{}%2e/b",
    "https://owner.example/a/%2{}/b",
    "https://owner.example/a/%{}/b",
    "https://owner.example/a/..{}",
    "https://owner.example/a/{}{}/b",
    "https://owner.example//{}/",
    "https://owner.example:8443/{}?q",
    "http://192.0.2.7/{}#f",
    "http://[2001:db8::1]:8080/{}?a={}#{}",
    "https://owner.example?{}",
    "https://owner.example/?{}",
    "https://owner.example/?a={}",
    "https://owner.example/?{}=a",
    "https://owner.example/?a=1&{}&b=2",
    "https://owner.example/?a={}&rk=old",
    "https://owner.example/?a=%{}&b=%2{}",
    "https://owner.example/?rk={{interaction:rk}}&a={}",
    "https://owner.example/{}?key={{interaction:rk}}#{}",
    "https://owner.example/#{}",
    "https://owner.example#{}",
    "https://owner.example/a?b#c{}d#e",
    "https://bücher.example/ü/{}?ü={}",
];

const MACROS: [&str; 6] = [
    "{{tag:variable:x}}",
    "{{ tag:data:x }}",
    "{{tag:attribute:x}}",
    "{{tag:name}}",
    "{{tag:title}}",
    "{{location:venue:name}}",
];

fn expand(target: &Target, value: &str, rk: Option<&str>) -> (String, Url) {
    let location = target
        .expand(&Says(value), rk)
        .expect("it is no whole macro");
    assert!(
        location.bytes().all(|byte| byte.is_ascii_graphic()),
        "{location:?} is no header value"
    );
    let url = Url::parse(&location).unwrap_or_else(|error| panic!("{location}: {error}"));
    (location, url)
}

/// The parameters as an owner's server parses them.
fn parameters(url: &Url) -> Vec<(String, String)> {
    url.query_pairs().into_owned().collect()
}

/// Scheme and host with port, number of segments, and whether there is a fragment.
fn shape(url: &Url) -> (&str, usize, bool) {
    assert_eq!((url.username(), url.password()), ("", None), "{url}");
    let segments = url.path_segments().map_or(0, Iterator::count);
    (
        &url[..Position::BeforePath],
        segments,
        url.fragment().is_some(),
    )
}

/// Asserts that the value expands to a URL of the same shape as a harmless value.
fn assert_changes_nothing(target: &Target, value: &str) {
    for rk in [Some(KEY), None] {
        let (_, harmless) = expand(target, "x", rk);
        let (location, url) = expand(target, value, rk);
        assert_eq!(shape(&url), shape(&harmless), "{location}");

        let keys: Vec<_> = parameters(&url)
            .into_iter()
            .filter(|(name, _)| name == "rk")
            .collect();
        let placed = target.uses(|name| *name == Macro::InteractionRk);
        match rk {
            Some(rk) if !placed => {
                assert_eq!(keys, [("rk".to_owned(), rk.to_owned())], "{location}");
            }
            Some(_) => assert!(location.contains(KEY), "{location}"),
            None => assert_eq!(keys, [], "{location}"),
        }
    }
}

/// Tries `value` in every position, each time as another macro; `turn` selects them.
fn assert_harmless_everywhere(value: &str, turn: usize) {
    for (place, name) in PLACES.into_iter().zip(MACROS.iter().cycle().skip(turn)) {
        let target = Target::parse(&place.replace("{}", name)).expect(place);
        assert_changes_nothing(&target, value);
    }
}

#[test]
fn no_value_of_the_corpus_changes_more_than_its_place() {
    for (turn, value) in injections().into_iter().enumerate() {
        assert_harmless_everywhere(&value, turn % MACROS.len());
    }
}

#[test]
fn every_value_of_the_corpus_arrives_as_it_is() {
    let target =
        "https://owner.example/p-{{tag:variable:x}}?a={{tag:variable:x}}&b#{{tag:variable:x}}";
    let target = Target::parse(target).unwrap();
    // A target contains it three times, percent-encoded, so the longest values do not fit.
    for value in injections().iter().filter(|value| value.len() < 370) {
        let (_, url) = expand(&target, value, Some(KEY));
        let decoded = |text: &str| percent_decoded(text);
        assert_eq!(decoded(url.path()), format!("/p-{value}"));
        assert_eq!(decoded(url.fragment().unwrap()), *value);
        let expected = [("a", value.as_str()), ("b", ""), ("rk", KEY)];
        assert_eq!(
            parameters(&url),
            expected.map(|(name, value)| (name.into(), value.into()))
        );
    }
}

fn percent_decoded(text: &str) -> String {
    // Outside of forms, a + means a +.
    let form = text.replace('+', "%2B");
    let pair = url::form_urlencoded::parse(form.as_bytes()).next();
    pair.map(|(name, _)| name.into_owned()).unwrap_or_default()
}

#[test]
fn a_target_that_is_one_macro_leads_to_a_web_page_or_nowhere() {
    let mut led = 0;
    for value in injections() {
        for target in [
            "{{tag:attribute:x}}",
            "{{tag:data:x}}",
            "{{ tag:data:x || tag:attribute:y }}",
        ] {
            let target = Target::parse(target).unwrap();
            assert_eq!(
                target.expand(&Says(&value), None).is_some(),
                Target::parse(&value).is_ok() && !value.contains("{{"),
                "{value:?}"
            );
            let Some(location) = target.expand(&Says(&value), Some(KEY)) else {
                continue;
            };
            led += 1;
            assert!(
                location.bytes().all(|byte| byte.is_ascii_graphic()),
                "{location:?}"
            );
            let url = Url::parse(&location).unwrap();
            assert!(["http", "https"].contains(&url.scheme()), "{location}");
            assert!(url.has_host() && url.username().is_empty() && url.password().is_none());
            // The host is the one in the value.
            let written = Url::parse(&value).unwrap();
            assert_eq!(url.origin(), written.origin());
        }
    }
    assert!(led > 0, "the corpus has URLs");
}

#[test]
fn no_value_of_the_corpus_is_a_target_that_is_saved_with_another_scheme() {
    for value in injections() {
        if let Ok(target) = Target::parse(&value)
            && let Some(location) = target.expand(&Says("x"), None)
        {
            assert!(
                location.starts_with("http://") || location.starts_with("https://"),
                "{location}"
            );
        }
    }
}

/// Pieces of URLs and macros in random order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "https://",
        "http://",
        "https:",
        "//",
        "/",
        "\\",
        "@",
        ":",
        "80",
        "?",
        "#",
        "&",
        "=",
        "rk=",
        "rk",
        "owner.example",
        "[::1]",
        "192.0.2.7",
        "ü",
        "..",
        ".",
        "%2e",
        "%",
        "%41",
        "+",
        " ",
        "\n",
        "\t",
        "\u{200b}",
        "{{",
        "}}",
        "\\{{",
        "||",
        "\"",
        "{{tag:variable:x}}",
        "{{ tag:data:x || \"a/b\" }}",
        "{{interaction:rk}}",
        "{{unknown}}",
        "<",
        "'",
        "|",
        "x",
        "a",
    ]);
    let tail = prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat());
    let head = prop::sample::select(vec![
        "",
        "https://owner.example/",
        "https://owner.example",
        "http://",
        "HTTPS://a:1",
    ]);
    (head, tail).prop_map(|(head, tail)| format!("{head}{tail}"))
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        prop::collection::vec(
            prop::sample::select(vec![
                '.', '/', '%', '2', 'e', '\\', '?', '#', '&', '=', '@', ':', '\r', '\n', ' ', 'r',
                'k'
            ]),
            0..12
        )
        .prop_map(String::from_iter),
        prop::sample::select(injections()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    #[test]
    fn no_value_changes_more_than_its_place(value in value(), turn in 0..MACROS.len()) {
        assert_harmless_everywhere(&value, turn);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(5_000)))]

    #[test]
    fn no_target_that_can_be_saved_leads_elsewhere(text in pieces(), value in value()) {
        let Ok(target) = Target::parse(&text) else { return Ok(()) };
        prop_assert_eq!(target.source(), &text);
        if text.starts_with("{{") {
            return Ok(());
        }
        let (_, url) = expand(&target, &value, Some(KEY));
        // A parser that does not know macros finds the same origin.
        prop_assert_eq!(url.origin(), Url::parse(&text).unwrap().origin());
        let (_, harmless) = expand(&target, "x", Some(KEY));
        prop_assert_eq!(shape(&url), shape(&harmless));
    }
}
