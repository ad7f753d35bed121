//! Published codes of real chips and of NXP's application note.

use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys};
use tapdesk_service::inlay::template::{Field, Filled};

use super::Verifier;
use super::signal::Seen;
use crate::cli::conformance::check::{Check, Verdict, failed, not_checked, passed};

/// A code that was published with its keys.
struct Vector {
    name: &'static str,
    source: &'static str,
    meta: [u8; 16],
    file: [u8; 16],
    uid: [u8; 7],
    values: &'static [(Field, &'static str)],
}

const ZEROS: [u8; 16] = [0; 16];

/// The vectors, those of one chip in the order of their counters.
static VECTORS: [Vector; 7] = [
    Vector {
        name: "vector-an12196-table-5",
        source: "NXP AN12196 rev 1.8, tables 3 and 5",
        meta: ZEROS,
        file: ZEROS,
        uid: [0x04, 0xDE, 0x5F, 0x1E, 0xAC, 0xC0, 0x40],
        values: &[
            (Field::Picc, "EF963FF7828658A599F3041510671E88"),
            (Field::Mac, "94EED9EE65337086"),
        ],
    },
    Vector {
        name: "vector-an12196-table-4",
        source: "NXP AN12196 rev 1.8, table 4",
        meta: ZEROS,
        file: ZEROS,
        uid: [0x04, 0x95, 0x8C, 0xAA, 0x5C, 0x5E, 0x80],
        values: &[
            (Field::Picc, "FDE4AFA99B5C820A2C1BB0F1C792D0EB"),
            (Field::Enc, "94592FDE69FA06E8E3B6CA686A22842B"),
            (Field::Mac, "C48B89C17A233B2C"),
        ],
    },
    Vector {
        name: "vector-an12196-table-6",
        source: "NXP AN12196 rev 1.8, table 6",
        meta: ZEROS,
        file: ZEROS,
        uid: [0x04, 0x95, 0x8C, 0xAA, 0x5C, 0x5E, 0x80],
        values: &[
            (Field::Picc, "FD91EC264309878BE6345CBE53BADF40"),
            (Field::Enc, "CEE9A53E3E463EF1F459635736738962"),
            (Field::Mac, "ECC1E7F6C6C73BF6"),
        ],
    },
    Vector {
        name: "vector-sphragis-tap-2",
        source: "PyPI sphragis 1.0.0, tests/test_sdmenc.py, a real chip",
        meta: ZEROS,
        file: ZEROS,
        uid: [0x04, 0x80, 0x1A, 0x82, 0x16, 0x16, 0x90],
        values: &[
            (Field::Picc, "159F61C951ADA159456E05ABEBCC81FC"),
            (Field::Enc, "15A911F3450D9A146B7C64559FBA32E6"),
            (Field::Mac, "71F7103244547328"),
        ],
    },
    Vector {
        name: "vector-boltcard",
        source: "boltcard, docs/TEST_VECTORS.md, a real card",
        meta: [
            0x0C, 0x3B, 0x25, 0xD9, 0x2B, 0x38, 0xAE, 0x44, 0x32, 0x29, 0xDD, 0x59, 0xAD, 0x34,
            0xB8, 0x5D,
        ],
        file: [
            0xB4, 0x57, 0x75, 0x77, 0x6C, 0xB2, 0x24, 0xC7, 0x5B, 0xCD, 0xE7, 0xCA, 0x37, 0x04,
            0xE9, 0x33,
        ],
        uid: [0x04, 0x99, 0x6C, 0x6A, 0x92, 0x69, 0x80],
        values: &[
            (Field::Picc, "4E2E289D945A66BB13377A728884E867"),
            (Field::Mac, "E19CCB1FED8892CE"),
        ],
    },
    Vector {
        name: "vector-ntag424-sdm-feature",
        source: "AndroidCrypto/Ntag424SdmFeature, README.md, a real chip",
        meta: ZEROS,
        file: ZEROS,
        uid: [0x04, 0x9F, 0x50, 0x82, 0x4F, 0x13, 0x90],
        values: &[
            (Field::Uid, "049F50824F1390"),
            (Field::Counter, "000001"),
            (Field::Mac, "2446E527C37E073A"),
        ],
    },
    Vector {
        name: "vector-sdm-backend-plain",
        source: "nfc-developer/sdm-backend, README.md",
        meta: ZEROS,
        file: ZEROS,
        uid: [0x04, 0x1E, 0x3C, 0x8A, 0x2D, 0x6B, 0x80],
        values: &[
            (Field::Uid, "041E3C8A2D6B80"),
            (Field::Counter, "000006"),
            (Field::Mac, "4B00064004B0B3D3"),
        ],
    },
];

