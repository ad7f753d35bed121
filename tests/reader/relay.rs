//! The relay on the real PC/SC service: it sends a service's commands to the inlay in order,
//! returns the answers to the service, and stores nothing.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Map, Value, json};
use tapdesk::backend::{Backend, RemoteService};
use tapdesk::reader::board::{Board, OnReader, PlacedInlay};
use tapdesk::reader::encode::{Progress, Wanted, encode};
use tapdesk::reader::pcsc::Pcsc;
use tapdesk_service::admin_token::AdminToken;
use tapdesk_service::id::EncodingId;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;
use tapdesk_tests::virtual_card::type2::{Type2Chip, VirtualType2};
use tapdesk_tests::virtual_card::{Tear, TornOut, VirtualCard as _};
use tapdesk_tests::virtual_reader::in_own_process;
use tokio::runtime::Runtime;

use crate::chips::bottle;
use crate::table::Watch;

const SELECT: &str = "00A4040007D276000085010100";

/// A service that follows a test's script, and records the requests.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<Said>>);

#[derive(Default)]
struct Said {
    turns: VecDeque<Value>,
    heard: Vec<Value>,
    /// Statuses of responses that are lost on their way.
    lost: VecDeque<StatusCode>,
}

impl Script {
    /// A service that sends these turns, and then ends the encoding.
    fn wants(turns: impl IntoIterator<Item = Value>) -> Self {
        let script = Self::default();
        let mut turns: VecDeque<_> = turns.into_iter().collect();
        turns.push_back(json!([]));
        script.0.lock().unwrap().turns = turns;
        script
    }

    fn next(&self, id: i64) -> Value {
        let mut said = self.0.lock().unwrap();
        let seq = said.heard.len();
        let commands = said.turns.pop_front().unwrap();
        let over = commands.as_array().unwrap().is_empty();
        json!({
            "id": id, "seq": seq, "commands": commands, "step": {"at": seq, "of": 9},
            "state": if over { "verified" } else { "writing" },
            "reason": null,
            "result": over.then(|| json!({"tag_id": 41, "slug": "k3v9qa", "url": "u", "counter": 1})),
        })
    }

    fn heard(&self) -> Vec<Value> {
        self.0.lock().unwrap().heard.clone()
    }

