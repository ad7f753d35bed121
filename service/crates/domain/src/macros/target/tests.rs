mod refused;
mod room;

use super::*;
use crate::macros::tests::Example;

fn expand(target: &str, rk: Option<&str>) -> Option<String> {
    let target = Target::parse(target).unwrap_or_else(|error| panic!("{target}: {error}"));
    target.expand(&Example, rk)
}

fn with_key(target: &str) -> String {
    expand(target, Some("K")).expect(target)
}

fn without_key(target: &str) -> String {
    expand(target, None).expect(target)
}

struct Says<'a>(&'a str);

impl Scope for Says<'_> {
    fn value(&self, _: &Macro) -> Option<Cow<'_, str>> {
        Some(self.0.into())
    }
}

/// Asserts the location without its length, and the names of the macros that it left out.

#[test]
fn the_key_is_set_in_the_query_and_the_rest_is_kept() {
    for (target, location) in [
        ("https://example.com", "https://example.com/?rk=K"),
        ("http://example.com/", "http://example.com/?rk=K"),
        ("https://example.com/a", "https://example.com/a?rk=K"),
        ("https://example.com/a/", "https://example.com/a/?rk=K"),
        ("https://example.com//a//", "https://example.com//a//?rk=K"),
        ("https://example.com?a=1", "https://example.com/?a=1&rk=K"),
        ("https://example.com#f", "https://example.com/?rk=K#f"),
        ("https://example.com/a?", "https://example.com/a?rk=K"),
        (
            "https://example.com/a?b=c",
            "https://example.com/a?b=c&rk=K",
        ),
        (
            "https://example.com/a?b=c&",
            "https://example.com/a?b=c&rk=K",
        ),
        ("https://example.com/a#", "https://example.com/a?rk=K#"),
        (
            "https://example.com/a#f?x=1",
            "https://example.com/a?rk=K#f?x=1",
        ),
        (
            "https://example.com/a?b#f#g",
            "https://example.com/a?b&rk=K#f#g",
        ),
        (
            "https://example.com/?a=b+c&x&&y[]=%7e%C3%A4&z='!*()",
            "https://example.com/?a=b+c&x&&y[]=%7e%C3%A4&z='!*()&rk=K",
        ),
        // One parameter of this name, in place of the first.
        ("https://example.com/?rk=", "https://example.com/?rk=K"),
        ("https://example.com/?rk", "https://example.com/?rk=K"),
        (
            "https://example.com/?rk=old&a=1&rk=older",
            "https://example.com/?rk=K&a=1",
        ),
        (
            "https://example.com/?a=1&r%6B=old&b",
            "https://example.com/?a=1&rk=K&b",
        ),
        (
            "https://example.com/?ark=1&rkk=2&RK=3",
            "https://example.com/?ark=1&rkk=2&RK=3&rk=K",
        ),
        ("https://example.com/rk=1", "https://example.com/rk=1?rk=K"),
        (
            "https://example.com/#rk=1",
            "https://example.com/?rk=K#rk=1",
        ),
        // A name that a value forms does not count as `rk` either.
        (
            "https://example.com/?{{tag:variable:name_rk}}=x",
            "https://example.com/?rk=K",
        ),
    ] {
        assert_eq!(with_key(target), location, "{target}");
    }
}

#[test]
fn the_key_is_not_added_where_the_target_carries_it() {
    for (target, location) in [
        (
            "https://example.com/?rk={{interaction:rk}}",
            "https://example.com/?rk=K",
        ),
        (
            "https://example.com/?key={{ interaction:rk }}&a",
            "https://example.com/?key=K&a",
        ),
        (
            "https://example.com/{{interaction:rk}}",
            "https://example.com/K",
        ),
        (
            "https://example.com/{{interaction:rk}}?",
            "https://example.com/K",
        ),
        (
            "https://example.com/#{{interaction:rk}}",
            "https://example.com/#K",
        ),
    ] {
        assert_eq!(with_key(target), location, "{target}");
    }
}

