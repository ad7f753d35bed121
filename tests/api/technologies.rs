//! `/admin/v1/technologies`.

use serde_json::json;
use tapdesk_service::inlay::Technology;
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
            "rolls": true, "guessable": false, "encodable": true, "encrypts_data": true,
            "modes": [
                {"mode": "aes", "uid": 14, "counter": 6, "picc": 32, "mac": 16, "tamper": 2},
                {"mode": "lrp", "uid": 14, "counter": 6, "picc": 48, "mac": 16, "tamper": 2},
            ],
            "closed_loop": "CC", "counter_max": 0xFF_FFFF, "weakness": null,
        })
    );
}
