//! URLs that others have published.

use tapdesk_service::inlay::derivation::MasterSecret;
use tapdesk_service::inlay::key::{Sic43ntKey, SomeKey};
use tapdesk_service::inlay::solver::{Certainty, KeySource};
use tapdesk_service::inlay::technology::Technology;
use tapdesk_service::inlay::template::{MacStart, Template, TemplateSettings};

use super::{OTHER, ZERO, aes, solved};
use crate::inlay::published::{VECTORS, maybe};

/// Every published URL with its AES keys: the solver finds its template, or says that it cannot.
#[test]
fn published_urls_are_solved() {
    let mut proved = 0;
    for vector in VECTORS.iter() {
        let (inputs, expected) = (&vector["inputs"], &vector["expected"]);
        let (Some(url), Some(file)) = (maybe(inputs, "url"), maybe(inputs, "file_key")) else {
            continue;
        };
        let keys = [
            aes(OTHER),
            aes(maybe(inputs, "meta_key").unwrap_or(ZERO)),
            aes(file),
        ];
        let found = solved(&[url], &keys, &[]);
        let name = &vector["id"];
        let host_is_a_code = url.starts_with("https://AAE1");
        // The vector's slug is a single letter, and nothing else identifies the tag.
        let has_no_slug = name == "sdm-mac-window/aes-plain-ctr-only";
        if host_is_a_code || has_no_slug {
            assert_eq!(found.certainty, Certainty::Unknown, "{name}");
            continue;
        }
        assert_ne!(found.certainty, Certainty::Unknown, "{name}");
        let truth = found.candidates.iter().find(|format| {
            let uid = format.reads[0].0.map(|uid| uid.to_string());
            format.proved_by == 1 && uid.as_deref() == maybe(expected, "uid")
        });
        let truth = truth.unwrap_or_else(|| panic!("{name}: {found:?}"));
        assert_eq!(
            truth.reads[0].1.map(u64::from),
            expected["counter"].as_u64(),
            "{name}"
        );
        let lrp = inputs["mode"] == "LRP";
        assert_eq!(truth.settings.mode.as_str() == "lrp", lrp, "{name}");
        if let Some(start) = inputs["offsets"]["SDMMACInputOffset"].as_u64() {
            let template = Template::new(truth.settings.clone()).unwrap();
            let layout = template.layout(None).unwrap();
            assert_eq!(layout.mac_input.map(|at| at as u64), Some(start), "{name}");
        }
        proved += u32::from(found.certainty == Certainty::Proved);
    }
    assert!(proved >= 25, "only {proved} are proved");
}

#[test]
fn the_example_of_the_application_note() {
    let url = "https://my424dna.com/?picc_data=FDE4AFA99B5C820A2C1BB0F1C792D0EB&enc=94592FDE69FA06E8E3B6CA686A22842B&cmac=C48B89C17A233B2C";
    let found = solved(&[url], &[aes(ZERO)], &[]);
    assert_eq!(found.certainty, Certainty::Proved);
    let settings = &found.candidates[0].settings;
    assert_eq!(
        settings.template,
        "https://my424dna.com/?picc_data={picc}&enc={enc}&cmac={mac}"
    );
    assert_eq!(
        (settings.mac_from, settings.enc_length),
        (MacStart::Enc, Some(32))
    );
    assert_eq!(settings.technology, Technology::Ntag424Dna);

    // Without its key, only its shape is known.
    let found = solved(&[url], &[aes(OTHER)], &[]);
    assert_eq!(found.certainty, Certainty::Narrowed);
    assert!(found.candidates.iter().all(|format| format.proved_by == 0));
}