#[test]
fn without_a_key_no_parameter_bears_its_name() {
    for (target, location) in [
        ("https://example.com", "https://example.com/"),
        ("https://example.com/a?b=c#f", "https://example.com/a?b=c#f"),
        ("https://example.com/?rk=old", "https://example.com/"),
        (
            "https://example.com/?a&rk=old&b",
            "https://example.com/?a&b",
        ),
        (
            "https://example.com/?rk={{interaction:rk}}#f",
            "https://example.com/#f",
        ),
        (
            "https://example.com/?key={{interaction:rk}}",
            "https://example.com/?key=",
        ),
        (
            "https://example.com/a/{{interaction:rk}}",
            "https://example.com/a/",
        ),
        (
            r#"https://example.com/?key={{interaction:rk||"none"}}"#,
            "https://example.com/?key=none",
        ),
    ] {
        assert_eq!(without_key(target), location, "{target}");
    }
}

#[test]
fn values_are_encoded_where_they_stand() {
    for (target, location) in [
        (
            "https://example.com/{{tag:name}}",
            "https://example.com/Bottle%2041",
        ),
        (
            "https://example.com/?sn={{tag:attribute:sku}}",
            "https://example.com/?sn=A-1",
        ),
        (
            "https://example.com/?{{tag:data:markup}}",
            "https://example.com/?%3Cb%20title%3D%22x%22%3E%27%26%27%3C%2Fb%3E",
        ),
        (
            "https://example.com/{{tag:variable:path}}/x",
            "https://example.com/..%2Fa%2Fb%3Fc%23d/x",
        ),
        (
            "https://example.com/#{{tag:variable:path}}",
            "https://example.com/#..%2Fa%2Fb%3Fc%23d",
        ),
        (
            "https://example.com/?a={{tag:id}}/b?c/d#{{tag:id}}/e?f#g",
            "https://example.com/?a=41/b?c/d#41/e?f#g",
        ),
        (
            r#"https://example.com/{{tag:title||"a/b"}}"#,
            "https://example.com/a%2Fb",
        ),
        (
            "https://example.com/a{{unknown}}b",
            "https://example.com/ab",
        ),
        (
            "https://example.com/{{tag:data:template}}",
            "https://example.com/%7B%7B%20tag%3Aid%20%7D%7D",
        ),
        (
            "https://example.com/{{interaction:id}}/{{interaction:time}}",
            "https://example.com/90412/1767225600",
        ),
        (
            "https://example.com/?a={{tag:variable:script}}",
            "https://example.com/?a=javascript%3Aalert%281%29",
        ),
    ] {
        assert_eq!(without_key(target), location, "{target}");
    }
}

#[test]
fn a_value_never_climbs_the_path() {
    for (target, location) in [
        (
            "https://example.com/a/{{tag:variable:up}}/b",
            "https://example.com/a//b",
        ),
        (
            "https://example.com/a/{{tag:variable:up}}",
            "https://example.com/a/",
        ),
        (
            "https://example.com/a/{{tag:variable:up}}?q",
            "https://example.com/a/?q",
        ),
        (
            "https://example.com/a/{{tag:variable:dot}}/b",
            "https://example.com/a//b",
        ),
        (
            "https://example.com/a/.{{tag:variable:dot}}/b",
            "https://example.com/a//b",
        ),
        (
            "https://example.com/a/%2e{{tag:variable:dot}}/b",
            "https://example.com/a//b",
        ),
        (
            "https://example.com/a/{{tag:variable:dot}}%2E/b",
            "https://example.com/a//b",
        ),
        (
            "https://example.com/a/{{tag:variable:dot}}{{tag:variable:dot}}/b",
            "https://example.com/a//b",
        ),
        (
            "https://example.com/a/..{{tag:title}}/b",
            "https://example.com/a//b",
        ),
        // In other places dots are plain text, and the owner's own text stays.
        (
            "https://example.com/a/{{tag:id}}.{{tag:id}}",
            "https://example.com/a/41.41",
        ),
        (
            "https://example.com/a/{{tag:variable:up}}b",
            "https://example.com/a/..b",
        ),
        (
            "https://example.com/?a=/{{tag:variable:up}}/",
            "https://example.com/?a=/../",
        ),
        (
            "https://example.com/a/../{{tag:id}}",
            "https://example.com/a/../41",
        ),
    ] {
        assert_eq!(without_key(target), location, "{target}");
    }
}

