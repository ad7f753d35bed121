//! URLs that others have published.

use tapdesk_service::inlay::derivation::MasterSecret;
use tapdesk_service::inlay::key::{Sic43ntKey, SomeKey};
use tapdesk_service::inlay::solver::{Certainty, Format, KeySource};
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

/// The codes of chips without a whole URL in their source, at an address of sdm-backend's form.
#[test]
fn published_codes_of_tamper_loops_are_solved() {
    let mut count = 0;
    let vectors = VECTORS.iter();
    for vector in vectors.filter(|vector| vector["technology"] == "ntag424-tagtamper") {
        let (inputs, expected) = (&vector["inputs"], &vector["expected"]);
        let name = &vector["id"];
        let (Some(picc), Some(enc)) = (maybe(inputs, "picc_data"), maybe(inputs, "enc_file_data"))
        else {
            continue;
        };
        let mac = maybe(inputs, "sdmmac").unwrap();
        let url = format!("https://sdm.example/tagtt?picc_data={picc}&enc={enc}&cmac={mac}");
        let keys = [aes(maybe(inputs, "meta_key").unwrap()), aes(OTHER)];
        let found = solved(&[&url], &keys, &[]);
        let format = &found.candidates[0];
        assert_eq!(format.proved_by, 1, "{name}: {found:?}");
        let uid = format.reads[0].0.map(|uid| uid.to_string());
        assert_eq!(uid.as_deref(), maybe(expected, "uid"), "{name}");
        let lrp = inputs["mode"] == "LRP";
        assert_eq!(format.settings.mode.as_str() == "lrp", lrp, "{name}");
        // Letters of a loop leave open whether they are its state or the owner's text.
        let letters = [maybe(expected, "permanent"), maybe(expected, "current")];
        let is_state = letters
            .iter()
            .all(|letter| letter.is_some_and(|letter| "COI".contains(letter)));
        let has_place = |at| {
            found
                .candidates
                .iter()
                .any(|one| one.settings.tamper_at == at)
        };
        assert!(has_place(None), "{name}");
        assert_eq!(has_place(Some(0)), is_state, "{name}: {found:?}");
        count += 1;
    }
    assert!(count >= 6, "only {count}");
}

/// A SIC43NT has 32 bits, so that two codes prove it; of a SIC43S1 one does.
#[test]
fn published_codes_of_silicon_craft_are_solved() {
    let urls_of = |technology: &'static str| {
        let vectors = VECTORS.iter();
        vectors
            .filter(move |vector| vector["technology"] == technology)
            .filter_map(|vector| {
                let url =
                    maybe(&vector["inputs"], "url_closed").or(maybe(&vector["inputs"], "url"));
                Some((vector, url?, maybe(&vector["inputs"], "key")?))
            })
    };
    for (vector, url, key) in urls_of("sic43nt") {
        let key = SomeKey::Rolling(Sic43ntKey::from_hex(key).unwrap());
        let found = solved(&[url], &[aes(OTHER), key], &[]);
        assert_eq!(found.certainty, Certainty::Narrowed, "{}", vector["id"]);
        // A time stamp of zeros leaves the places of the tamper flag open.
        let template = "https://s.example/?d={uid}{tamper}{counter}{mac}";
        let is_right = |format: &Format| format.settings.template == template;
        let right = found.candidates.iter().find(|format| is_right(format));
        assert_eq!(right.map(|format| format.proved_by), Some(1), "{found:?}");
    }
    let mut count = 0;
    for (vector, url, key) in urls_of("sic43s1") {
        let found = solved(&[url], &[aes(OTHER), aes(key)], &[]);
        assert_eq!(found.certainty, Certainty::Proved, "{}", vector["id"]);
        let settings = &found.candidates[0].settings;
        assert_eq!(settings.technology, Technology::Sic43S1);
        count += 1;
    }
    assert_eq!(count, 2);
}

/// The mirrors of NTAG 22x in NXP's notes, at an address.
#[test]
fn published_codes_of_ntag22x_are_solved() {
    let mut count = 0;
    let vectors = VECTORS.iter();
    for vector in vectors.filter(|vector| vector["technology"] == "ntag22x-dna") {
        let (inputs, expected) = (&vector["inputs"], &vector["expected"]);
        let (name, mirror) = (&vector["id"], maybe(inputs, "text").unwrap());
        let url = format!("https://tags.example/?m={mirror}");
        let key = aes(maybe(inputs, "suncmac_key").unwrap());
        let found = solved(&[&url], &[aes(OTHER), key], &[]);
        let proved = found.candidates.iter().find(|format| format.proved_by == 1);
        if expected["authentic"] == true {
            let format = proved.unwrap_or_else(|| panic!("{name}: {found:?}"));
            let (uid, counter) = format.reads[0];
            let uid = uid.map(|uid| uid.to_string());
            assert_eq!(uid.as_deref(), maybe(expected, "uid"), "{name}");
            assert_eq!(counter.map(u64::from), expected["counter"].as_u64());
        } else {
            assert!(proved.is_none(), "{name}: {found:?}");
        }
        count += 1;
    }
    assert_eq!(count, 7);
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
/// document explains: the solver finds where the tag's name is, and no code, whatever keys are
/// tried.
#[test]
fn published_urls_of_the_mtag_sdk_have_a_name_and_no_code() {
    let keys = [
        aes(ZERO),
        aes(OTHER),
        SomeKey::Rolling(Sic43ntKey::from_hex("00000000000000000000").unwrap()),
    ];
    let master = MasterSecret::from_hex(OTHER).unwrap();
    for url in [
        "https://mtag.io/njaix4",
        "https://mtag.io/n32403784",
        "https://mtag.io/njaix4?id=12345678&sig=00000F1234567678",
        "https://mtag.io/njaix4?id=12345678&num=8675309&sig=00000F1234567678",
        "https://mtag.io/njaix4?tagID=12345678&tac=7C3CC5B3FEDD48EE2DA327DD",
    ] {
        let found = solved(&[url], &keys, std::slice::from_ref(&master));
        assert_eq!(found.certainty, Certainty::Narrowed, "{url}: {found:?}");
        let [format] = found.candidates.as_slice() else {
            panic!("{url}: {found:?}");
        };
        assert_eq!(format.settings.template, "https://mtag.io/{slug}", "{url}");
        assert_eq!(format.proved_by, 0);
        assert_eq!(found.remarks.len(), 1, "{url}: {found:?}");
    }
    // A mirror of NTAG 21x has a UID of 14 digits.
    let url = "https://mtag.io/njaix4/0123456789x0002C42702";
    let found = solved(&[url], &keys, std::slice::from_ref(&master));
    let shown = (found.certainty, found.candidates);
    assert_eq!(shown, (Certainty::Unknown, vec![]), "{url}");
}
