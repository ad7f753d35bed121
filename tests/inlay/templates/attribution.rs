//! Several templates at one address: whose URL is it, and which sets of templates are refused.

use proptest::prelude::*;
use tapdesk_service::inlay::technology::{Mode, Technology};
use tapdesk_service::inlay::template::{
    ASKED_MAX, MacStart, Request, Template, TemplateSettings, ranked,
};
use tapdesk_tests::length;

use super::super::taps::{Chip, SLUG, chip};
use super::{settings, template};

/// The forms that sdm-backend answers at one path, and the values of a URL of each.
fn sdm_backend() -> Vec<(Template, String)> {
    let (aes, lrp) = ("0".repeat(32), "1".repeat(48));
    let (enc, mac) = ("2".repeat(32), "3".repeat(16));
    let form = |text: &str, mode, enc_length: Option<usize>| {
        let settings = TemplateSettings {
            mode,
            enc_length,
            mac_from: enc_length.map_or(MacStart::None, |_| MacStart::Enc),
            ..settings(&format!("https://sdm.example/tag?{text}"))
        };
        Template::new(settings).unwrap()
    };
    let (separate, with_enc) = (
        "picc_data={picc}&cmac={mac}",
        "picc_data={picc}&enc={enc}&cmac={mac}",
    );
    let (bulk, bulk_enc) = ("e={picc}{mac}", "e={picc}{enc}{mac}");
    let file = Some(32);
    vec![
        (
            form(separate, Mode::Aes, None),
            format!("picc_data={aes}&cmac={mac}"),
        ),
        (
            form(with_enc, Mode::Aes, file),
            format!("picc_data={aes}&enc={enc}&cmac={mac}"),
        ),
        (
            form(separate, Mode::Lrp, None),
            format!("picc_data={lrp}&cmac={mac}"),
        ),
        (
            form(with_enc, Mode::Lrp, file),
            format!("picc_data={lrp}&enc={enc}&cmac={mac}"),
        ),
        (
            form("uid={uid}&ctr={counter}&cmac={mac}", Mode::Aes, None),
            format!("uid=04DE5F1EACC040&ctr=00003D&cmac={mac}"),
        ),
        (form(bulk, Mode::Aes, None), format!("e={aes}{mac}")),
        (
            form(bulk_enc, Mode::Aes, file),
            format!("e={aes}{enc}{mac}"),
        ),
        (form(bulk, Mode::Lrp, None), format!("e={lrp}{mac}")),
        (
            form(bulk_enc, Mode::Lrp, file),
            format!("e={lrp}{enc}{mac}"),
        ),
    ]
}

/// Whether a set of templates can be at one service, added one by one.
fn can_be_together(templates: &[&Template]) -> bool {
    templates.iter().enumerate().all(|(index, new)| {
        let others = &templates[..index];
        others.iter().all(|other| !new.is_confused_with(other)) && !new.is_crowded(others)
    })
}

/// The indexes of the templates that are asked whose URL it is, in their order.
fn asked(templates: &[&Template], url: &str) -> Vec<usize> {
    let request = Request::of_url(url).unwrap();
    let found = ranked(templates.iter().copied().enumerate(), &request.decoded());
    found.into_iter().map(|(index, _)| index).collect()
}

#[test]
fn each_url_of_the_forms_of_sdm_backend_is_attributed_to_its_form() {
    let forms = sdm_backend();
    let templates: Vec<&Template> = forms.iter().map(|(template, _)| template).collect();
    assert!(can_be_together(&templates));
    for (index, (_, query)) in forms.iter().enumerate() {
        let url = format!("https://sdm.example/tag?{query}");
        assert_eq!(asked(&templates, &url)[0], index, "{url}");
        // An app adds parameters and lower-cases the code.
        let url = format!("{url}&utm_source=mail").to_lowercase();
        assert_eq!(asked(&templates, &url)[0], index, "{url}");
    }
    assert!(asked(&templates, "https://sdm.example/tagpt").is_empty());
}

