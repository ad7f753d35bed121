//! Forms of URLs that other services publish, without the keys: only the shape tells them.

use tapdesk_service::inlay::solver::{Certainty, Solution};
use tapdesk_service::inlay::template::Lookup;

use super::solved;

const UID: &str = "04A39493CC8680";
const PICC: &str = "EF963FF7828658A599F3041510671E88";
const MAC: &str = "94EED9EE65337086";

fn texts(found: &Solution) -> Vec<&str> {
    let mut texts: Vec<&str> = Vec::new();
    for format in &found.candidates {
        if !texts.contains(&&*format.settings.template) {
            texts.push(&format.settings.template);
        }
    }
    texts
}

fn words(found: &Solution) -> String {
    let words = found.remarks.iter().map(ToString::to_string);
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn published_forms_come_before_other_readings_of_a_shape() {
    for (url, template, preset) in [
        (
            format!("https://m.example.com/njaix4?uid={UID}&token=00001F{MAC}"),
            "https://m.example.com/{slug}?uid={uid}&token={counter}{mac}",
            "bluebite",
        ),
        (
            format!("https://m.example.com/AbC123xy?uid={UID}&token=00001F{MAC}"),
            "https://m.example.com/{slug}?uid={uid}&token={counter}{mac}",
            "bluebite",
        ),
        (
            format!("https://m.example.com/v/njaix4?uid={UID}&token=00001F{MAC}"),
            "https://m.example.com/v/{slug}?uid={uid}&token={counter}{mac}",
            "bluebite",
        ),
        (
            format!("https://m.example.com/1042?uid={UID}&token=00001F{MAC}"),
            "https://m.example.com/{slug}?uid={uid}&token={counter}{mac}",
            "bluebite",
        ),
        (
            format!("https://mtag.io/njaix4?uid={PICC}&token={MAC}"),
            "https://mtag.io/{slug}?uid={picc}&token={mac}",
            "bluebite",
        ),
        (
            format!("https://mtag.io/njaix4?id={UID}&num=00001F&sig={MAC}"),
            "https://mtag.io/{slug}?id={uid}&num={counter}&sig={mac}",
            "bluebite",
        ),
        (
            "https://mtag.io/nilpps/042E276AA24881x0001A22702".to_owned(),
            "https://mtag.io/{slug}/{uid}x{counter}2702",
            "bluebite",
        ),
        (
            format!("https://shop.example/?x=abcd1234&n=00001F&e={MAC}"),
            "https://shop.example/?x={slug}&n={counter}&e={mac}",
            "ixkio",
        ),
        (
            format!("https://shop.example/?x=AbC123xy&n=00001F&e={MAC}"),
            "https://shop.example/?x={slug}&n={counter}&e={mac}",
            "ixkio",
        ),
        (
            format!("https://shop.example/?x=abc_123&n=00001F&e={MAC}"),
            "https://shop.example/?x={slug}&n={counter}&e={mac}",
            "ixkio",
        ),
        (
            format!("https://shop.example/?x=K9-77Zq&n=00001F&e={MAC}"),
            "https://shop.example/?x={slug}&n={counter}&e={mac}",
            "ixkio",
        ),
        (
            format!("https://sdm.example/tagpt?uid={UID}&ctr=00001F&cmac={MAC}"),
            "https://sdm.example/tagpt?uid={uid}&ctr={counter}&cmac={mac}",
            "sdm_backend",
        ),
        (
            format!("https://sdm.example/tag?picc_data={PICC}&enc={PICC}&cmac={MAC}"),
            "https://sdm.example/tag?picc_data={picc}&enc={enc}&cmac={mac}",
            "sdm_backend",
        ),
        (
            format!("lnurlw://card.example/ln?p={PICC}&c={MAC}"),
            "lnurlw://card.example/ln?p={picc}&c={mac}",
            "boltcard",
        ),
    ] {
        let found = solved(&[&url], &[], &[]);
        assert_eq!(found.certainty, Certainty::Narrowed, "{url}: {found:?}");
        assert_eq!(texts(&found), [template], "{url}");
        for format in &found.candidates {
            assert_eq!(format.preset(), Some(preset), "{url}");
        }
        assert!(found.unused.is_empty(), "{url}: {found:?}");
    }
}

#[test]
fn a_url_that_no_chip_writes_into_is_found_by_its_differences() {
    for (urls, template) in [
        (&["https://mtag.io/njaix4"][..], "https://mtag.io/{slug}"),
        (&["https://mtag.io/n32403784"], "https://mtag.io/{slug}"),
        (
            &["https://parley.mtag.io/nn6r8u"],
            "https://parley.mtag.io/{slug}",
        ),
        (
            &["https://go.example/abcd1234", "https://go.example/abcd1235"],
            "https://go.example/{slug}",
        ),
        (
            &[
                "https://go.example/q/bottle-1/en",
                "https://go.example/q/bottle-2/en",
                "https://go.example/q/bottle-3/en",
            ],
            "https://go.example/q/{slug}/en",
        ),
        // A tap forgives what apps append.
        (
            &["https://mtag.io/njaix4&brid=abc"],
            "https://mtag.io/{slug}",
        ),
        (&["https://mtag.io/njaix4/"], "https://mtag.io/{slug}"),
        (
            &["https://mtag.io/njaix4/", "https://mtag.io/nilpps"],
            "https://mtag.io/{slug}",
        ),
        (
            &[
                "https://go.example/q/abcd1234&brid=abc",
                "https://go.example/q/abcd1235/",
            ],
            "https://go.example/q/{slug}",
        ),
        (
            &[
                "https://go.example/q/bottle-1/",
                "https://go.example/q/bottle-2/",
            ],
            "https://go.example/q/{slug}/",
        ),
    ] {
        let found = solved(urls, &[], &[]);
        assert_eq!(found.certainty, Certainty::Narrowed, "{urls:?}: {found:?}");
        assert_eq!(texts(&found), [template]);
        assert_eq!(found.candidates[0].proved_by, 0);
        assert!(
            words(&found).contains("no tap can be verified"),
            "{found:?}"
        );
    }
    for urls in [
        &["https://go.example/abcd1234"][..],
        &[
            "https://go.example/bottle-1/box-10",
            "https://go.example/bottle-2/box-11",
        ],
        &[
            "https://one.example/abcd1234",
            "https://two.example/abcd1235",
        ],
    ] {
        let found = solved(urls, &[], &[]);
        assert_eq!(found.certainty, Certainty::Unknown, "{urls:?}: {found:?}");
        let reasons = found.unused.iter().map(|unused| unused.why.name());
        assert_eq!(reasons.collect::<Vec<_>>(), vec!["no_code"; urls.len()]);
    }
}

/// NXP's mirror of NTAG 21x: the UID finds the inlay, and proves nothing.
#[test]
fn a_mirrored_uid_without_a_mac_finds_the_inlay() {
    let url = "https://n.example/t?m=04A1B2C3D4E580x000001";
    let found = solved(&[url], &[], &[]);
    assert_eq!(found.certainty, Certainty::Narrowed);
    assert_eq!(texts(&found), ["https://n.example/t?m={uid}x{counter}"]);
    for format in &found.candidates {
        assert_eq!(format.settings.lookup, Some(Lookup::Unverified));
        assert!(!format.settings.technology.rolls());
    }
    // Apps write URLs in small letters.
    for (url, template) in [
        (url.to_lowercase(), "https://n.example/t?m={uid}x{counter}"),
        (
            "https://n.example/04e141124c2880x003f31".to_owned(),
            "https://n.example/{uid}x{counter}",
        ),
        (
            "https://mtag.io/nilpps/042e276aa24881x0001a22702".to_owned(),
            "https://mtag.io/{slug}/{uid}x{counter}2702",
        ),
    ] {
        let found = solved(&[&url], &[], &[]);
        assert_eq!(found.certainty, Certainty::Narrowed, "{url}: {found:?}");
        assert_eq!(texts(&found), [template]);
    }
    // A URL that has a MAC, or a part of one, is that of another chip.
    let url = format!("https://n.example/t?u={UID}&n=000001&c={}", &MAC[..15]);
    let found = solved(&[&url], &[], &[]);
    assert_eq!(found.certainty, Certainty::Unknown, "{found:?}");
}

#[test]
fn codes_of_hid_are_explained() {
    let url = "https://mtag.io/njaix4?tagID=12345678&tac=7C3CC5B3FEDD48EE2DA327DD";
    let found = solved(&[url], &[], &[]);
    assert_eq!(texts(&found), ["https://mtag.io/{slug}"]);
    assert!(words(&found).contains("only HID can check it"), "{found:?}");
}

#[test]
fn values_of_another_length_are_named() {
    for (url, says) in [
        (
            format!("https://x.example/?p={}&c={MAC}", &PICC[..30]),
            "\"p\" has 30 hex digits; encrypted PICC data has 32",
        ),
        (
            "https://mtag.io/njaix4/0123456789x0002C42702".to_owned(),
            "has 10 hex digits; a UID has 14",
        ),
        (
            format!("https://x.example/?p={PICC}&c={}", &MAC[..15]),
            "\"c\" has 15 hex digits, an odd number",
        ),
    ] {
        let found = solved(&[&url], &[], &[]);
        assert!(words(&found).contains(says), "{found:?}");
    }
}

#[test]
fn a_cut_value_is_named_by_the_values_beside_it() {
    for digits in [8, 9, 10, 11, 12, 14] {
        let url = format!("https://x.example/v?d={PICC}&f={}", &MAC[..digits]);
        let found = solved(&[&url], &[], &[]);
        let says = format!("\"f\" has {digits} hex digits; a MAC has 16");
        assert_eq!(
            words(&found),
            format!("The value of {says}. Copy the whole URL.")
        );
    }
    for digits in [18, 20, 24, 28, 30] {
        let url = format!("https://x.example/v?d={}&f={MAC}", &PICC[..digits]);
        let found = solved(&[&url], &[], &[]);
        let says = format!("\"d\" has {digits} hex digits; encrypted PICC data has 32");
        assert_eq!(
            words(&found),
            format!("The value of {says}. Copy the whole URL.")
        );
    }
    for (url, says) in [
        (
            format!("https://x.example/v?u={}&n=00001F&c={MAC}", &UID[..12]),
            "\"u\" has 12 hex digits; a UID has 14",
        ),
        (
            format!("https://x.example/v?e={PICC}{}", &MAC[..14]),
            "\"e\" has 46 hex digits; encrypted PICC data with a MAC has 48",
        ),
        (
            format!("https://x.example/v?d={PICC}&f={}O{}", &MAC[..8], &MAC[9..]),
            "\"f\" has the letter \"O\", which is no hex digit",
        ),
        (
            format!("https://x.example/v?d={PICC}&f={}l{}", &MAC[..8], &MAC[9..]),
            "\"f\" has the letter \"l\", which is no hex digit",
        ),
    ] {
        let found = solved(&[&url], &[], &[]);
        assert!(words(&found).contains(says), "{found:?}");
    }
    // Values of these lengths are whole, and other people's numbers are none.
    for url in [
        format!("https://x.example/v?d={PICC}&u={UID}"),
        format!("https://x.example/v?m={UID}00001F&c={MAC}"),
        format!("https://x.example/v?m={UID}{MAC}"),
        format!("https://x.example/v?d={PICC}&c={MAC}&lang=DEFACED1"),
        "https://x.example/v?hash=d41d8cd98f00b204e9800998ecf8427e&v=1a2b3c4d".to_owned(),
        "https://x.example/v?name=coffeebooiloabed".to_owned(),
    ] {
        let found = solved(&[&url], &[], &[]);
        assert_eq!(words(&found), "", "{url}");
    }
}

#[test]
fn a_counter_that_would_be_literal_text_is_named() {
    for (url, template) in [
        (
            format!("https://x.example/v?uid={UID}&ctr=61&cmac={MAC}"),
            "https://x.example/v?uid={uid}&ctr=61&cmac={mac}",
        ),
        (
            format!("https://x.example/v?uid={UID}&ctr=0003D&cmac={MAC}"),
            "https://x.example/v?uid={uid}&ctr=0003D&cmac={mac}",
        ),
        (
            format!("https://n.example/t?uid={UID}&ctr=003F31"),
            "https://n.example/t?uid={uid}&ctr=003F31",
        ),
    ] {
        let found = solved(&[&url], &[], &[]);
        assert!(texts(&found).contains(&template), "{found:?}");
        assert!(
            words(&found).contains("\"ctr\" is literal text"),
            "{found:?}"
        );
    }
    // A literal text beside a counter is the owner's.
    let url = format!("https://x.example/v?uid={UID}&ctr=00003D&cmac={MAC}&n=2");
    assert_eq!(words(&solved(&[&url], &[], &[])), "");
}

#[test]
fn values_behind_a_hash_are_explained() {
    let says = "Nothing behind \"#\" reaches a server";
    for url in [
        format!("https://h.example/#uid={UID}&ctr=00003D&mac={MAC}"),
        format!("https://h.example/#/tag?picc_data={PICC}&cmac={MAC}"),
    ] {
        let found = solved(&[&url], &[], &[]);
        assert_eq!(found.certainty, Certainty::Unknown, "{found:?}");
        assert!(words(&found).contains(says), "{found:?}");
    }
    for url in [
        "https://h.example/#top".to_owned(),
        format!("https://h.example/v?picc_data={PICC}&cmac={MAC}#top"),
    ] {
        let found = solved(&[&url], &[], &[]);
        assert!(!words(&found).contains(says), "{found:?}");
    }
}

#[test]
fn a_name_in_the_query_is_found_by_its_differences() {
    for (urls, template) in [
        (
            [
                "https://shop.example.com/?x=abcd1234",
                "https://shop.example.com/?x=abcd1235",
            ],
            "https://shop.example.com/?x={slug}",
        ),
        (
            [
                "https://shop.example.com?x=abcd1234",
                "https://shop.example.com?x=abcd1235",
            ],
            "https://shop.example.com/?x={slug}",
        ),
        (
            [
                "https://go.example/tag.php?id=1042&lang=en",
                "https://go.example/tag.php?id=1043&lang=en",
            ],
            "https://go.example/tag.php?id={slug}",
        ),
    ] {
        let found = solved(&urls, &[], &[]);
        assert_eq!(found.certainty, Certainty::Narrowed, "{urls:?}: {found:?}");
        assert_eq!(texts(&found), [template]);
        assert!(words(&found).contains("verifies none"), "{found:?}");
    }
    for urls in [
        &["https://shop.example.com/?x=abcd1234"][..],
        &[
            "https://go.example/tag?id=1042&n=1",
            "https://go.example/tag?id=1043&n=2",
        ],
        &[
            "https://go.example/tag?id=1042",
            "https://go.example/tag?no=1043",
        ],
    ] {
        let found = solved(urls, &[], &[]);
        assert_eq!(found.certainty, Certainty::Unknown, "{urls:?}: {found:?}");
    }
    // A chip's URL is the answer, and not two links beside it.
    let url = format!("https://sdm.example/tag?picc_data={PICC}&cmac={MAC}");
    let links = ["https://mail.example/?u=1", "https://mail.example/?u=2"];
    let found = solved(&[links[0], &url, links[1]], &[], &[]);
    assert_eq!(found.urls, [url]);
}
