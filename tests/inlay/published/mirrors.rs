//! Chips that mirror UID and counter, without a MAC.

use tapdesk_service::inlay::assessment::Authenticity;
use tapdesk_service::inlay::key::InlayKeys;
use tapdesk_service::inlay::technology::Technology;
use tapdesk_service::inlay::technology::ntag21x::{MirrorConfig, MirrorContent};
use tapdesk_service::inlay::template::{Request, Template, TemplateSettings};

use super::{array, bytes, maybe, number, one, some_uid, template, text, uid, vectors};

fn of(text: &str, technology: Technology) -> Template {
    template(TemplateSettings::new(text, technology))
}

fn ntag21x(id: &str) {
    one("ntag21x-mirror", id, |name, inputs, expected| {
        if let Some(mirrored) = maybe(inputs, "text") {
            return parse(name, mirrored, inputs, expected);
        }
        let cfg0 = maybe(inputs, "cfg0").unwrap_or("D4000CFF");
        // In the data sheet's example, the counter is on.
        let cfg1 = maybe(inputs, "cfg1").unwrap_or("10050000");
        let config = MirrorConfig::from_pages(array(cfg0), array(cfg1));
        if let Some(page) = number(&expected["mirror_page"]) {
            assert_eq!(number(&expected["mirror_conf"]), Some(3));
            assert_eq!(config.content, MirrorContent::Both);
            assert_eq!(
                Some(u32::from(config.byte)),
                number(&expected["mirror_byte"])
            );
            assert_eq!(u32::from(config.page), page);
            assert_eq!(Some(u32::from(config.auth0)), number(&expected["auth0"]));
            assert_eq!(config.counter_enabled, expected["nfc_cnt_en"] == true);
            assert_eq!(
                config.counter_protected,
                expected["nfc_cnt_pwd_prot"] == true
            );
            return;
        }
        let counter = number(&inputs["counter_after_this_read"]);
        let counter = counter.or(number(&inputs["counter"])).unwrap();
        let written = config.mirrored(uid(inputs).unwrap(), counter).unwrap();
        if let Some(mirrored) = maybe(expected, "mirrored") {
            assert_eq!(written.text, mirrored);
        }
        let Some(memory) = maybe(inputs, "user_memory_from_page4_hex") else {
            return;
        };
        let memory = bytes(memory);
        assert_eq!(
            written.over(&memory),
            bytes(text(expected, "read_memory_hex"))
        );
    });
}

fn parse(name: &str, mirrored: &str, inputs: &serde_json::Value, expected: &serde_json::Value) {
    let run = match mirrored.len() {
        14 => "{uid}",
        _ => "{uid}x{counter}",
    };
    let template = of(
        &format!("https://n.example/{{slug}}?m={run}"),
        Technology::Ntag213,
    );
    let url = format!("https://n.example/bottle-41?m={mirrored}");
    let addressed = template.read(&Request::of_url(&url).unwrap()).unwrap();
    if name == "parse-bluebite-smt" {
        // Another vendor's form in a path: 10 digits of its own instead of a UID.
        assert!(text(inputs, "text").ends_with(text(expected, "last_segment")));
        assert!(addressed.code.is_err());
        return;
    }
    let code = addressed.code.unwrap().unwrap();
    let found = template.check(None, &code, some_uid(expected), &InlayKeys::None);
    assert_eq!(found.authenticity, Authenticity::NotCheckable);
    assert_eq!(
        (found.uid, found.counter),
        (uid(expected), number(&expected["counter"]))
    );
    assert!(!found.proves_tap());
}

fn ntag213_tt(id: &str) {
    one("ntag213tt-mirror", id, |_, inputs, expected| {
        let parts = [
            ("uid", "{uid}"),
            ("ctr", "{counter}"),
            ("tt", "{tamper}"),
            ("uid_tt", "{uid}x{tamper}"),
            ("ctr_tt", "{counter}x{tamper}"),
            ("all", "{uid}x{counter}x{tamper}"),
        ];
        for (name, run) in parts {
            let template = of(
                &format!("https://n.example/{{slug}}?m={run}"),
                Technology::Ntag213Tt,
            );
            let url = format!("https://n.example/bottle-41?m={}", text(expected, name));
            let addressed = template.read(&Request::of_url(&url).unwrap()).unwrap();
            let code = addressed.code.unwrap().unwrap();
            assert!(
                code.uid().is_none_or(|found| Some(found) == uid(inputs)),
                "{name}"
            );
            let counter = code.counter();
            assert!(
                counter.is_none_or(|found| Some(found) == number(&inputs["counter"])),
                "{name}"
            );
        }
    });
}

vectors! {
    ntag213_tt {
        lengths_and_shape "ntag213tt-mirror/lengths-and-shape",
    }
    ntag21x {
        datasheet_uid_ctr "ntag21x-mirror/datasheet-uid-ctr",
        gen_213_uid_ctr "ntag21x-mirror/gen-213-uid-ctr",
        gen_213_conf3_counter_off "ntag21x-mirror/gen-213-conf3-counter-off",
        parse_both "ntag21x-mirror/parse-both",
        parse_uid_only "ntag21x-mirror/parse-uid-only",
        parse_uid_mirrored_ctr_template "ntag21x-mirror/parse-uid-mirrored-ctr-template",
        parse_bluebite_smt "ntag21x-mirror/parse-bluebite-smt",
        cfg_datasheet "ntag21x-mirror/cfg-datasheet",
        datasheet_table18_memory "ntag21x-mirror/datasheet-table18-memory",
    }
}
