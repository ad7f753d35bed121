//! The memory that a tag takes.

use super::super::tag_cache::{PLACE, TAG};
use super::*;
use inlay::key::{AesKey, InlayKeys, Keys};
use inlay::{MacFrom, Mirror, Technology};

/// Typical texts of an imported tag: slug and name.
const TEXTS: usize = "k7Qm2xZp".len() + "Bottle 1000000 of 1000000".len();

fn taken_by(inlays: Inlays) -> usize {
    let tag = TapTag {
        id: TagId::new(1),
        experience: None,
        group: None,
        texts: "x".repeat(TEXTS).into(),
        ends: [0; 4],
        inlays,
        rare: None,
        switches: Switches {
            status: Status::Active,
            verifier_enabled: true,
            updates_require_verified: false,
            track_location: false,
            has_qr_code: false,
        },
        simulated: false,
        is_only_spelling: true,
        codes: Codes::Rolling,
    };
    tag.bytes() + PLACE + PLACE_BY_SLUG
}

/// Ensures that 300 MB hold a million tags.
#[test]
fn a_tag_with_an_inlay_takes_no_more_than_it_is_counted_with() {
    let keys = Keys {
        meta: Some(AesKey::FACTORY),
        file: AesKey::FACTORY,
    };
    let uid = Uid::from_bytes([4; 7]);
    let canonical = taken_by(Inlays::One(TapInlay {
        id: InlayId::new(1),
        key_version: 1,
        blocked: false,
        candidate: Candidate {
            uid,
            mirror: Mirror::Encrypted,
            mac_from: MacFrom::None,
            keys: keys.clone(),
        },
    }));
    assert!(canonical <= TAG, "{canonical}");
    let of_template = taken_by(Inlays::OfTemplate(TemplateTapInlay {
        id: InlayId::new(1),
        uid,
        technology: Technology::Ntag424Dna,
        url_template_id: UrlTemplateId::new(1),
        blocked: false,
        key_version: 1,
        keys: InlayKeys::Aes(keys),
    }));
    assert_eq!(of_template, canonical + PLACE_BY_UID);
}
