//! The service's server. It keeps its keys in memory.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, Response, Uri};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use url::form_urlencoded;

use super::super::Server;
use super::Fault;

/// A key that has expired.
pub(super) const OLD_KEY: &str = "OldOldOldOldOldOldOldOldOldOldOldOldOldOldOl";
/// Turns of the runtime for which a slow service waits for another update. Enough that requests on
/// other connections arrive.
const TURNS: usize = 10_000;

#[derive(Default)]
struct Stored {
    /// Issued keys, with their `tag_verified`.
    keys: HashMap<String, Value>,
    consumed: HashSet<String>,
    read: HashSet<String>,
    codes: HashSet<String>,
    variables: HashSet<String>,
    /// The bodies of updates that succeeded.
    bodies: HashSet<String>,
    /// By how much simulated time was moved, in milliseconds.
    moved: u64,
    /// By how much it had been moved when a key was issued.
    issued: HashMap<String, u64>,
}

struct Service {
    base: String,
    fault: Option<Fault>,
    stored: Mutex<Stored>,
    inside: AtomicUsize,
}

/// Starts a service with this fault.
pub(super) async fn start(fault: Option<Fault>) -> Server {
    let mut stored = Stored::default();
    stored.variables.insert("registered".to_owned());
    if fault == Some(Fault::OldKeyTaken) {
        stored.keys.insert(OLD_KEY.to_owned(), Value::Null);
    }
    Server::start(|base| {
        let service = Service {
            base: base.to_owned(),
            fault,
            stored: Mutex::new(stored),
            inside: AtomicUsize::new(0),
        };
        Router::new().fallback(answer).with_state(Arc::new(service))
    })
    .await
}

async fn answer(
    State(service): State<Arc<Service>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: String,
) -> Response<Body> {
    let path = uri.path();
    if path.starts_with("/t/") {
        return service.tap(&uri);
    }
    if let Some(path) = path.strip_prefix("/admin/v1") {
        return service.admin(path, &body);
    }
    let path = if service.is(Fault::AnyVersion) {
        format!(
            "/v2{}",
            &path[path.find("/interactions").unwrap_or_default()..]
        )
    } else {
        path.to_owned()
    };
    match (path.as_str(), method.as_str()) {
        ("/v2/interactions/rk_payload", "GET" | "POST") => service.payload(&method, &uri),
        ("/v2/interactions/data", "POST") => {
            let mut answer = service.update(&headers, &body).await;
            if service.is(Fault::NoCorsForUpdates) {
                answer.headers_mut().remove("access-control-allow-origin");
            }
            answer
        }
        ("/v2/interactions/data", "GET") if service.is(Fault::GetUpdates) => {
            service.json(200, &updated())
        }
        ("/v2/interactions/data", "OPTIONS") => service.json(200, &Value::Null),
        ("/v2/interactions/rk_payload" | "/v2/interactions/data", _) => {
            service.json(405, &Value::Null)
        }
        _ => service.json(404, &Value::Null),
    }
}

fn updated() -> Value {
    json!({"success": true, "message": "User Data updated"})
}

/// The value of a parameter.
fn parameter(uri: &Uri, name: &str) -> Option<String> {
    let query = uri.query().unwrap_or_default().as_bytes();
    let mut pairs = form_urlencoded::parse(query);
    let (_, value) = pairs.find(|(found, _)| found == name)?;
    Some(value.into_owned())
}