impl Vector {
    fn uid(&self) -> Uid {
        Uid::from_bytes(self.uid)
    }

    fn keys(&self) -> Keys {
        Keys {
            meta: Some(AesKey::from_bytes(self.meta)),
            file: AesKey::from_bytes(self.file),
        }
    }

    fn code(&self) -> Filled {
        let values = self.values.iter();
        values.fold(Filled::default(), |code, (field, value)| {
            code.with(*field, value)
        })
    }

    /// Whether a chip with this template and these keys would have made the code.
    fn fits(&self, verifier: &Verifier) -> bool {
        let (code, template) = (self.code(), &verifier.template);
        let same = |field: Field| match code.get(field) {
            Some(value) => template.has(field) && template.length(field) == Some(value.len()),
            None => !template.has(field) || !field.is_of_code(),
        };
        let keys = InlayKeys::Aes(self.keys());
        Field::ALL.into_iter().all(same)
            && verifier.keys.file == self.keys().file
            && (!template.has(Field::Picc)
                || *verifier.keys.for_picc_data() == AesKey::from_bytes(self.meta))
            && template
                .check(None, &code, self.uid(), &keys)
                .is_authentic()
    }
}

/// The answers to the vectors that fit, in their order. They are sent before all other codes, because
/// their counters are low.
pub(super) fn send(verifier: &Verifier) -> Result<Vec<Option<Seen>>, ureq::Error> {
    let answers = VECTORS.iter().map(|vector| {
        let fits = vector.fits(verifier);
        let answer = fits.then(|| verifier.ask(&verifier.url(&vector.code())));
        answer.transpose()
    });
    answers.collect()
}

pub(super) fn checks() -> Vec<Check<Verifier>> {
    let vectors = VECTORS.iter().enumerate();
    let checks = vectors.map(|(index, vector)| {
        let run = move |verifier: &mut Verifier| Ok(judge(verifier, index));
        Check::new(vector.name, vector.source, run)
    });
    checks.collect()
}

fn judge(verifier: &Verifier, index: usize) -> Verdict {
    let uid = VECTORS[index].uid();
    let Some(Some(seen)) = verifier.vectors.get(index) else {
        return not_checked(
            "The vector has another template, another start of the MAC's input or other keys.",
        );
    };
    let accepts = verifier.signal.as_ref().map(|signal| signal.accepts(seen));
    let is_known = verifier.uid == uid || verifier.other_uid == Some(uid);
    match accepts {
        None => not_checked(super::NOTHING_ACCEPTED),
        Some(true) => passed("The published code is accepted."),
        Some(false) if is_known => failed(
            "The published code is refused. In a second run it is a replay: start with a new inlay.",
        ),
        Some(false) => not_checked(format!(
            "It is refused, and the verifier may not know the chip: give it the UID {uid}."
        )),
    }
}

#[cfg(test)]
mod tests {
    use tapdesk_service::inlay::Technology;
    use tapdesk_service::inlay::template::{MacStart, Template, TemplateSettings};

    use super::*;

    #[test]
    fn each_vector_is_authentic_in_its_template() {
        for vector in &VECTORS {
            let code = vector.code();
            let (text, mac_from, enc_length) = if code.get(Field::Enc).is_some() {
                (
                    "https://a.example/?picc_data={picc}&enc={enc}&cmac={mac}",
                    MacStart::Enc,
                    Some(32),
                )
            } else if code.get(Field::Picc).is_some() {
                (
                    "https://a.example/?picc_data={picc}&cmac={mac}",
                    MacStart::None,
                    None,
                )
            } else {
                (
                    "https://a.example/?uid={uid}&ctr={counter}&cmac={mac}",
                    MacStart::None,
                    None,
                )
            };
            let settings = TemplateSettings {
                mac_from,
                enc_length,
                ..TemplateSettings::new(text, Technology::Ntag424Dna)
            };
            let template = Template::new(settings).unwrap();
            let keys = InlayKeys::Aes(vector.keys());
            let verdict = template.check(None, &code, vector.uid(), &keys);
            assert!(verdict.is_authentic(), "{}", vector.name);
        }
    }
}