#[test]
fn the_owners_text_is_kept_as_far_as_it_is_valid() {
    for (target, location) in [
        ("HTTPS://Example.COM/Path", "https://example.com/Path"),
        (
            "https://bücher.example/ü?ü#ü",
            "https://xn--bcher-kva.example/%C3%BC?%C3%BC#%C3%BC",
        ),
        ("https://example.com:8443/", "https://example.com:8443/"),
        ("https://example.com:443/", "https://example.com/"),
        ("http://192.168.1.20:8080/x", "http://192.168.1.20:8080/x"),
        ("http://[::1]:3000/x", "http://[::1]:3000/x"),
        ("http://localhost/x", "http://localhost/x"),
        (
            "https://example.com/a b|c^`\"<>",
            "https://example.com/a%20b%7Cc%5E%60%22%3C%3E",
        ),
        (
            "https://example.com/;a=1,2:3@4!$&'()*+~",
            "https://example.com/;a=1,2:3@4!$&'()*+~",
        ),
        (
            "https://example.com/100%?50%&%2",
            "https://example.com/100%25?50%25&%252",
        ),
        (
            "https://example.com/%zz%41%c3%bc",
            "https://example.com/%25zz%41%c3%bc",
        ),
        // An escape never consists of the owner's text and a value.
        (
            "https://example.com/%{{tag:id}}",
            "https://example.com/%2541",
        ),
        (
            "https://example.com/%4{{tag:id}}",
            "https://example.com/%25441",
        ),
        // Braces that are not a macro.
        (
            r"https://example.com/\{{tag:id}}",
            "https://example.com/%7B%7Btag:id%7D%7D",
        ),
        (
            "https://example.com/{{tag:id",
            "https://example.com/%7B%7Btag:id",
        ),
        ("https://example.com/{id}", "https://example.com/%7Bid%7D"),
    ] {
        assert_eq!(without_key(target), location, "{target}");
        assert_eq!(Target::parse(target).unwrap().source(), target);
    }
}