impl Service {
    fn is(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn with<T>(&self, see: impl FnOnce(&mut Stored) -> T) -> T {
        see(&mut self.stored.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn json(&self, status: u16, body: &Value) -> Response<Body> {
        let cache = if self.is(Fault::Cached) {
            "max-age=60"
        } else {
            "no-store"
        };
        let answer = Response::builder()
            .status(status)
            .header("content-type", "application/json")
            .header("cache-control", cache);
        let answer = if self.is(Fault::NoCors) {
            answer
        } else {
            answer
                .header("access-control-allow-origin", "*")
                .header("access-control-allow-headers", "content-type")
        };
        answer
            .body(Body::from(body.to_string()))
            .expect("well-formed")
    }

    fn tap(&self, uri: &Uri) -> Response<Body> {
        let key = self.with(|stored| {
            let verified = match parameter(uri, "code") {
                Some(code) => {
                    let is_new = stored.codes.insert(code);
                    if !is_new && self.is(Fault::ReplayIsNull) {
                        Value::Null
                    } else {
                        json!(is_new || self.is(Fault::ReplayVerifies))
                    }
                }
                None if self.is(Fault::NullIsFalse) => json!(false),
                None => Value::Null,
            };
            let number = if self.is(Fault::OneKeyForAll) {
                0
            } else {
                stored.keys.len()
            };
            let key = format!("Key{number:041}");
            stored.keys.insert(key.clone(), verified);
            stored.issued.insert(key.clone(), stored.moved);
            key
        });
        let status = if self.is(Fault::PermanentRedirect) {
            301
        } else {
            302
        };
        let name = if self.is(Fault::KeyUnderAnotherName) {
            "key"
        } else {
            "rk"
        };
        let target = format!("https://owner.example/landing?{name}={key}");
        let answer = Response::builder()
            .status(status)
            .header("location", target);
        answer.body(Body::empty()).expect("well-formed")
    }

    /// The key as it was received in the redirect.
    fn decoded(&self, sent: &str) -> Option<String> {
        let decoded = STANDARD.decode(sent).ok();
        let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        let takes_raw = self.is(Fault::RawKeyTaken)
            || self.is(Fault::RawKeyTakenToo) && sent.starts_with("Key");
        if takes_raw {
            return Some(sent.to_owned());
        }
        decoded
    }

    fn payload(&self, method: &Method, uri: &Uri) -> Response<Body> {
        let sent = parameter(uri, "rk").unwrap_or_default();
        let key = self.decoded(&sent);
        let found = key.and_then(|key| {
            let verified = self.with(|stored| {
                let verified = stored.keys.get(&key).cloned();
                let verified = verified.filter(|_| self.lives(stored, &key));
                let is_first = stored.read.insert(key.clone());
                let has_ended = self.is(Fault::UpdateEndsPayload) && stored.consumed.contains(&key);
                verified
                    .filter(|_| is_first || !self.is(Fault::PayloadConsumesKey))
                    .filter(|_| !has_ended)
            });
            Some(self.payload_of(&key, &verified?))
        });
        let is_refused = self.is(Fault::NoPost) && method == Method::POST;
        match found.filter(|_| !is_refused) {
            Some(payload) => {
                let mut answer = self.json(200, &payload);
                let changed = match self.fault {
                    Some(Fault::PayloadCached) => Some(("cache-control", "max-age=60")),
                    Some(Fault::ShortLife) => Some(("tapdesk-expires-in", "60")),
                    _ => None,
                };
                if let Some((name, value)) = changed {
                    let value = HeaderValue::from_static(value);
                    answer.headers_mut().insert(name, value);
                }
                answer
            }
            None if self.is(Fault::InvalidKeyIs404) => self.json(404, &json!([])),
            None => self.json(200, &json!([])),
        }
    }

    fn payload_of(&self, key: &str, verified: &Value) -> Value {
        let kind = json!({"id": 0, "name": "", "stationary": 0});
        let mut payload = json!({
            "campaigns": [],
            "metadata": {
                "name": "Bottle", "title": "", "description": "", "url": "", "tag_id": 1,
                "studio_id": "", "widget_settings": {}, "language_code": "en_US",
                "verified": "1", "tag_verifier_enabled": "1", "device_id": 1,
            },
            "app_id": 1,
            "social": {"blacklist": {}},
            "location": {
                "id": 0, "street": "", "dma": 0, "lat": 0.0, "lon": 0.0, "stationary": false,
                "data": {}, "user_data": [], "system": [],
                "venue": {"type": kind, "name": ""}, "asset": {"type": kind, "id": ""},
            },
            "interaction_ids": [1],
            "impression_ids": [],
            "track_location": false,
            "payloads": [],
            "tag_verified": verified,
            "device": {"r": false, "rd": false, "country": "FR"},
            "rk": key,
        });
        match self.fault {
            Some(Fault::VerifiedIsText) => payload["tag_verified"] = verified.to_string().into(),
            Some(Fault::RkEncoded) => payload["rk"] = STANDARD.encode(key).into(),
            Some(Fault::IdsAreTexts) => payload["interaction_ids"] = json!(["1"]),
            Some(Fault::NoLocation) => payload["location"] = json!({}),
            _ => {}
        }
        payload
    }

    async fn update(&self, headers: &HeaderMap, body: &str) -> Response<Body> {
        let kind = headers
            .get("content-type")
            .and_then(|kind| kind.to_str().ok());
        if kind != Some("application/json") && !self.is(Fault::TextTaken) {
            return self.json(415, &json!({"error": true, "message": "Wrong type"}));
        }
        let record: Value = serde_json::from_str(body).unwrap_or_default();
        let (Some(sent), Some(data)) = (record["rolling_key"].as_str(), record["data"].as_object())
        else {
            return self.json(400, &json!({"error": true, "message": "No update"}));
        };
        let names: Vec<String> = data.keys().cloned().collect();
        let key = self.decoded(sent).filter(|key| self.is_live(key));
        let is_known = self.knows(&names);
        if !is_known && self.is(Fault::OtherMessage) {
            return self.json(400, &json!({"error": true, "message": "Unknown variable"}));
        }
        if self.is(Fault::SameAgainSucceeds) && self.with(|stored| stored.bodies.contains(body)) {
            return self.json(200, &updated());
        }
        if self.is(Fault::RefusalConsumes)
            && !is_known
            && let Some(key) = &key
        {
            self.with(|stored| stored.consumed.insert(key.clone()));
        }
        let Some(key) = key.filter(|_| is_known) else {
            return self.refused();
        };
        if self.is(Fault::CheckThenConsume) {
            self.wait_for_another().await;
        }
        if !self.is(Fault::KeyNotConsumed) {
            self.with(|stored| stored.consumed.insert(key));
        }
        self.with(|stored| stored.bodies.insert(body.to_owned()));
        self.json(200, &updated())
    }

    fn refused(&self) -> Response<Body> {
        let status = if self.is(Fault::RefusalIs200) {
            200
        } else {
            400
        };
        let body = json!({"error": true, "message": "Invalid rolling key"});
        self.json(status, &body)
    }

    fn is_live(&self, key: &str) -> bool {
        self.with(|stored| {
            stored.keys.contains_key(key)
                && !stored.consumed.contains(key)
                && self.lives(stored, key)
        })
    }

    /// Whether the five minutes of a key are not over.
    fn lives(&self, stored: &Stored, key: &str) -> bool {
        let minutes = if self.is(Fault::KeyEndsEarly) { 3 } else { 5 };
        let issued = stored.issued.get(key).copied().unwrap_or_default();
        stored.moved - issued < minutes * 60_000
    }

    /// Answers calls of the admin API about a virtual inlay and simulated time. `path` is the part
    /// after `/admin/v1`.
    fn admin(&self, path: &str, body: &str) -> Response<Body> {
        let answer = match path {
            "/verification" => json!({"tag_id": 1}),
            "/tags/1" => json!({"slug": "bottle"}),
            "/simulator/inlays" => json!({"items": [{"id": 1, "tag": "bottle"}], "next": null}),
            "/simulator/inlays/1/tap" => {
                let code = self.with(|stored| stored.codes.len());
                json!({"url": format!("{}/t/bottle?code={code}", self.base)})
            }
            "/simulator/clock" => {
                let asked: Value = serde_json::from_str(body).unwrap_or_default();
                let millis = asked["advance_ms"].as_u64().unwrap_or_default();
                self.with(|stored| stored.moved += millis);
                json!({})
            }
            _ => return self.json(404, &Value::Null),
        };
        self.json(200, &answer)
    }

    fn knows(&self, names: &[String]) -> bool {
        self.with(|stored| {
            let mut known = names.iter().map(|name| stored.variables.contains(name));
            let is_known = if self.is(Fault::UnknownLeftOut) {
                known.any(|known| known)
            } else {
                known.all(|known| known)
            };
            if self.is(Fault::VariableCreated) {
                stored.variables.extend(names.iter().cloned());
            }
            is_known
        })
    }

    /// Gives the other updates time to find the key unconsumed, too.
    async fn wait_for_another(&self) {
        self.inside.fetch_add(1, Ordering::SeqCst);
        for _ in 0..TURNS {
            if self.inside.load(Ordering::SeqCst) > 1 {
                break;
            }
            tokio::task::yield_now().await;
        }
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }
}
