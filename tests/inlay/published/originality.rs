//! Maker signatures over the UID.

use tapdesk_service::inlay::originality::{Curve, SIGNERS, Signer, Signs, signer};

use super::{bytes, one, text, vectors};

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
    // Among all keys, only this one or none matches.
    assert_eq!(signer(&uid, &signature), Some(known).filter(|_| valid));
}

fn nxp(id: &str) {
    one("originality", id, |_, inputs, expected| {
        check(inputs, expected, Signs::Uid);
    });
}

fn st25(id: &str) {
    one("st25-trust25", id, |_, inputs, expected| {
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

vectors! {
    nxp {
        mifare_ultralight_ev1_1 "originality/mifare-ultralight-ev1-1",
        ntag21x_ntag_5_link_ntag_5_boost_1 "originality/ntag21x-ntag-5-link-ntag-5-boost-1",
        ntag21x_ntag_5_link_ntag_5_boost_3 "originality/ntag21x-ntag-5-link-ntag-5-boost-3",
        desfire_light_1 "originality/desfire-light-1",
        desfire_ev2_1 "originality/desfire-ev2-1",
        desfire_ev2_3 "originality/desfire-ev2-3",
        desfire_ev3_1 "originality/desfire-ev3-1",
        ntag413dna_desfire_ev1_1 "originality/ntag413dna-desfire-ev1-1",
        ntag424dna_1 "originality/ntag424dna-1",
        icode_dna_icode_slix2_1 "originality/icode-dna-icode-slix2-1",
        icode_dna_icode_slix2_3 "originality/icode-dna-icode-slix2-3",
        mifare_ultralight_aes_1 "originality/mifare-ultralight-aes-1",
        mifare_ultralight_aes_vingcard_alt_key_1 "originality/mifare-ultralight-aes-vingcard-alt-key-1",
        ntag223dna_ntag224dna_1 "originality/ntag223dna-ntag224dna-1",
        an12196_table30 "originality/an12196-table30",
        ntag424_ecc_1 "originality/ntag424-ecc-1",
        ntag424_ecc_3 "originality/ntag424-ecc-3",
        ntag424_ecc_5 "originality/ntag424-ecc-5",
        ntag424_ecc_neg_1 "originality/ntag424-ecc-neg-1",
        ntag424_ecc_neg_3 "originality/ntag424-ecc-neg-3",
        ntag424_ecc_neg_5 "originality/ntag424-ecc-neg-5",
        ntag424_sphragis_1 "originality/ntag424-sphragis-1",
        ntag21x_found_1 "originality/ntag21x-found-1",
        ntag21x_found_3 "originality/ntag21x-found-3",
        ntag21x_neg_flip "originality/ntag21x-neg-flip",
    }
    st25 {
        st25ta02kb_trust25_st_keyid_0x01_1 "st25-trust25/st25ta02kb-trust25-st-keyid-0x01-1",
        st25ta02kb_trust25_st_keyid_0x01_3 "st25-trust25/st25ta02kb-trust25-st-keyid-0x01-3",
        st25tn512_01k_trust25_st_keyid_0x05_1 "st25-trust25/st25tn512-01k-trust25-st-keyid-0x05-1",
        st25tv02kc_trust25_st_keyid_0x04_1 "st25-trust25/st25tv02kc-trust25-st-keyid-0x04-1",
        st25tv02kc_trust25_st_keyid_0x04_3 "st25-trust25/st25tv02kc-trust25-st-keyid-0x04-3",
    }
}
