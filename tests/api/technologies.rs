//! `/admin/v1/technologies`.

use serde_json::json;
use tapdesk_service::encoding::order::is_orderable;
use tapdesk_service::encoding::{is_encodable, is_lockable};
use tapdesk_service::inlay::Technology;
use tapdesk_service::inlay::assessment::Tamper;
use tapdesk_service::inlay::derivation::Derivation;
use tapdesk_service::inlay::template::Field;
use tapdesk_tests::TestService;

#[tokio::test]
async fn every_chip_is_listed_once_with_its_abilities() {
    let service = TestService::start().await;
    let list = service.admin_get("/technologies").await;
    let items = list["items"].as_array().unwrap();
    let mut words: Vec<_> = items.iter().map(|one| one["technology"].clone()).collect();
    // The family comes first, then the word.
    assert_eq!(words.first(), Some(&json!("ntag424dna")));
    assert_eq!(words.last(), Some(&json!("ultralight")));
    let mut known = Technology::ALL.map(|one| json!(one)).to_vec();
    words.sort_unstable_by_key(ToString::to_string);
    known.sort_unstable_by_key(ToString::to_string);
    assert_eq!(words, known);
    assert_eq!(
        items[1],
        json!({
            "technology": "ntag424dna_tt", "name": "NTAG 424 DNA TagTamper", "family": "ntag424",
            "rolls": true, "guessable": false, "key_digits": 32, "aes_keys": true,
            "meta_key": true, "canonical": true, "chooses_mac_start": true,
            "encodable": true, "lockable": false, "serves_as": ["ntag424dna", "ntag424dna_tt"],
            "encrypts_data": true,
            "modes": [
                {
                    "mode": "aes", "orderable": true, "shared_keys_max": 64,
                    "uid": 14, "counter": 6, "picc": 32, "mac": 16, "tamper": 2,
                },
                {
                    "mode": "lrp", "orderable": false, "shared_keys_max": 4,
                    "uid": 14, "counter": 6, "picc": 48, "mac": 16, "tamper": 2,
                },
            ],
            "closed_loop": "CC", "counter_max": 0xFF_FFFF, "weakness": null,
        })
    );
}

#[tokio::test]
async fn the_abilities_of_every_chip_are_those_of_the_library() {
    let service = TestService::start().await;
    let list = service.admin_get("/technologies").await;
    for item in list["items"].as_array().unwrap() {
        let chip: Technology = item["technology"].as_str().unwrap().parse().unwrap();
        let abilities = json!({
            "name": chip.name(), "family": chip.family(), "rolls": chip.rolls(),
            "guessable": chip.is_guessable(), "key_digits": chip.key_digits(),
            "aes_keys": chip.has_aes_keys(), "meta_key": chip.has_meta_key(),
            "canonical": chip.is_canonical(), "chooses_mac_start": chip.chooses_mac_start(),
            "encodable": is_encodable(chip), "lockable": is_lockable(chip),
            "encrypts_data": chip.encrypts_data(),
            "closed_loop": chip.tamper_letters(Tamper::Sealed),
            "counter_max": chip.counter_max(), "weakness": chip.weakness(),
        });
        for (name, ability) in abilities.as_object().unwrap() {
            assert_eq!(&item[name], ability, "{chip} {name}");
        }
        let serves = Technology::ALL
            .into_iter()
            .filter(|one| chip.serves_as(*one));
        let shown = item["serves_as"].as_array().unwrap();
        assert!(
            serves.clone().all(|one| shown.contains(&json!(one))),
            "{chip}"
        );
        assert_eq!(shown.len(), serves.count(), "{chip}");
        let modes = item["modes"].as_array().unwrap();
        assert_eq!(modes.len(), chip.modes().len(), "{chip}");
        for (shown, mode) in modes.iter().zip(chip.modes()) {
            let length = |field| chip.length(field, *mode);
            let expected = json!({
                "mode": mode, "uid": length(Field::Uid), "counter": length(Field::Counter),
                "picc": length(Field::Picc), "mac": length(Field::Mac),
                "tamper": length(Field::Tamper), "orderable": is_orderable(chip, *mode),
            });
            for (name, value) in expected.as_object().unwrap() {
                assert_eq!(&shown[name], value, "{chip} {mode} {name}");
            }
        }
    }
}

#[tokio::test]
async fn every_scheme_is_listed_with_its_options_and_makes_a_master_key() {
    let service = TestService::start().await;
    let list = service.admin_get("/technologies").await;
    let shown = list["derivations"].as_array().unwrap();
    let usual: Vec<_> = shown.iter().map(|one| one["usual"].clone()).collect();
    assert_eq!(usual, Derivation::usual().map(|one| json!(one)));
    for one in shown {
        for length in ["master_digits_min", "master_digits_max"] {
            let digits = usize::try_from(one[length].as_u64().unwrap()).unwrap();
            let key = "1f".repeat(digits / 2);
            let scheme = one["usual"]["scheme"].as_str().unwrap();
            let name = format!("{scheme} {length}");
            let body = json!({"name": name, "key": key, "derivation": one["usual"]});
            let made = service.admin_create("/master-keys", body).await;
            assert_eq!(made["derivation"], one["usual"]);
        }
    }
}
