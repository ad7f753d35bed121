//! Every vector of `vectors/inlays.json`, with its source. Each vector has its own test; the tests
//! of a group share their check.

mod derivations;
mod lrp;
mod mirrors;
mod ntag424;
mod originality;
mod others;

use std::sync::LazyLock;

use serde_json::Value;
use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::assessment::Assessment;
use tapdesk_service::inlay::key::{AesKey, InlayKeys, Keys};
use tapdesk_service::inlay::template::{Filled, Request, Template, TemplateSettings};

pub(super) static VECTORS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../vectors/inlays.json")).expect("the vectors are JSON")
});

/// The number of vectors in each group; all of them are run.
const GROUPS: [(&str, usize); 17] = [
    ("boltcard-tap", 5),
    ("kdf-an10922", 7),
    ("kdf-boltcard", 7),
    ("kdf-sdm-backend", 7),
    ("lrp-primitives", 19),
    ("ntag213tt-mirror", 1),
    ("ntag21x-mirror", 9),
    ("ntag22x-dna", 7),
    ("ntag424-aes-encfile", 9),
    ("ntag424-lrp", 7),
    ("ntag424-lrp-session", 3),
    ("ntag424-tagtamper", 8),
    ("originality", 25),
    ("sdm-mac-window", 23),
    ("sic43nt", 7),
    ("sic43s1", 3),
    ("st25-trust25", 5),
];

#[test]
fn every_vector_has_a_test_of_its_name() {
    let files = [
        derivations::IDS,
        lrp::IDS,
        mirrors::IDS,
        ntag424::IDS,
        originality::IDS,
        others::IDS,
    ];
    let mut named = files.concat();
    let mut all: Vec<_> = VECTORS.iter().map(|v| text(v, "id")).collect();
    named.sort_unstable();
    all.sort_unstable();
    assert_eq!(named, all);
}

#[test]
fn every_vector_is_of_a_group_that_is_run() {
    for (group, count) in GROUPS {
        let of_group = VECTORS.iter().filter(|v| v["technology"] == group);
        assert_eq!(of_group.count(), count, "{group}");
    }
    let all: usize = GROUPS.iter().map(|(_, count)| count).sum();
    assert_eq!((VECTORS.len(), all), (152, 152));
}

/// Tests with these names, each of which calls the group's function with the id of a vector, and
/// the list of these ids.
macro_rules! vectors {
    ($($group:ident { $($name:ident $id:literal,)+ })+) => {
        pub(super) const IDS: &[&str] = &[$($($id,)+)+];

        $(mod $group {
            $(#[test]
            fn $name() {
                super::$group($id);
            })+
        })+
    };
}

use vectors;

/// Runs `check` on one vector of a group.
fn one(group: &str, id: &str, check: impl Fn(&str, &Value, &Value)) {
    let vector = VECTORS.iter().find(|v| v["id"] == id);
    let vector = vector.unwrap_or_else(|| panic!("there is no vector {id}"));
    assert_eq!(vector["technology"], group, "{id}");
    check(text(vector, "name"), &vector["inputs"], &vector["expected"]);
}

/// Runs `check` on every vector of a group.
fn each(group: &str, check: impl Fn(&str, &Value, &Value)) {
    for vector in VECTORS.iter().filter(|v| v["technology"] == group) {
        one(group, text(vector, "id"), &check);
    }
}

fn text<'a>(vector: &'a Value, name: &str) -> &'a str {
    maybe(vector, name).unwrap_or_else(|| panic!("no text {name} in {vector}"))
}

pub(super) fn maybe<'a>(vector: &'a Value, name: &str) -> Option<&'a str> {
    vector[name].as_str()
}

fn bytes(hex: &str) -> Vec<u8> {
    let pair = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(pair).collect()
}

fn array<const N: usize>(hex: &str) -> [u8; N] {
    bytes(hex).try_into().unwrap()
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().map(|number| number.try_into().unwrap())
}

fn key(vector: &Value, name: &str) -> AesKey {
    AesKey::from_hex(text(vector, name)).unwrap()
}

fn uid(vector: &Value) -> Option<Uid> {
    maybe(vector, "uid").map(|uid| uid.parse().unwrap())
}

/// The UID of a vector; an arbitrary one if the vector has none.
fn some_uid(expected: &Value) -> Uid {
    uid(expected).unwrap_or(Uid::from_bytes([4; 7]))
}

fn aes(meta: Option<AesKey>, file: AesKey) -> InlayKeys {
    InlayKeys::Aes(Keys { meta, file })
}

/// Matches a URL against a template, like a request.
fn read(template: &Template, url: &str) -> Filled {
    let addressed = template.read(&Request::of_url(url).unwrap()).unwrap();
    addressed.code.unwrap().unwrap()
}

fn template(settings: TemplateSettings) -> Template {
    Template::new(settings).unwrap_or_else(|error| panic!("{error}"))
}

/// Asserts the expected verdict of a vector, and the inlay that it names.
fn assert_as_expected(found: &Assessment, expected: &Value) {
    assert_eq!(found.is_authentic(), expected["authentic"] == true);
    if found.is_authentic() {
        assert_eq!(found.uid, uid(expected));
        assert_eq!(found.counter, number(&expected["counter"]));
        let data = found.file_data.as_ref().map(|data| data.expose().to_vec());
        assert_eq!(data, maybe(expected, "file_data_hex").map(bytes));
    }
}
