//! A MAC over another part of the URL, and a counter in another byte order.

use tapdesk_service::inlay::code::{COUNTER_MAX, Code, Mirrored};
use tapdesk_service::inlay::diagnose::{Finding, Known, Window, diagnose};
use tapdesk_service::inlay::technology::ntag424::session::{mac_session_key, sdmmac};
use tapdesk_service::inlay::verify::{Candidate, verify};
use tapdesk_service::inlay::virtual_inlay::OneTimeCode;
use tapdesk_service::inlay::{MacFrom, Mirror};

use super::{COUNTER, but, configured, tap};

/// The code of a plain inlay whose MAC covers the URL from `start`, with counter and MAC in this
/// order.
fn made_over(inlay: &Candidate, url: &str, start: &str) -> OneTimeCode {
    let token = format!("{COUNTER:06X}");
    let text = format!("{url}?uid={}&token={token}", inlay.uid);
    let input = &text.as_bytes()[text.find(start).unwrap()..];
    let session_key = mac_session_key(&inlay.keys.file, inlay.uid, COUNTER);
    let mirrored = Mirrored::Plain {
        uid: inlay.uid,
        counter: COUNTER,
    };
    let code = Code {
        mirrored,
        mac: sdmmac(&session_key, input),
    };
    OneTimeCode {
        uid: mirrored.uid_text(),
        token: code.token(),
    }
}

#[test]
fn a_mac_window_that_begins_elsewhere_in_the_url() {
    let inlay = configured(Mirror::Plain);
    let known = Known {
        inlays: std::slice::from_ref(&inlay),
        ..Known::default()
    };
    let windows = [
        ("https://", Window::Scheme),
        ("example.com", Window::Host),
        ("/t/k3v9qa", Window::Path),
        ("k3v9qa", Window::Offset(22)),
        ("uid=", Window::UidParameter),
        ("04DE", Window::Uid),
        ("token=", Window::Offset(48)),
    ];
    for (start, window) in windows {
        let code = made_over(&inlay, "https://example.com/t/k3v9qa", start);
        let url = code.url("https://example.com/t", "k3v9qa");
        let diagnosis = diagnose(&code.uid, &code.token, Some(&url), &known);
        assert_eq!(diagnosis.findings, [Finding::MacWindow(window)], "{start}");
    }
    // Within the query no URL is needed; a URL in lower case does not mislead.
    let code = made_over(&inlay, "https://example.com/t/k3v9qa", "uid=");
    let lower = |text: &str| text.to_lowercase();
    for (uid, token) in [
        (code.uid.clone(), code.token.clone()),
        (lower(&code.uid), lower(&code.token)),
    ] {
        let diagnosis = diagnose(&uid, &token, None, &known);
        assert_eq!(
            diagnosis.findings,
            [Finding::MacWindow(Window::UidParameter)]
        );
    }
}

#[test]
fn a_parameter_between_uid_and_token_is_no_window_that_can_be_set() {
    let inlay = but(&configured(Mirror::Plain), |c| c.mac_from = MacFrom::Uid);
    let known = Known {
        inlays: std::slice::from_ref(&inlay),
        ..Known::default()
    };
    let query = format!("{}&x=1&token={COUNTER:06X}", inlay.uid);
    let session_key = mac_session_key(&inlay.keys.file, inlay.uid, COUNTER);
    let mirrored = Mirrored::Plain {
        uid: inlay.uid,
        counter: COUNTER,
    };
    let mac = sdmmac(&session_key, query.as_bytes());
    let token = Code { mirrored, mac }.token();
    let uid = mirrored.uid_text();
    assert!(verify(&uid, &token, known.inlays).is_err());
    let url = format!("https://example.com/t/k3v9qa?uid={uid}&x=1&token={token}");
    let diagnosis = diagnose(&uid, &token, Some(&url), &known);
    assert_eq!(diagnosis.findings, [Finding::MacWindow(Window::Offset(33))]);
}

#[test]
fn the_counters_byte_order() {
    let inlay = configured(Mirror::Plain);
    let known = Known {
        inlays: std::slice::from_ref(&inlay),
        ..Known::default()
    };
    let reversed = COUNTER.swap_bytes() >> 8;
    assert!(reversed <= COUNTER_MAX);
    // The URL shows the counter LSB first ...
    let code = tap(&inlay);
    let token = format!("{reversed:06X}{}", &code.token[6..]);
    let diagnosis = diagnose(&code.uid, &token, None, &known);
    assert_eq!(diagnosis.findings, [Finding::CounterByteOrder]);
    // ... or the MAC is computed with the counter MSB first.
    let session_key = mac_session_key(&inlay.keys.file, inlay.uid, reversed);
    let mirrored = Mirrored::Plain {
        uid: inlay.uid,
        counter: COUNTER,
    };
    let token = Code {
        mirrored,
        mac: sdmmac(&session_key, b""),
    }
    .token();
    let diagnosis = diagnose(&code.uid, &token, None, &known);
    assert_eq!(diagnosis.findings, [Finding::CounterByteOrder]);
}