    /// Listens as long as the runtime lives.
    async fn listen(&self) -> Backend {
        let router = Router::new()
            .route("/admin/v1/encodings", post(begin))
            .route("/admin/v1/encodings/{id}/answers", post(answer))
            .with_state(self.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        let token = AdminToken::parse(&"t".repeat(40)).unwrap();
        Backend::Remote(Arc::new(RemoteService::new(
            format!("http://{address}"),
            token,
        )))
    }
}

async fn begin(State(script): State<Script>, Json(wanted): Json<Value>) -> Response {
    script.0.lock().unwrap().heard.push(wanted);
    (StatusCode::CREATED, Json(script.next(12))).into_response()
}

async fn answer(
    State(script): State<Script>,
    Path(id): Path<i64>,
    Json(answers): Json<Value>,
) -> Response {
    let lost = {
        let mut said = script.0.lock().unwrap();
        let lost = said.lost.pop_front();
        if lost.is_none() {
            said.heard.push(answers);
        } else {
            // The first request arrived, so the same request comes again below.
            let again = json!({"again": answers});
            said.turns.push_back(again);
        }
        lost
    };
    match lost {
        Some(status) => status.into_response(),
        None => Json(script.next(id)).into_response(),
    }
}

fn command(name: &str, apdu: &str, expect: &str) -> Value {
    json!({"apdu": apdu, "expect": [expect], "name": name})
}

fn reset() -> Value {
    json!({"reset": true, "name": "New activation"})
}

/// The inlay on some reader, and the reader's name.
pub(crate) fn laid(watch: &mut Watch) -> (String, PlacedInlay) {
    watch.table("an inlay", |table| {
        let mut places = table.readers.into_iter();
        places.find_map(|place| match place.on {
            OnReader::Inlay(laid) => Some((place.name, *laid)),
            _ => None,
        })
    })
}

async fn relay(
    board: &Arc<Board>,
    backend: &Backend,
    reader: &str,
    insertion: u64,
    told: &Mutex<Vec<Progress>>,
) -> Result<Progress, String> {
    let target: Map<String, Value> = [("tag_id".to_owned(), json!(41))].into_iter().collect();
    let wanted = Wanted {
        reader: reader.to_owned(),
        insertion,
        target,
    };
    let tell = |one: &Progress| told.lock().unwrap().push(one.clone());
    encode(Pcsc, board, backend, wanted, tell).await
}

#[test]
fn commands_are_sent_in_their_order_up_to_the_first_unexpected_answer() {
    in_own_process(|pcscd| {
        let mut watch = Watch::start();
        let card = pcscd.lay_down(bottle());
        let (reader, laid) = laid(&mut watch);
        let uid = laid.reading.uid.unwrap();
        let script = Script::wants([
            json!([
                command("UID", "FFCA000000", "9000"),
                command("Select the application", SELECT, "9000"),
                command("A secret handshake", "9071000002000000", "91AF"),
            ]),
            // Key 0 is not zeros, so no later command is sent.
            json!([
                command(
                    "Its second half",
                    &format!("90AF000020{}00", "AB".repeat(32)),
                    "9100"
                ),
                command("Never sent", SELECT, "9000"),
            ]),
            json!([reset(), command("Select again", SELECT, "9000")]),
            // Commands that are not allowed for cards are not sent.
            json!([command("The reader's own", "FF00000002D402", "9000")]),
        ]);
        let told = Mutex::new(Vec::new());
        let runtime = Runtime::new().unwrap();
        let done = runtime.block_on(async {
            let backend = script.listen().await;
            relay(&watch.board(), &backend, &reader, laid.insertion, &told).await
        });
        let done = done.unwrap();
        assert_eq!(
            (done.state.as_str(), done.id),
            ("verified", Some(EncodingId::new(12)))
        );
        assert_eq!(done.result.as_ref().unwrap()["slug"], "k3v9qa");

        let heard = script.heard();
        assert_eq!(
            heard[0],
            json!({"tag_id": 41, "uid": uid, "has_message": true})
        );
        let first = heard[1]["answers"].as_array().unwrap();
        assert_eq!(first[..2], [json!(format!("{uid}9000")), json!("9000")]);
        assert!(first[2].as_str().unwrap().len() == 36 && heard[1]["fault"].is_null());
        assert_eq!(
            heard[2],
            json!({"seq": 2, "answers": ["91AE"], "fault": null})
        );
        let atr = "3B8180018080";
        assert_eq!(
            heard[3]["answers"],
            json!([atr, "9000"]),
            "a new activation"
        );
        assert_eq!(
            heard[4],
            json!({"seq": 4, "answers": [], "fault": "timeout"})
        );

        let names: Vec<_> = done.log.iter().map(|line| line.name.as_str()).collect();
        assert!(names.contains(&"Its second half") && !names.contains(&"Never sent"));
        let statuses: Vec<_> = done.log.iter().map(|line| line.status.as_deref()).collect();
        assert_eq!(
            statuses[..4],
            [Some("9000"), Some("9000"), Some("91AF"), Some("91AE")]
        );
        // Reports contain steps, statuses and times, and never data.
        let whole = serde_json::to_string(&*told.lock().unwrap()).unwrap();
        assert!(whole.contains("A secret handshake"));
        assert!(!whole.contains(&first[2].as_str().unwrap()[..32]) && !whole.contains("ABAB"));
        // The monitor watches the reader again.
        drop(card);
        watch.until_empty();
    });
}

#[test]
fn a_turn_whose_answer_is_lost_on_its_way_is_answered_again_with_the_same() {
    in_own_process(|pcscd| {
        let mut watch = Watch::start();
        let _card = pcscd.lay_down(bottle());
        let (reader, laid) = laid(&mut watch);
        let script = Script::wants([json!([command("Select", SELECT, "9000")])]);
        script.0.lock().unwrap().lost =
            [StatusCode::BAD_GATEWAY, StatusCode::SERVICE_UNAVAILABLE].into();
        let told = Mutex::new(Vec::new());
        let done = Runtime::new().unwrap().block_on(async {
            let backend = script.listen().await;
            relay(&watch.board(), &backend, &reader, laid.insertion, &told).await
        });
        assert_eq!(done.unwrap().state, "verified");
        let heard = script.heard();
        assert_eq!(
            heard[1],
            json!({"seq": 1, "answers": ["9000"], "fault": null})
        );
        let lost: Vec<_> = script
            .0
            .lock()
            .unwrap()
            .turns
            .iter()
            .map(|lost| lost["again"].clone())
            .collect();
        assert_eq!(lost, [heard[1].clone(), heard[1].clone()]);
    });
}

#[test]
fn a_refusal_of_the_service_is_told_in_its_own_words() {
    in_own_process(|pcscd| {
        let mut watch = Watch::start();
        let _card = pcscd.lay_down(bottle());
        let (reader, laid) = laid(&mut watch);
        let script = Script::wants([json!([command("Select", SELECT, "9000")])]);
        script.0.lock().unwrap().lost = [StatusCode::CONFLICT].into();
        let told = Mutex::new(Vec::new());
        let runtime = Runtime::new().unwrap();
        let board = watch.board();
        let refused = runtime.block_on(async {
            let backend = script.listen().await;
            relay(&board, &backend, &reader, laid.insertion, &told).await
        });
        // This failure must not be retried.
        let refusal = refused.unwrap().refusal;
        assert_eq!(refusal.as_deref(), Some("The service answered 409."));
        // An inlay of another insertion is not encoded.
        let other = runtime.block_on(async {
            let backend = script.listen().await;
            relay(&board, &backend, &reader, laid.insertion + 1, &told).await
        });
        assert!(other.unwrap_err().contains("Place it on the reader again"));
        assert_eq!(script.heard().len(), 1);
    });
}

#[test]
fn an_inlay_torn_away_at_any_command_is_told_and_the_next_one_is_read() {
    in_own_process(|pcscd| {
        let mut watch = Watch::start();
        let first = pcscd.lay_down(bottle());
        let read = watch.until_inlay().log.len();
        drop(first);
        watch.until_empty();
        for (answered, tear) in [
            (0, Tear::before(read)),
            (2, Tear::before(read + 2)),
            (2, Tear::after(read + 2)),
        ] {
            let card = pcscd.lay_down(TornOut::new(tear, bottle()));
            let (reader, laid) = laid(&mut watch);
            let script = Script::wants([json!([
                command("UID", "FFCA000000", "9000"),
                command("Select", SELECT, "9000"),
                command("Version", "9060000000", "91AF"),
            ])]);
            let told = Mutex::new(Vec::new());
            let done = Runtime::new().unwrap().block_on(async {
                let backend = script.listen().await;
                relay(&watch.board(), &backend, &reader, laid.insertion, &told).await
            });
            done.unwrap();
            let heard = script.heard();
            assert_eq!(heard[1]["fault"], "removed", "{tear:?}");
            // The command that was cut off may have been the monitor's.
            let answers = heard[1]["answers"].as_array().unwrap().len();
            assert!(answers <= answered, "{tear:?}: {answers}");
            drop(card);
            watch.until_empty();
        }
        let card = pcscd.lay_down(bottle());
        watch.until_inlay();
        assert_eq!(card.take_away().counter(), 1);
    });
}

#[test]
fn two_readers_work_side_by_side_and_the_monitor_keeps_off() {
    in_own_process(|pcscd| {
        let mut watch = Watch::start();
        let one = pcscd.lay_on(0, bottle());
        let two = pcscd.lay_on(1, VirtualType2::factory(Type2Chip::Ntag215, [4; 7]));
        let places = watch.table("two inlays", |table| {
            let places: Vec<_> = table
                .readers
                .into_iter()
                .filter_map(|place| match place.on {
                    OnReader::Inlay(laid) => Some((place.name, *laid)),
                    _ => None,
                })
                .collect();
            (places.len() == 2).then_some(places)
        });
        let write = json!([
            command("Page 4", "FFD600040403021122", "9000"),
            reset(),
            command("Read", "FFB0000404", "9000"),
        ]);
        let select = json!([
            command("Select", SELECT, "9000"),
            command("Select the file", "00A4000C02E104", "9000"),
        ]);
        let board = watch.board();
        Runtime::new().unwrap().block_on(async {
            let work = places.iter().map(|(reader, laid)| {
                let turn = if laid.reading.uid.as_deref() == Some("04040404040404") {
                    &write
                } else {
                    &select
                };
                let script = Script::wants(vec![turn.clone(); 20]);
                let board = Arc::clone(&board);
                async move {
                    let told = Mutex::new(Vec::new());
                    let backend = script.listen().await;
                    relay(&board, &backend, reader, laid.insertion, &told).await
                }
            });
            let work: Vec<_> = work.collect();
            let [first, second] = <[_; 2]>::try_from(work).ok().unwrap();
            let (first, second) = tokio::join!(first, second);
            assert_eq!(first.unwrap().state, "verified");
            assert_eq!(second.unwrap().state, "verified");
        });
        let read = two.take_away();
        assert_eq!(read.page(4), [0x03, 0x02, 0x11, 0x22]);
        assert_eq!(
            one.take_away().counter(),
            1,
            "read once, only by the monitor"
        );
        watch.until_empty();
    });
}

#[test]
fn a_virtual_chip_is_reset_as_by_a_reader() {
    let mut chip = VirtualNtag424::new(bottle().uid());
    chip.apdu(&[0x00, 0xA4, 4, 0, 7, 0xD2, 0x76, 0, 0, 0x85, 1, 1, 0]);
    assert_eq!(chip.apdu(&[0x90, 0xF5, 0, 0, 1, 2, 0])[..2], [0x00, 0x00]);
    chip.power_on();
    assert_eq!(chip.apdu(&[0x90, 0xF5, 0, 0, 1, 2, 0]), [0x91, 0x9D]);
}
