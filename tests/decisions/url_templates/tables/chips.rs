//! Chips in tables from practice: their counters, and their keys.

use super::*;

/// C3 (community.nxp.com thread 535033): counters in the form of chips' URLs.
#[tokio::test]
async fn a_hexadecimal_counter_is_not_read_as_a_decimal_one() {
    let service = TestService::start().await;
    let id = template(&service, &settings(ONE_ADDRESS), &["11"]).await;
    let keys = ["11", "22"].map(|byte| byte.repeat(16));
    let table = |text: &str| {
        text.lines()
            .enumerate()
            .map(|(row, line)| match row {
                0 => format!("{line},meta_key,file_key\n"),
                _ => format!("{line},{},{}\n", keys[0], keys[1]),
            })
            .collect::<String>()
    };
    let query = format!("?preset=csv&url_template_id={id}");
    let result = import(&service, &query, table(COUNTERS)).await;
    assert_eq!(result["created"], 2, "{result}");
    assert!(
        result["notes"][0]
            .as_str()
            .unwrap()
            .contains("\"000021\" in row 2 is 33"),
        "{result}"
    );
    let mut chip = Chip::new(settings(ONE_ADDRESS), aes("11", "22"));
    chip.uid = "044B6A4A4E6880".parse().unwrap();
    // Read as 21, the codes 22 to 33, which were spent at the former service, would verify again.
    for (counter, expected) in [(22, "out_of_order"), (33, "replayed"), (34, "verified")] {
        open(&service, &chip.url_at(counter, None)).await;
        assert_eq!(last(&service).await.1, expected, "{counter}");
    }

    let unclear = |counter: &str| {
        table(&format!(
            "name,serial number,read counter\nC,04DE5F1EACC040,{counter}\n"
        ))
    };
    let question = asked(&service, &query, unclear("21")).await.expect(422);
    assert_eq!(question["errors"][0]["field"], "counter", "{question}");
    let detail = question["detail"].as_str().unwrap();
    assert!(
        detail.contains("counter=hex") && detail.contains("row 2"),
        "{detail}"
    );
    let said = import(&service, &format!("{query}&counter=hex"), unclear("21")).await;
    assert_eq!(said["created"], 1, "{said}");
    let inlay = service.admin_get("/inlays?uid=04DE5F1EACC040").await;
    assert_eq!(inlay["items"][0]["last_counter"], 33);
}

/// R7 (lnbits/lnbits#1329, boltcard/bolt-nfc-android-app#50,
/// dennisreimann/btcpayserver-plugin-lnbank#60): all five keys of a card.
#[tokio::test]
async fn all_five_keys_of_a_bolt_card_are_kept() {
    let service = TestService::start().await;
    let text = "https://tags.example/bolt?p={picc}&c={mac}";
    let meta = "0c3b25d92b38ae443229dd59ad34b85d";
    let mut body = template_json(&settings(text), &[]);
    body["meta_keys"] = json!([meta]);
    let id = service.admin_create("/url-templates", body).await["id"].clone();
    let query = format!("?preset=boltcard&url_template_id={id}");
    let result = import(&service, &query, BOLTCARD_KEYS).await;
    assert_eq!(result["created"], 1, "{result}");
    assert_eq!(result["ignored_columns"], json!([]));
    assert_eq!(result["notes"], json!([]));
    let inlays = service.admin_get("/inlays?uid=04996C6A926980").await;
    assert_eq!(inlays["items"][0]["has_other_keys"], true, "{inlays}");
    // The published vector of boltcard is the code with counter 3, which was spent at the former
    // service.
    let path = "/bolt?p=4E2E289D945A66BB13377A728884E867&c=E19CCB1FED8892CE";
    open(&service, path).await;
    assert_eq!(last(&service).await.1, "replayed");
    let mut chip = Chip::new(
        settings(text),
        InlayKeys::Aes(Keys {
            meta: Some(AesKey::from_hex(meta).unwrap()),
            file: AesKey::from_hex("b45775776cb224c75bcde7ca3704e933").unwrap(),
        }),
    );
    chip.uid = "04996C6A926980".parse().unwrap();
    open(&service, &chip.url_at(4, None)).await;
    assert_eq!(last(&service).await, (json!(true), json!("verified")));
}

/// Few programs use keys 3 and 4, so a table may not have them; key 0 is needed for anything.
#[tokio::test]
async fn a_table_may_have_key_0_alone_and_no_other_key_without_it() {
    let service = TestService::start().await;
    let keys =
        "ntag424dna,encrypted,11111111111111111111111111111111,22222222222222222222222222222222";
    let key = "33333333333333333333333333333333";
    let header = "name,uid,technology,mirror,meta_key,file_key,key_0,key_3\n";
    let table = format!(
        "{header}Alone,04996C6A926980,{keys},{key},\nWithout,04996C6A926981,{keys},,{key}\n\
         None,04996C6A926982,{keys},,\nCut,04996C6A926983,{keys},3333,\n"
    );
    let result = import(&service, "", table).await;
    let refused = refused(&result);
    let rows: Vec<_> = refused.iter().map(|(row, _)| *row).collect();
    assert_eq!(rows, [3, 5], "{result}");
    assert!(refused[0].1.contains("key_0"), "{result}");
    for (uid, has) in [("04996C6A926980", true), ("04996C6A926982", false)] {
        let inlays = service.admin_get(&format!("/inlays?uid={uid}")).await;
        assert_eq!(inlays["items"][0]["has_other_keys"], has, "{uid}");
    }
}
