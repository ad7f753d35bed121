//! NTAG 22x DNA, SIC43NT, SIC43S1.

use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::assessment::Tamper;
use tapdesk_service::inlay::key::{InlayKeys, Sic43ntKey};
use tapdesk_service::inlay::technology::sic43nt::{codes, factory_key, keystream};
use tapdesk_service::inlay::technology::{Technology, sic43s1};
use tapdesk_service::inlay::template::{Field, Filled, Request, Template, TemplateSettings};

use super::{
    aes, array, assert_as_expected, bytes, key, maybe, one, read, some_uid, template, text, uid,
    vectors,
};

fn of(text: &str, technology: Technology) -> Template {
    template(TemplateSettings::new(text, technology))
}

fn ntag22x(id: &str) {
    one("ntag22x-dna", id, |_, inputs, expected| {
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
                "00" => Tamper::Off,
                _ => Tamper::Unknown,
            };
            assert_eq!(found.tamper, Some(state));
        }
        // A counter of 0 means that the counter is off.
        assert_eq!(
            found.proves_tap(),
            found.is_authentic() && found.counter != Some(0)
        );
        let other = template.check(None, &code, Uid::from_bytes([4; 7]), &keys);
        assert!(!other.is_authentic());
    });
}

fn sic43nt(id: &str) {
    let template = of(
        "https://s.example/?d={uid}{tamper}{counter}{mac}",
        Technology::Sic43Nt,
    );
    one("sic43nt", id, |name, inputs, expected| {
        let key = Sic43ntKey::from_hex(text(inputs, "key")).unwrap();
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

fn sic43_s1(id: &str) {
    let newer = "https://s.example/?U={uid}&TF={tamper}&TS={counter}&SAC={mac}";
    let template = of(newer, Technology::Sic43S1);
    let older = of(&newer.replace("SAC", "RLC"), Technology::Sic43S1);
    one("sic43s1", id, |name, inputs, expected| {
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

vectors! {
    ntag22x {
        an12998_1 "ntag22x-dna/an12998-1",
        sd_real_co "ntag22x-dna/sd-real-CO",
        sd_real_url "ntag22x-dna/sd-real-url",
        gen_plain_010203 "ntag22x-dna/gen-plain-010203",
        gen_cc00000000_000001 "ntag22x-dna/gen-CC00000000-000001",
        gen_oo12345678_002000 "ntag22x-dna/gen-OO12345678-002000",
        neg_tt_edited "ntag22x-dna/neg-tt-edited",
    }
    sic43nt {
        of_39493000012345_00000001 "sic43nt/39493000012345-00000001",
        of_39493012abcdef_00000000 "sic43nt/39493012ABCDEF-00000000",
        of_3949307700aa55_00010203 "sic43nt/3949307700AA55-00010203",
        of_394930a1a2a3a4_00001234_customkey "sic43nt/394930A1A2A3A4-00001234-customkey",
        neg_secure_code_with_flag_00 "sic43nt/neg-secure-code-with-flag-00",
        neg_short "sic43nt/neg-short",
        flag_not_authenticated_in_plain_mode "sic43nt/flag-not-authenticated-in-plain-mode",
    }
    sic43_s1 {
        cmac_00000001_00 "sic43s1/cmac-00000001-00",
        cmac_000001a4_aa "sic43s1/cmac-000001A4-AA",
        neg_flag_edited "sic43s1/neg-flag-edited",
    }
}