/// The taps of the real card in boltcard's `docs/TEST_VECTORS.md`, at the address in its documents,
/// and those of other published cards.
#[test]
fn published_taps_of_boltcard() {
    let keys = [
        aes("B45775776CB224C75BCDE7CA3704E933"),
        aes(OTHER),
        aes("0C3B25D92B38AE443229DD59AD34B85D"),
    ];
    let urls = [
        ("4E2E289D945A66BB13377A728884E867", "E19CCB1FED8892CE"),
        ("00F48C4F8E386DED06BCDC78FA92E2FE", "66B4826EA4C155B4"),
        ("0DBF3C59B59B0638D60B5842A997D4D1", "CC61660C020B4D96"),
    ]
    .map(|(p, c)| format!("lnurlw://card.yourdomain.com/ln?p={p}&c={c}"));
    for urls in [&urls[..1], &urls[..]] {
        let urls: Vec<&str> = urls.iter().map(|url| &**url).collect();
        let found = solved(&urls, &keys, &[]);
        assert_eq!(found.certainty, Certainty::Proved, "{found:?}");
        let format = &found.candidates[0];
        let expected = "lnurlw://card.yourdomain.com/ln?p={picc}&c={mac}";
        let expected = TemplateSettings::new(expected, Technology::Ntag424Dna);
        assert_eq!(format.settings, expected);
        assert_eq!(format.proved_by, urls.len());
        let uid = Some("04996C6A926980".parse().unwrap());
        let reads: Vec<_> = [3, 5, 7].map(|counter| (uid, Some(counter))).into();
        assert_eq!(format.reads, reads[..urls.len()]);
        let Some(KeySource::Given { meta, file, .. }) = format.source else {
            panic!("{format:?}");
        };
        assert_eq!((meta, file), (Some(2), 0));
    }

    let mut count = 0;
    let of_cards = VECTORS.iter();
    for vector in of_cards.filter(|vector| vector["technology"] == "boltcard-tap") {
        let (inputs, expected) = (&vector["inputs"], &vector["expected"]);
        let input = |name| maybe(inputs, name).unwrap();
        let url = format!(
            "https://card.example/boltcards/api/v1/scan?p={}&c={}",
            input("p"),
            input("c")
        );
        let found = solved(&[&url], &[aes(input("k1")), aes(input("k2"))], &[]);
        let name = &vector["id"];
        if expected["authentic"] == true {
            assert_eq!(found.certainty, Certainty::Proved, "{name}: {found:?}");
            let (uid, counter) = found.candidates[0].reads[0];
            let uid = uid.map(|uid| uid.to_string());
            assert_eq!(uid.as_deref(), maybe(expected, "uid"), "{name}");
            assert_eq!(counter.map(u64::from), expected["counter"].as_u64());
        } else {
            assert_ne!(found.certainty, Certainty::Proved, "{name}: {found:?}");
            assert!(found.candidates.iter().all(|format| format.proved_by == 0));
        }
        count += 1;
    }
    assert_eq!(count, 5);
}

/// The URLs of Blue Bite's mtag SDK (`MtagUnitTests.java`) come from chips whose codes no public
/// document explains: the solver says so, whatever keys are tried.
#[test]
fn published_urls_of_the_mtag_sdk_cannot_be_told() {
    let keys = [
        aes(ZERO),
        aes(OTHER),
        SomeKey::Rolling(Sic43ntKey::from_hex("00000000000000000000").unwrap()),
    ];
    let master = MasterSecret::from_hex(OTHER).unwrap();
    for url in [
        "https://mtag.io/njaix4",
        "https://mtag.io/n32403784",
        "https://mtag.io/njaix4/0123456789x0002C42702",
        "https://mtag.io/njaix4?id=12345678&sig=00000F1234567678",
        "https://mtag.io/njaix4?id=12345678&num=8675309&sig=00000F1234567678",
        "https://mtag.io/njaix4?tagID=12345678&tac=7C3CC5B3FEDD48EE2DA327DD",
    ] {
        let found = solved(&[url], &keys, std::slice::from_ref(&master));
        let told = (found.certainty, found.candidates);
        assert_eq!(told, (Certainty::Unknown, vec![]), "{url}");
    }
}
