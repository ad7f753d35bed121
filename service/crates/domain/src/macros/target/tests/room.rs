//! Values that are too long, and the fallbacks that replace them.

use super::*;

#[test]
fn the_owners_text_and_the_key_always_have_room() {
    let key = "k".repeat(44);
    let room = LOCATION_MAX - "https://example.com/?rk=".len() - key.len();
    let longest = format!("https://example.com/{}", "a".repeat(room));
    assert_eq!(expand(&longest, Some(&key)).unwrap().len(), LOCATION_MAX);
    assert_eq!(Target::parse(&(longest + "a")), Err(TargetError::NoRoom));
    // The length of the percent-encoded URL counts.
    let umlauts = |count: usize| format!("https://example.com/{}", "ü".repeat(count));
    assert!(Target::parse(&umlauts(room / 6)).is_ok());
    assert_eq!(
        Target::parse(&umlauts(room / 6 + 1)),
        Err(TargetError::NoRoom)
    );
    // So do fallbacks, and each key that the owner placed.
    let fallback = |count: usize| {
        format!(
            r#"https://example.com/{{{{tag:id||"{}"}}}}"#,
            "a".repeat(count)
        )
    };
    assert!(Target::parse(&fallback(room)).is_ok());
    assert_eq!(Target::parse(&fallback(room + 1)), Err(TargetError::NoRoom));
    let keys = format!("https://example.com/{}", "{{interaction:rk}}".repeat(81));
    assert_eq!(Target::parse(&keys), Err(TargetError::NoRoom));
    // A value that is a whole URL has the same limit.
    let whole = Target::parse("{{tag:data:url}}").unwrap();
    for (length, fits) in [(room, true), (room + 1, false)] {
        let url = format!("https://example.com/{}", "a".repeat(length));
        assert_eq!(whole.expand(&Says(&url), None).is_some(), fits, "{length}");
    }
}

/// A scope with the same value for every macro.
fn fitted(target: &str) -> (String, Vec<String>) {
    let target = Target::parse(target).unwrap();
    let location = target.location(&Example, Some("K")).unwrap();
    assert!(location.url.len() <= LOCATION_MAX, "{}", location.url.len());
    let left_out = location.left_out.iter().map(Macro::to_string).collect();
    (location.url, left_out)
}

#[test]
fn a_value_without_room_gives_way_to_its_fallback_or_to_nothing() {
    for (target, url) in [
        (
            "https://example.com/?a={{tag:variable:long}}",
            "https://example.com/?a=&rk=K",
        ),
        (
            r#"https://example.com/{{tag:variable:long||"none"}}?x=1#f"#,
            "https://example.com/none?x=1&rk=K#f",
        ),
        (
            "https://example.com/{{tag:variable:long || tag:data:long || tag:id}}",
            "https://example.com/41?rk=K",
        ),
        (
            "https://example.com/{{tag:variable:long || interaction:rk}}/x",
            "https://example.com/K/x",
        ),
    ] {
        let (location, left_out) = fitted(target);
        assert_eq!(location, url, "{target}");
        assert!(
            left_out.contains(&"tag:variable:long".to_owned()),
            "{target}"
        );
    }
}

#[test]
fn what_strangers_write_gives_way_first_and_the_longest_of_it() {
    // 2,000 bytes from the owner, 2,000 bytes from a stranger, and a short value from each.
    for (target, url, names) in [
        (
            "https://example.com/{{tag:data:half}}?v={{tag:variable:half}}&w={{tag:variable:sku}}",
            format!("https://example.com/{}?v=&w=A-1&rk=K", "y".repeat(2000)),
            vec!["tag:variable:half"],
        ),
        (
            "https://example.com/{{tag:variable:half}}?v={{tag:variable:half}}&w={{tag:id}}",
            format!("https://example.com/?v={}&w=41&rk=K", "y".repeat(2000)),
            vec!["tag:variable:half"],
        ),
        (
            "https://example.com/{{tag:data:half}}?v={{tag:attribute:half}}&w={{tag:variable:sku}}",
            format!("https://example.com/?v={}&w=&rk=K", "y".repeat(2000)),
            vec!["tag:data:half", "tag:variable:sku"],
        ),
    ] {
        let (location, left_out) = fitted(target);
        assert_eq!(location, url, "{target}");
        assert_eq!(left_out, names, "{target}");
    }
}

#[test]
fn a_location_that_fits_leaves_nothing_out() {
    let (_, left_out) = fitted("https://example.com/{{tag:variable:half}}?a={{tag:id}}");
    assert_eq!(left_out, Vec::<String>::new());
}
