//! The cost of verifying one code, by technology: only the inlay module, without a service.

use std::hint::black_box;
use std::time::{Duration, Instant};

use tapdesk_service::inlay::check::Read;
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys, Sic43ntKey};
use tapdesk_service::inlay::technology::{Family, Mode, Technology};
use tapdesk_service::inlay::template::{MacStart, Request, Template, TemplateSettings};

use crate::report::median;

/// How long codes are verified for one figure.
const TIME: Duration = Duration::from_millis(50);
/// Number of figures; the median is reported.
const FIGURES: usize = 5;
/// Verifications between two readings of the clock.
const BATCH: u32 = 64;
const UID: [u8; 7] = [0x04, 0xde, 0x5f, 0x1e, 0xac, 0xc0, 0x40];

/// The cost of verifying one code.
pub(crate) struct Cost {
    pub(crate) what: &'static str,
    /// Seconds from the request's text to the verdict.
    pub(crate) seconds: f64,
}

/// The technology that the goal is set for.
pub(crate) const AES: &str = "NTAG 424 DNA, AES, PICC data";

/// Measures a check of a code of each technology.
pub(crate) fn each() -> Vec<Cost> {
    use Technology::{Ntag213, Ntag223Dna, Ntag224Dna, Ntag424Dna, Sic43Nt, Sic43S1};
    let of = |template, technology| TemplateSettings::new(template, technology);
    let mut picc = of("https://t.example/v?p={picc}&c={mac}", Ntag424Dna);
    let plain = of(
        "https://t.example/v?u={uid}&r={counter}&c={mac}",
        Ntag424Dna,
    );
    let mut enc = of("https://t.example/v?p={picc}&e={enc}&c={mac}", Ntag424Dna);
    enc.mac_from = MacStart::Enc;
    enc.enc_length = Some(32);
    let lrp = |settings: &TemplateSettings| TemplateSettings {
        mode: Mode::Lrp,
        ..settings.clone()
    };
    let (lrp_picc, lrp_plain, lrp_enc) = (lrp(&picc), lrp(&plain), lrp(&enc));
    picc.mode = Mode::Aes;
    let run = "https://t.example/v?m={uid}x{counter}x{mac}";
    let status = "https://t.example/v?m={uid}x{counter}x{tamper}x{mac}";
    let sic = "https://t.example/v?d={uid}{tamper}{counter}{mac}";
    let s1 = "https://t.example/v?U={uid}&TF={tamper}&TS={counter}&SAC={mac}";
    let mirror = "https://t.example/{slug}?m={uid}x{counter}";
    vec![
        cost("NTAG 424 DNA, AES, in clear", plain, 0),
        cost(AES, picc.clone(), 0),
        cost("the same, opened with 64 shared keys", picc, 64),
        cost("NTAG 424 DNA, AES, 16 bytes of file data", enc, 0),
        cost("NTAG 424 DNA, LRP, in clear", lrp_plain, 0),
        cost("NTAG 424 DNA, LRP, PICC data", lrp_picc.clone(), 0),
        cost("the same, opened with 4 shared keys", lrp_picc, 4),
        cost("NTAG 424 DNA, LRP, 16 bytes of file data", lrp_enc, 0),
        cost("NTAG 223 DNA", of(run, Ntag223Dna), 0),
        cost("NTAG 224 DNA, StatusDetect", of(status, Ntag224Dna), 0),
        cost("SIC43NT", of(sic, Sic43Nt), 0),
        cost("SIC43S1", of(s1, Sic43S1), 0),
        cost("NTAG 213, no MAC", of(mirror, Ntag213), 0),
    ]
}

/// The cost of a code of this template. With shared keys, the last one fits.
fn cost(what: &'static str, settings: TemplateSettings, shared: u8) -> Cost {
    let template = Template::new(settings).expect("the template is well-formed");
    let technology = template.settings().technology;
    let file = AesKey::from_bytes([0x22; 16]);
    let meta = AesKey::from_bytes([0xee; 16]);
    let keys = match technology.family() {
        Family::Ntag21x => InlayKeys::None,
        Family::Sic43Nt => InlayKeys::Rolling(Sic43ntKey::from_bytes([7; 10])),
        _ => InlayKeys::Aes(Keys {
            meta: Some(meta.clone()),
            file: file.clone(),
        }),
    };
    let uid = tapdesk_service::inlay::Uid::from_bytes(UID);
    let slug = Some("bottle-41");
    let read = Read {
        uid,
        counter: 61,
        keys: &keys,
        picc: None,
        tamper: match technology.family() {
            Family::Ntag22x => "CC00000000",
            _ => "00",
        },
        file_data: b"No. 41",
        random: [5; 24],
    };
    let code = template.make_code(slug, &read).expect("the keys fit");
    let url = template.url(slug, &code);
    let others = (1..shared).map(|other| AesKey::from_bytes([other; 16]));
    let shared: Vec<_> = others
        .chain((shared > 0).then_some(meta))
        .map(|key| template.meta_key(&key))
        .collect();
    let once = || {
        let request = Request::of_url(black_box(&url)).expect("it is a URL");
        let addressed = template.read(&request).expect("it is the template's");
        let code = addressed
            .code
            .expect("it has a code")
            .expect("it is filled");
        let slug = addressed.slug.as_deref();
        let found = if shared.is_empty() {
            template.check(slug, &code, uid, &keys)
        } else {
            let opened = template.open(&code, &shared);
            let (_, mirrored) = *opened.last().expect("the last key fits");
            template.check_opened(slug, &code, Some(mirrored), Some((uid, &file)))
        };
        assert_eq!(found.is_authentic(), technology.rolls(), "{what}");
        black_box(found);
    };
    let figure = || {
        let started = Instant::now();
        let mut made = 0.0;
        while started.elapsed() < TIME {
            for _ in 0..BATCH {
                once();
            }
            made += f64::from(BATCH);
        }
        started.elapsed().as_secs_f64() / made
    };
    Cost {
        what,
        seconds: median((0..FIGURES).map(|_| figure())),
    }
}
