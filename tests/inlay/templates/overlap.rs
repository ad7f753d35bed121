//! Templates that match the same URL, or the URL of a route.

use tapdesk_service::inlay::template::RouteSegment;

use super::template;

#[test]
fn two_templates_that_match_one_url_are_known() {
    let cases = [
        ("https://x.example/v?p={picc}&m={mac}", true),
        ("http://X.EXAMPLE:80/v?other={picc}&m={mac}", true),
        ("https://y.example/v?p={picc}&m={mac}", false),
        ("https://x.example/w?p={picc}&m={mac}", false),
        ("https://x.example/v/{picc}{mac}", false),
        // Values have fixed lengths.
        ("https://x.example/{slug}?p={picc}&m={mac}", true),
        ("https://x.example/{picc}{mac}", false),
        ("https://x.example/{*}?p={picc}&m={mac}", true),
        ("https://{slug}.example/v?p={picc}&m={mac}", true),
    ];
    let first = template("https://x.example/v?p={picc}&m={mac}");
    for (text, overlaps) in cases {
        let other = template(text);
        assert_eq!(first.overlaps(&other), overlaps, "{text}");
        assert_eq!(other.overlaps(&first), overlaps, "{text}");
    }
    let pairs = [
        (
            "https://x.example/{slug}?p={picc}&m={mac}",
            "https://x.example/bottle-41?p={picc}&m={mac}",
            true,
        ),
        (
            "https://x.example/{slug}?p={picc}&m={mac}",
            "https://x.example/Bottle-41?p={picc}&m={mac}",
            true,
        ),
        (
            "https://x.example/{slug}?p={picc}&m={mac}",
            "https://x.example/a+b?p={picc}&m={mac}",
            false,
        ),
        (
            "https://{slug}.example/v?p={picc}&m={mac}",
            "https://a.b.example/v?p={picc}&m={mac}",
            false,
        ),
        (
            "https://x.example/a{picc}{mac}",
            "https://x.example/{picc}{mac}a",
            true,
        ),
        (
            "https://x.example/{picc}{mac}",
            "https://x.example/{uid}{counter}{mac}",
            false,
        ),
        (
            "https://x.example/?k=1&p={picc}&m={mac}",
            "https://x.example/?k=2&p={picc}&m={mac}",
            false,
        ),
        (
            "https://x.example/?k=1&p={picc}&m={mac}",
            "https://x.example/?p={picc}&m={mac}",
            true,
        ),
        (
            "https://{slug}.example/v?p={picc}&m={mac}",
            "https://bottle-41.example/v?p={picc}&m={mac}",
            true,
        ),
    ];
    for (a, b, overlaps) in pairs {
        assert_eq!(template(a).overlaps(&template(b)), overlaps, "{a} {b}");
    }
}

#[test]
fn a_template_that_could_catch_a_route_is_known() {
    use RouteSegment::{Any, Literal, Rest};
    let tag = [Literal("t"), Any];
    let admin = [Literal("admin"), Rest];
    let root = [Literal("")];
    for (text, route, overlaps) in [
        (
            "https://x.example/t/{slug}?p={picc}&m={mac}",
            &tag[..],
            true,
        ),
        ("https://x.example/{*}/{picc}{mac}", &tag, true),
        ("https://x.example/s/{slug}?p={picc}&m={mac}", &tag, false),
        // No slug is the first segment of a route.
        ("https://x.example/{slug}?p={picc}&m={mac}", &admin, false),
        ("https://x.example/{slug}/x?p={picc}&m={mac}", &tag, false),
        ("https://x.example/a{slug}?p={picc}&m={mac}", &admin, true),
        ("https://x.example/{*}?p={picc}&m={mac}", &admin, true),
        ("https://x.example/%61dmin/v1/{picc}{mac}", &admin, true),
        ("https://x.example?p={picc}&m={mac}", &root, true),
        ("https://x.example/v?p={picc}&m={mac}", &root, false),
    ] {
        assert_eq!(template(text).overlaps_route(route), overlaps, "{text}");
    }
}
