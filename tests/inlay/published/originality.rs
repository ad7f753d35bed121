//! Signatures over the UID.

use tapdesk_service::inlay::originality::{Curve, SIGNERS, Signer, Signs, signer};

use super::{bytes, each, text};

fn check(inputs: &serde_json::Value, expected: &serde_json::Value, signs: Signs) {
    let curve = match text(inputs, "curve") {
        "secp128r1" => Curve::Secp128r1,
        "secp192r1" => Curve::Secp192r1,
        _ => Curve::Secp224r1,
    };
    let public_key = text(inputs, "public_key");
    let known = SIGNERS
        .iter()
        .find(|signer| signer.public_key == public_key);
    let known: &Signer = known.unwrap_or_else(|| panic!("{public_key} is not known"));
    assert_eq!((known.curve, known.signs), (curve, signs));
    let (uid, signature) = (bytes(text(inputs, "uid")), bytes(text(inputs, "signature")));
    let valid = expected["valid"] == true;
    assert_eq!(known.signed(&uid, &signature), valid);
    // Of all keys it is this one's, or nobody's.
    assert_eq!(signer(&uid, &signature), Some(known).filter(|_| valid));
}

#[test]
fn nxp() {
    each("originality", |_, inputs, expected| {
        check(inputs, expected, Signs::Uid);
    });
}

#[test]
fn st25() {
    each("st25-trust25", |_, inputs, expected| {
        check(inputs, expected, Signs::Sha256);
    });
}

#[test]
fn what_is_no_signature_is_nobodys() {
    let uid = [4, 0x18, 0x28, 0x38, 0x48, 0x58, 0x68];
    for signature in [
        &[][..],
        &[0; 32],
        &[0xFF; 32],
        &[0; 48],
        &[0; 56],
        &[1; 55],
        &[1; 64],
    ] {
        assert_eq!(signer(&uid, signature), None);
    }
}
