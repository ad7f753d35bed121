//! A simple relay: it sends the service's commands to a chip in software, without understanding
//! them.

use reqwest::Method;
use serde_json::{Value, json};

use crate::virtual_card::VirtualCard;
use crate::{Client, fixtures};

/// Bytes in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    fixtures::hex(bytes).to_lowercase()
}

/// Bytes from hexadecimal.
///
/// # Panics
/// When it is not hexadecimal.
pub fn bytes(text: &str) -> Vec<u8> {
    let pair = |i| u8::from_str_radix(&text[i..i + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(pair).collect()
}

/// Statuses of a relay for a command of the chip itself: the chip refused it, or the reader passes
/// none on.
const REFUSED: [u8; 2] = [0x63, 0x00];
const NOT_PASSED_ON: [u8; 2] = [0x6A, 0x81];

/// Passes a command of the chip itself on as an ACR122U does; `None` if the chip is removed.
fn pass_on(card: &mut dyn VirtualCard, command: &[u8]) -> Option<Vec<u8>> {
    let length = u8::try_from(command.len()).expect("a short command");
    let by_controller = [&[0xFF, 0x00, 0x00, 0x00, length + 2, 0xD4, 0x42], command].concat();
    let answer = card.transmit(&by_controller)?;
    let shown = match answer.split_last_chunk::<2>() {
        Some(([0xD5, 0x43, 0x00, shown @ ..], [0x90, 0x00])) => Some(shown.to_vec()),
        Some(([0xD5, 0x43, ..], _)) => None,
        _ => return Some(NOT_PASSED_ON.to_vec()),
    };
    Some(if let Some(shown) = shown {
        [&shown[..], &[0x90, 0x00]].concat()
    } else {
        card.power_on();
        REFUSED.to_vec()
    })
}

/// A chip's answers to a turn, up to the first unexpected one.
///
/// # Panics
/// When it is no turn.
pub fn answers(card: &mut dyn VirtualCard, turn: &Value) -> Value {
    let (mut answers, mut fault) = (Vec::new(), Value::Null);
    for command in turn["commands"].as_array().unwrap() {
        // A command lists its expected statuses, unless its answer has none.
        let expect = command.get("expect").and_then(Value::as_array);
        assert_eq!(
            expect.is_none_or(Vec::is_empty),
            command["reset"] == true,
            "{command}"
        );
        if command["reset"] == true {
            assert_eq!(command.get("expect"), None);
            card.power_on();
            answers.push(hex(&card.atr()));
            continue;
        }
        let answer = match command["native"].as_str() {
            Some(native) => pass_on(card, &bytes(native)),
            None => card.transmit(&bytes(command["apdu"].as_str().unwrap())),
        };
        let Some(answer) = answer else {
            fault = "removed".into();
            break;
        };
        let answer = hex(&answer).to_uppercase();
        let status = answer[answer.len() - 4..].to_owned();
        answers.push(answer);
        if !command["expect"]
            .as_array()
            .unwrap()
            .contains(&status.into())
        {
            break;
        }
    }
    json!({"seq": turn["seq"], "answers": answers, "fault": fault})
}

/// Places a chip, and relays until a turn has no commands.
///
/// # Panics
/// When the service refuses.
pub async fn lay(client: &Client, card: &mut dyn VirtualCard, wish: &Value) -> Value {
    card.power_on();
    let begun = client.admin(Method::POST, "/encodings", wish.clone()).await;
    assert!(begun.status == 201 || begun.status == 200, "{}", begun.body);
    let mut turn = begun.json();
    while !turn["commands"].as_array().unwrap().is_empty() {
        let answers = answers(card, &turn);
        let path = format!("/encodings/{}/answers", turn["id"]);
        turn = client.admin(Method::POST, &path, answers).await.expect(200);
    }
    turn
}