#[test]
fn a_target_can_be_one_macro_that_the_owner_writes() {
    for (target, location) in [
        (
            "{{tag:attribute:url}}",
            Some("https://example.com/a?b=c&rk=K#d"),
        ),
        (
            "{{ tag:data:url }}",
            Some("https://example.com/a?b=c&rk=K#d"),
        ),
        (
            "{{tag:data:none || tag:attribute:url}}",
            Some("https://example.com/a?b=c&rk=K#d"),
        ),
        (
            r#"{{tag:data:none || "http://example.org/x"}}"#,
            Some("http://example.org/x?rk=K"),
        ),
        ("{{tag:attribute:none}}", None),
        ("{{tag:attribute:sku}}", None),
        ("{{tag:attribute:script}}", None),
        ("{{tag:attribute:markup}}", None),
        ("{{tag:attribute:template}}", None),
        (r#"{{tag:attribute:script || "https://example.com"}}"#, None),
    ] {
        assert_eq!(expand(target, Some("K")).as_deref(), location, "{target}");
    }
}

#[test]
fn macros_cannot_supply_scheme_host_or_port() {
    for target in [
        "{{tag:data:url}}/",
        "{{tag:data:url}}{{tag:data:url}}",
        "{{tag:data:scheme}}://example.com/",
        "https://{{tag:data:host}}",
        "https://{{tag:data:host}}/",
        "https://{{tag:attribute:x}}.example.com/",
        "https://ex{{tag:name}}.com/",
        "https://example.com{{tag:variable:x}}",
        "https://example.com{{tag:variable:x}}/",
        "https://example.com:{{tag:id}}/",
        "https://example.com:80{{tag:id}}/",
        "https://{{tag:name}}@example.com/",
        r#"https://{{"example.com"}}/"#,
        "https://{{unknown}}/",
    ] {
        assert_eq!(
            Target::parse(target),
            Err(TargetError::MacroInHost),
            "{target}"
        );
    }
}

#[test]
fn a_whole_macro_that_strangers_write_is_refused() {
    for target in [
        "{{tag:variable:url}}",
        "{{tag:data:url || tag:variable:url}}",
        "{{tag:name}}",
        "{{interaction:rk}}",
        "{{unknown}}",
        "{{}}",
        r#"{{"https://example.com"}}"#,
    ] {
        assert_eq!(
            Target::parse(target),
            Err(TargetError::WholeMacro),
            "{target}"
        );
    }
    for fallback in [
        "",
        "x",
        "javascript:alert(1)",
        "/a",
        "https://a@b/",
        "https://",
    ] {
        let target = format!(r#"{{{{tag:data:url || "{fallback}"}}}}"#);
        let refused = Target::parse(&target);
        assert!(matches!(refused, Err(TargetError::Fallback(_))), "{target}");
    }
}

#[test]
fn a_target_has_at_most_4096_bytes() {
    let longest = format!("https://example.com/{}", "{{tag:id}}".repeat(407));
    let longest = format!("{longest}{}", "a".repeat(TARGET_MAX - longest.len()));
    assert!(Target::parse(&longest).is_ok());
    assert_eq!(Target::parse(&(longest + "a")), Err(TargetError::TooLong));
}

#[test]
fn a_settled_target_leads_somewhere() {
    let whole = Target::parse("{{tag:attribute:url}}").unwrap();
    assert!(whole.is_whole());
    let settled = whole.settled(&Example).unwrap();
    assert!(!settled.uses(|_| true));
    assert_eq!(
        settled.location(&Example, Some("K")).url,
        "https://example.com/a?b=c&rk=K#d"
    );
    let none = Target::parse("{{tag:attribute:none}}").unwrap();
    assert_eq!(none.settled(&Example), None);
    // Braces in a value have no special meaning.
    let braces = Says("https://example.com/{{tag:id}}");
    let settled = whole.settled(&braces).unwrap();
    assert_eq!(
        settled.location(&braces, None).url,
        "https://example.com/%7B%7Btag:id%7D%7D"
    );
}

#[test]
fn a_target_says_what_it_uses() {
    let target = Target::parse("https://example.com/{{tag:id}}?a={{tag:variable:b}}").unwrap();
    assert!(target.uses_variables());
    assert!(target.uses(|name| *name == Macro::TagId));
    assert!(
        !Target::parse("https://example.com/{{tag:id}}")
            .unwrap()
            .uses_variables()
    );
}

#[test]
fn refusals_are_sentences() {
    for target in [
        "",
        "https://",
        "https://a@b",
        "https://{{tag:id}}/",
        "{{tag:id}}",
        "https://a\\",
    ] {
        let sentence = Target::parse(target).unwrap_err().to_string();
        assert!(
            sentence.ends_with('.') && !sentence.ends_with(".."),
            "{sentence}"
        );
    }
    let fallback = Target::parse(r#"{{tag:data:x||"y"}}"#).unwrap_err();
    assert_eq!(
        fallback.to_string(),
        "The fallback of the target URL is not a URL itself: \
         A target URL begins with http:// or https:// and the name of a host."
    );
}
