//! NTAG 22x DNA, SIC43NT, SIC43S1.

use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::assessment::Tamper;
use tapdesk_service::inlay::key::{InlayKeys, RollingKey};
use tapdesk_service::inlay::technology::sic43nt::{codes, factory_key, keystream};
use tapdesk_service::inlay::technology::{Technology, sic43s1};
use tapdesk_service::inlay::template::{Field, Filled, Request, Template, TemplateSettings};

use super::{
    aes, array, assert_as_expected, bytes, each, key, maybe, read, some_uid, template, text, uid,
};

fn of(text: &str, technology: Technology) -> Template {
    template(TemplateSettings::new(text, technology))
}

#[test]
fn ntag22x() {
    each("ntag22x-dna", |_, inputs, expected| {
        let shown = text(inputs, "text");
        let run = match shown.len() {
            38 => "{uid}x{counter}x{mac}",
            _ => "{uid}x{counter}x{tamper}x{mac}",
        };
        let template = of(
            &format!("https://n.example/?m={run}"),
            Technology::Ntag223Dna,
        );
        let code = read(&template, &format!("https://n.example/?m={shown}"));
        let keys = aes(None, key(inputs, "suncmac_key"));
        let found = template.check(None, &code, code.uid().unwrap(), &keys);
        assert_as_expected(&found, expected);
        if let Some(stored) = maybe(expected, "stored_tt") {
            let state = match [stored, text(expected, "current_tt")].concat().as_str() {
                "CC" => Tamper::Sealed,
                "CO" | "OO" => Tamper::Open,
                _ => Tamper::Unknown,
            };
            assert_eq!(found.tamper, Some(state));
        }
        // A counter of 0 is one that is switched off.
        assert_eq!(
            found.proves_tap(),
            found.is_authentic() && found.counter != Some(0)
        );
        let other = template.check(None, &code, Uid::from_bytes([4; 7]), &keys);
        assert!(!other.is_authentic());
    });
}

#[test]
fn sic43nt() {
    let template = of(
        "https://s.example/?d={uid}{tamper}{counter}{mac}",
        Technology::Sic43Nt,
    );
    each("sic43nt", |name, inputs, expected| {
        let key = RollingKey::from_hex(text(inputs, "key")).unwrap();
        let keys = InlayKeys::Rolling(key.clone());
        if let Some(sent) = maybe(inputs, "d") {
            let url = format!("https://s.example/?d={sent}");
            let addressed = template.read(&Request::of_url(&url).unwrap()).unwrap();
            if name == "neg-short" {
                assert!(addressed.code.is_err());
                return;
            }
            let code = addressed.code.unwrap().unwrap();
            let found = template.check(None, &code, code.uid().unwrap(), &keys);
            assert_eq!(found.is_authentic(), expected["authentic"] == true);
            assert_eq!(found.tamper, Some(Tamper::Unknown));
            return;
        }
        let uid = uid(inputs).unwrap();
        if !name.ends_with("customkey") {
            assert_eq!(key, factory_key(uid));
        }
        let factory = Technology::Sic43Nt.has_factory_key(uid, &keys);
        assert_eq!(factory, !name.ends_with("customkey"));
        let time_stamp = u32::from_str_radix(text(inputs, "timestamp"), 16).unwrap();
        let stream: [u8; 12] = keystream(key.expose(), time_stamp);
        assert_eq!(stream, array(text(expected, "keystream_12_bytes")));
        let [plain, secure] = codes(&key, time_stamp);
        assert_eq!(plain, array(text(expected, "rolling_code")));
        assert_eq!(secure, array(text(expected, "rolling_code_secure_tamper")));
        for (url, state) in [
            ("url_closed", Tamper::Unknown),
            ("url_open_plain", Tamper::Unknown),
            ("url_open_secure", Tamper::Open),
        ] {
            let code = read(&template, text(inputs, url));
            let found = template.check(None, &code, uid, &keys);
            assert!(found.is_authentic(), "{url}");
            assert_eq!(found.counter, Some(time_stamp));
            assert_eq!(found.tamper, Some(state), "{url}");
        }
    });
}

#[test]
fn sic43s1() {
    let newer = "https://s.example/?U={uid}&TF={tamper}&TS={counter}&SAC={mac}";
    let template = of(newer, Technology::Sic43S1);
    let older = of(&newer.replace("SAC", "RLC"), Technology::Sic43S1);
    each("sic43s1", |name, inputs, expected| {
        let keys = aes(None, key(inputs, "key"));
        let uid = uid(inputs).unwrap();
        assert_eq!(sic43s1::factory_key(uid), key(inputs, "key"));
        assert!(Technology::Sic43S1.has_factory_key(uid, &keys));
        assert!(!Technology::Ntag223Dna.has_factory_key(uid, &keys));
        if name == "neg-flag-edited" {
            let code = Filled::default()
                .with(Field::Uid, text(inputs, "uid"))
                .with(Field::Tamper, text(inputs, "tamper_flag"))
                .with(Field::Counter, text(inputs, "timestamp"))
                .with(Field::Mac, text(inputs, "code"));
            let found = template.check(None, &code, some_uid(inputs), &keys);
            assert!(!found.is_authentic());
            return;
        }
        for (template, url) in [(&template, "url"), (&older, "url_older")] {
            let code = read(template, text(inputs, url));
            assert_eq!(
                code.all_bytes(Field::Mac),
                Some(bytes(text(expected, "code")))
            );
            let found = template.check(None, &code, uid, &keys);
            assert!(found.is_authentic() && found.proves_tap());
            let state = match text(inputs, "tamper_flag") {
                "00" => Tamper::Sealed,
                _ => Tamper::Open,
            };
            assert_eq!(found.tamper, Some(state));
        }
    });
}
