//! Targets that cannot be saved.

use super::*;

#[test]
fn only_absolute_http_and_https_urls_can_be_saved() {
    for target in [
        "",
        "example.com",
        "//example.com/",
        "/path",
        "javascript:alert(1)",
        "javascript:alert('https://example.com')",
        "JavaScript://example.com/%0aalert(1)",
        "data:text/html,<script>",
        "ftp://example.com/",
        "file:///etc/passwd",
        "ws://example.com/",
        "intent://example.com/",
        "mailto:a@example.com",
        "https:",
        "https:example.com",
        "https:/example.com/",
        "https//example.com/",
        "httpss://example.com/",
        "xhttps://example.com/",
        "view-source:https://example.com",
        "java{{tag:id}}script:alert(1)",
        "htt{{tag:id}}ps://example.com/",
        "https:{{tag:data:x}}",
        "http:/{{tag:data:x}}",
    ] {
        assert_eq!(Target::parse(target), Err(TargetError::NotHttp), "{target}");
    }
}

#[test]
fn what_url_parsers_read_differently_is_refused() {
    use TargetError::{Backslash, ControlCharacter, SurroundingSpace, UserInfo};
    for (target, error) in [
        (" https://example.com/", SurroundingSpace),
        ("https://example.com/ ", SurroundingSpace),
        ("https://example.com/\u{3000}", SurroundingSpace),
        ("https://example.com/\r\nSet-Cookie: a=b", ControlCharacter),
        ("https://example.com/\n", ControlCharacter),
        ("ht\ttps://example.com/", ControlCharacter),
        ("https://exam\nple.com/", ControlCharacter),
        ("https://example.com/\0", ControlCharacter),
        ("https://example.com/\u{85}", ControlCharacter),
        ("\u{1}https://example.com/", ControlCharacter),
        (r"https:\\example.com\", Backslash),
        (r"https://example.com\@evil.example/", Backslash),
        (r"https://example.com/a\..\b", Backslash),
        (r"https://example.com/{{tag:id}}\", Backslash),
        ("https://user@example.com/", UserInfo),
        ("https://user:pass@example.com/", UserInfo),
        ("https://@example.com/", UserInfo),
        ("https://example.com:80@evil.example/", UserInfo),
    ] {
        assert_eq!(Target::parse(target), Err(error), "{target:?}");
    }
}

#[test]
fn a_host_that_is_none_is_refused() {
    for target in [
        "https://",
        "https:///path",
        "https://?q",
        "https://#f",
        "https://:443/",
        "https://exam ple.com/",
        "https://example.com /",
        "https://example.com:http/",
        "https://example.com:65536/",
        "https://example.com:-1/",
        "https://[::1/",
        "https://::1/",
        "https://1.2.3.400/",
        "https://exa%6d%2Fple.com/",
        "https://a<b/",
        "https://a\"b/",
        "https://a{{b/",
        r"https://a\{{b}}/",
        "https://a,b/",
        "https://example.com%00.evil.example/",
        "https://example.com\u{ff0f}.evil.example/",
        "https://\u{202e}/",
    ] {
        let refused = Target::parse(target);
        assert!(
            matches!(refused, Err(TargetError::Host(_))),
            "{target}: {refused:?}"
        );
    }
}
