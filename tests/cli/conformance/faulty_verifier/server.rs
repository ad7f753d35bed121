//! The server of a verifier: it reads a URL, and answers whether the code is accepted.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::key::AesKey;
use tapdesk_service::inlay::technology::Mode;
use tapdesk_service::inlay::technology::ntag424::{Mirrored, Session};
use tapdesk_service::inlay::template::{Field, Filled, Template};
use tapdesk_tests::fixtures::hex;
use url::form_urlencoded;

use super::super::Server;
use super::Fault;
use super::code::{self, Kind};
use super::counters::Counters;

struct Verifier {
    fault: Option<Fault>,
    template: Template,
    base: String,
    counters: Counters,
}

/// Starts a verifier with this fault.
pub(super) async fn start(fault: Option<Fault>, kind: Kind) -> Server {
    Server::start(|base| {
        let verifier = Verifier {
            fault,
            template: kind.template(base),
            base: base.to_owned(),
            counters: Counters::new(fault),
        };
        Router::new()
            .fallback(answer)
            .with_state(Arc::new(verifier))
    })
    .await
}

async fn answer(State(verifier): State<Arc<Verifier>>, uri: Uri) -> (StatusCode, String) {
    let refused = (StatusCode::FORBIDDEN, r#"{"valid": false}"#.to_owned());
    let Some(code) = verifier.read(&uri) else {
        return refused;
    };
    let (meta, file) = code::slots(verifier.fault);
    let Some(mirrored) = code::open(verifier.fault, &meta, &code) else {
        return refused;
    };
    let Some((uid, counter)) = verifier.identity(mirrored) else {
        return refused;
    };
    if !verifier.is_authentic(&uri, &file, mirrored, &code) {
        verifier
            .counters
            .see_forged(uid, counter.unwrap_or_default());
        return refused;
    }
    let is_new = match counter {
        Some(counter) => {
            verifier
                .counters
                .accept(uid, counter, &uri.to_string())
                .await
        }
        // Only a verifier that needs no counter comes here.
        None => true,
    };
    if !is_new {
        return refused;
    }
    let key = if verifier.fault == Some(Fault::FileDataByMetaKey) {
        &meta
    } else {
        &file
    };
    let data = code.all_bytes(Field::Enc).unwrap_or_default();
    let data = Session::new(Mode::Aes, key, mirrored).decrypt(&data);
    let body = format!(r#"{{"valid": true, "file_data": "{}"}}"#, hex(&data));
    (StatusCode::OK, body)
}

impl Verifier {
    fn is(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// The values of a request; `None` if one is missing, or not of its shape.
    fn read(&self, uri: &Uri) -> Option<Filled> {
        let query = uri.query().unwrap_or_default().as_bytes();
        let parameters: HashMap<String, String> =
            form_urlencoded::parse(query).into_owned().collect();
        let mut code = Filled::default();
        for (field, name) in [
            (Field::Picc, "picc_data"),
            (Field::Uid, "uid"),
            (Field::Counter, "ctr"),
            (Field::Enc, "enc"),
            (Field::Mac, "cmac"),
        ] {
            if !self.template.has(field) {
                continue;
            }
            let value = match parameters.get(name) {
                Some(value) => value.as_str(),
                None if field == Field::Mac && self.is(Fault::MissingMac) => continue,
                None => return None,
            };
            if self.is(Fault::LowerCaseRefused) && *value != value.to_uppercase() {
                return None;
            }
            code.set(field, self.shaped(field, value)?);
        }
        Some(code)
    }

    /// The value, if its length is that of the chip. The MAC is compared as a whole.
    fn shaped<'a>(&self, field: Field, value: &'a str) -> Option<&'a str> {
        let length = self.template.length(field)?;
        if field == Field::Mac || value.len() == length {
            return Some(value);
        }
        value.get(..length).filter(|_| self.is(Fault::LongField))
    }

    /// The chip and the counter that a code names.
    fn identity(&self, mirrored: Mirrored) -> Option<(Uid, Option<u32>)> {
        let known = [code::UID, code::OTHER_UID].map(|uid| uid.parse::<Uid>().expect("a UID"));
        let uid = mirrored.uid?;
        let has_counter = mirrored.counter.is_some() || self.is(Fault::CounterNotNeeded);
        (known.contains(&uid) && has_counter).then_some((uid, mirrored.counter))
    }

    fn is_authentic(&self, uri: &Uri, file: &AesKey, mirrored: Mirrored, code: &Filled) -> bool {
        let Some(shown) = code.get(Field::Mac) else {
            return self.is(Fault::MissingMac);
        };
        if self.is(Fault::FileDataNotCovered) {
            return self.is_of_some_file_data(file, mirrored, shown);
        }
        let input = match self.fault {
            Some(Fault::MacOverNothing) => Vec::new(),
            Some(Fault::MacOverUrl) => {
                let url = format!("{}{uri}", self.base);
                let (before, _) = url.rsplit_once(shown).unwrap_or_default();
                before.as_bytes().to_vec()
            }
            _ => self.template.mac_input(None, code),
        };
        let full = code::full_mac(self.fault, file, mirrored, &input);
        let of_chip = |uid| {
            let mirrored = Mirrored {
                uid: Some(uid),
                ..mirrored
            };
            code::is_right(
                self.fault,
                shown,
                code::full_mac(self.fault, file, mirrored, &input),
            )
        };
        code::is_right(self.fault, shown, full)
            || self.is(Fault::OfAnyChip) && near(mirrored).into_iter().any(of_chip)
    }

    /// Whether the MAC is of the file data that the judge's chips have, whatever the URL says.
    fn is_of_some_file_data(&self, file: &AesKey, mirrored: Mirrored, shown: &str) -> bool {
        let contents: [&[u8; 16]; 2] = [b"tapdesk-judge-01", &[0; 16]];
        contents.into_iter().any(|content| {
            let data = Session::new(Mode::Aes, file, mirrored).encrypt(content);
            let code = Filled::default().with(Field::Enc, &hex(&data));
            let input = self.template.mac_input(None, &code);
            let full = code::full_mac(self.fault, file, mirrored, &input);
            code::is_right(self.fault, shown, full)
        })
    }
}

/// The chips whose UIDs differ in one bit: a verifier that compares too little takes them for one.
fn near(mirrored: Mirrored) -> Vec<Uid> {
    let bits = mirrored.uid.map(Uid::bytes).into_iter();
    let near = bits.flat_map(|bytes| {
        (0..8).map(move |bit| {
            let mut bytes = bytes;
            bytes[6] ^= 1 << bit;
            Uid::from_bytes(bytes)
        })
    });
    near.collect()
}