#[test]
fn templates_at_one_address_are_told_apart_by_placeholders_and_lengths() {
    let with = |text: &str, change: fn(&mut TemplateSettings)| {
        let mut settings = settings(text);
        change(&mut settings);
        Template::new(settings).unwrap()
    };
    let separate = "https://x.example/tag?p={picc}&m={mac}";
    let one = template(separate);
    let plain = template("https://x.example/tag?u={uid}&c={counter}&m={mac}");
    for (a, b, is_confused) in [
        (&one, &template(separate), true),
        // Neither the names of parameters, nor fixed ones, nor text that is ignored.
        (
            &one,
            &template("https://x.example/tag?x={picc}&y={mac}"),
            true,
        ),
        (
            &one,
            &template("https://x.example/tag?k=1&p={picc}&m={mac}"),
            true,
        ),
        (
            &one,
            &template("https://x.example/tag?k={*}&p={picc}&m={mac}"),
            true,
        ),
        (
            &one,
            &template("https://x.example/tag?m={picc}&p={mac}"),
            true,
        ),
        // The mode is not seen in a code in clear.
        (
            &plain,
            &with(
                "https://x.example/tag?u={uid}&c={counter}&m={mac}",
                |settings| settings.mode = Mode::Lrp,
            ),
            true,
        ),
        (
            &one,
            &with(separate, |settings| settings.mode = Mode::Lrp),
            false,
        ),
        (&one, &plain, false),
        (
            &one,
            &template("https://x.example/tag?e={picc}{mac}"),
            false,
        ),
        (
            &one,
            &template("https://x.example/{slug}?p={picc}&m={mac}"),
            false,
        ),
        (
            &template("https://x.example/{slug}?p={picc}&m={mac}"),
            &template("https://x.example/a{slug}?p={picc}&m={mac}"),
            true,
        ),
        // The same text could be both.
        (
            &template("https://x.example/{picc}{mac}"),
            &template("https://x.example/{mac}{picc}"),
            true,
        ),
        (
            &template("https://x.example/tag?e={picc}{mac}"),
            &template("https://x.example/tag?e={uid}{counter}aaaaaaaaaaaa{mac}"),
            true,
        ),
    ] {
        let texts = format!("{} {}", a.settings().template, b.settings().template);
        assert_eq!(a.is_confused_with(b), is_confused, "{texts}");
        assert_eq!(b.is_confused_with(a), is_confused, "{texts}");
    }
}

#[test]
fn a_literal_address_is_asked_before_one_with_a_slug() {
    let (any, one) = (
        template("https://x.example/{slug}?p={picc}&m={mac}"),
        template("https://x.example/v?p={picc}&m={mac}"),
    );
    let url = |tag: &str| {
        format!(
            "https://x.example/{tag}?p={}&m={}",
            "A".repeat(32),
            "B".repeat(16)
        )
    };
    assert_eq!(asked(&[&any, &one], &url("v")), [1, 0]);
    assert_eq!(asked(&[&any, &one], &url("V")), [0]);
    // Without a code the slug is all that can name a tag.
    assert_eq!(asked(&[&one, &any], "https://x.example/v"), [0, 1]);
}

#[test]
fn a_static_url_is_of_the_template_that_writes_no_code() {
    let of_213 =
        |text: &str| Template::new(TemplateSettings::new(text, Technology::Ntag213)).unwrap();
    let (fixed, rolling) = (
        of_213("https://x.example/{slug}"),
        template("https://x.example/{slug}?p={picc}&m={mac}"),
    );
    assert!(!fixed.is_confused_with(&rolling));
    let url = "https://x.example/bottle-41";
    assert_eq!(asked(&[&rolling, &fixed], url), [1, 0]);
    let url = format!("{url}?p={}&m={}", "A".repeat(32), "B".repeat(16));
    assert_eq!(asked(&[&fixed, &rolling], &url), [1, 0]);
}

/// Parameters of different names can all be in one URL.
fn named(index: usize) -> Template {
    template(&format!(
        "https://x.example/{{slug}}?p{index}={{picc}}&m={{mac}}{}",
        "0".repeat(index)
    ))
}

#[test]
fn the_fifth_template_for_one_url_is_refused() {
    let templates: Vec<_> = (0..4)
        .map(|index| {
            let enc_length = Some(32 * (index + 1));
            Template::new(TemplateSettings {
                enc_length,
                mac_from: MacStart::Enc,
                ..settings(&format!(
                    "https://x.example/v?p={{picc}}&e{index}={{enc}}&m={{mac}}"
                ))
            })
            .unwrap()
        })
        .collect();
    let others: Vec<_> = templates.iter().collect();
    assert!(can_be_together(&others));
    let new = template("https://x.example/v?p={picc}&m={mac}");
    assert!(others.iter().all(|other| !new.is_confused_with(other)));
    assert!(new.is_crowded(&others));
    assert!(!new.is_crowded(&others[1..]));
    // Of these a URL can have the values of one.
    let lengths = (1..=6).map(|blocks| {
        Template::new(TemplateSettings {
            enc_length: Some(32 * blocks),
            mac_from: MacStart::Enc,
            ..settings("https://x.example/v?p={picc}&e={enc}&m={mac}")
        })
    });
    let lengths: Vec<_> = lengths.filter_map(Result::ok).collect();
    assert!(lengths.len() > ASKED_MAX, "{}", lengths.len());
    assert!(can_be_together(&lengths.iter().collect::<Vec<_>>()));
}

#[test]
fn sixty_four_templates_at_one_path_are_decided() {
    let many: Vec<_> = (0..64).map(named).collect();
    let others: Vec<_> = many.iter().collect();
    let url = format!(
        "https://x.example/bottle-41?{}m={}",
        (0..64).fold(String::new(), |query, index| query
            + &format!("p{index}={}&", "A".repeat(32))),
        "B".repeat(16)
    );
    assert!(
        named(64).is_crowded(&others)
            || others.iter().any(|other| named(64).is_confused_with(other))
    );
    assert_eq!(asked(&others, &url).len(), ASKED_MAX);
}

/// The hosts of templates: names, addresses, ports, and a slug.
const HOSTS: [&str; 7] = [
    "tags.example.com",
    "tags.example.com:8443",
    "my_tags.example.com",
    "192.0.2.1:5001",
    "[2001:db8::1]",
    "[2001:DB8:0::2]:8080",
    "{slug}.tags.example",
];

/// The chip with another text of its template; `None` if the chip cannot write that.
fn rewritten(mut chip: Chip, text: String) -> Option<Chip> {
    let settings = TemplateSettings {
        template: text,
        ..chip.template.settings().clone()
    };
    chip.template = Template::new(settings).ok()?;
    Some(chip)
}

/// The chip at another host; for odd numbers a slug in its path is the first segment.
fn moved(chip: Chip, place: usize) -> Option<Chip> {
    let text = &chip.template.settings().template;
    let (scheme, rest) = text.split_once("://")?;
    let rest = &rest[rest.find(['/', '?'])?..];
    let rest = match place % 2 {
        1 => rest.replacen("/s/{slug}", "/{slug}", 1),
        _ => rest.to_owned(),
    };
    let host = HOSTS[place / 2 % HOSTS.len()];
    let text = format!("{scheme}://{host}{rest}");
    rewritten(chip, text)
}

/// The chips whose templates can be at one service, added one by one.
fn together(chips: impl IntoIterator<Item = Chip>) -> Vec<Chip> {
    let mut accepted: Vec<Chip> = Vec::new();
    for chip in chips {
        let others: Vec<_> = accepted.iter().map(|chip| &chip.template).collect();
        let new = &chip.template;
        let is_confused = others.iter().any(|other| new.is_confused_with(other));
        if !is_confused && !new.is_crowded(&others) {
            accepted.push(chip);
        }
    }
    accepted
}

/// Whether each URL that a chip writes is attributed to its template.
fn attributed(chips: &[Chip]) -> Result<(), TestCaseError> {
    let templates: Vec<_> = chips.iter().map(|chip| &chip.template).collect();
    for (index, chip) in chips.iter().enumerate() {
        let code = chip.code(41);
        let url = chip.template.url(Some(SLUG), &code);
        let request = Request::of_url(&url).unwrap();
        let asked = ranked(templates.iter().copied().enumerate(), &request.decoded());
        // Digits of a code can be read as a slug, which is no tag's.
        let is_tag = |slug: Option<&str>| slug.is_none_or(|slug| slug == SLUG);
        let mut named = asked
            .iter()
            .filter(|(_, addressed)| is_tag(addressed.slug.as_deref()));
        let first = named.next().map(|(index, _)| index);
        let settings: Vec<_> = templates
            .iter()
            .map(|template| template.settings())
            .collect();
        prop_assert_eq!(first, Some(&index), "{}: {:?} {:?}", url, asked, settings);
    }
    Ok(())
}

#[test]
fn each_url_of_sixty_four_templates_at_one_path_is_attributed_to_its_template() {
    let mut chips: Vec<Chip> = Vec::new();
    for seed in 0..10_000 {
        if chips.len() == 64 {
            break;
        }
        let chip = chip(seed, true);
        let text = chip.template.settings().template.clone();
        let number = chips.len();
        // Fixed values tell templates apart whose chips write the same values.
        let form = text
            .split_once('?')
            .map(|(_, query)| format!("https://tags.example.com/tag?n={number}&{query}"));
        chips.extend(form.and_then(|form| rewritten(chip, form)));
    }
    assert_eq!(chips.len(), 64);
    assert_eq!(together(chips.clone()).len(), 64);
    attributed(&chips).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(length(60, 5_000)))]

    #[test]
    fn each_url_that_a_chip_writes_is_attributed_to_its_template(seeds in prop::collection::vec(any::<u64>(), 2..40)) {
        let chips = seeds.into_iter().map(|seed| chip(seed, false));
        attributed(&together(chips))?;
    }

    #[test]
    fn each_url_is_attributed_at_any_host_and_with_a_slug_as_the_first_segment(
        seeds in prop::collection::vec((any::<u64>(), 0..2 * HOSTS.len()), 2..40)
    ) {
        let chips = seeds.into_iter();
        let chips = chips.filter_map(|(seed, place)| moved(chip(seed, false), place));
        attributed(&together(chips))?;
    }
}
