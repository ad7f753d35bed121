//! Test URLs below the address. Each is one segment that begins with `!`, which no slug does. So it
//! takes the place of a tag, behind the same proxies between a phone and this service.
//!
//! A segment is made under a secret of the database. So every node can answer it, nobody else can,
//! and nobody can request answers for segments that were not made here.

use crate::studio::Proofs;
use domain::clock::{Millis, Timestamp};
use domain::entropy::{self, Entropy};

/// How long the URL of a QR code is valid. It ends at a full hour, so that the code on the screen
/// does not change while it is scanned.
const PHONE: Millis = Millis::days(1);
/// The query parameter with the address that a phone is to prove.
const AT: &str = "at";

/// Makes and reads test URLs.
pub struct Probes(Proofs);

/// A test URL that this service made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// This service opens it itself, and the right answer is this text.
    Check(String),
    /// A phone opens it, which proves this address.
    Phone(String),
}

impl Probes {
    /// Test URLs that are made under a stored secret.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(Proofs::new(secret, "test URLs of the address of tags"))
    }

    /// A segment that this service opens itself, and its right answer.
    pub fn check(&self, entropy: &dyn Entropy) -> (String, String) {
        let nonce = base16ct::lower::encode_string(&entropy::bytes::<16>(entropy));
        let proof = self.0.of(&asks(&nonce));
        let answer = self.0.of(&answers(&nonce));
        (format!("!c{nonce}-{proof}"), answer)
    }

    /// The last part of a URL with which a phone proves `tag_url`: segment and query.
    pub(crate) fn phone(&self, tag_url: &str, now: Timestamp) -> String {
        let until = now.plus(PHONE).millis();
        let until = until - until.rem_euclid(Millis::hours(1).get());
        let proof = self.0.of(&of_phone(until, tag_url));
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair(AT, tag_url);
        format!("!p{until:x}-{proof}?{}", query.finish())
    }

    /// The test URL with this segment and query; `None` if it was not made here, or is too old.
    pub fn read(&self, segment: &str, query: &str, now: Timestamp) -> Option<Probe> {
        let (kind, rest) = segment.strip_prefix('!')?.split_at_checked(1)?;
        let (subject, proof) = rest.split_once('-')?;
        match kind {
            "c" => {
                let holds = self.0.holds(&asks(subject), proof);
                holds.then(|| Probe::Check(self.0.of(&answers(subject))))
            }
            "p" => {
                let until = i64::from_str_radix(subject, 16).ok()?;
                let mut pairs = form_urlencoded::parse(query.as_bytes());
                let tag_url = pairs.find_map(|(name, value)| (name == AT).then_some(value))?;
                let holds = self.0.holds(&of_phone(until, &tag_url), proof);
                (holds && now.millis() < until).then(|| Probe::Phone(tag_url.into_owned()))
            }
            _ => None,
        }
    }
}

fn asks(nonce: &str) -> String {
    format!("ask {nonce}")
}

fn answers(nonce: &str) -> String {
    format!("answer {nonce}")
}

fn of_phone(until: i64, tag_url: &str) -> String {
    format!("phone {until} {tag_url}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::entropy::OsEntropy;
    use domain::tag::Slug;

    const NOW: Timestamp = Timestamp::from_millis(1_767_268_800_000);

    #[test]
    fn every_node_of_a_database_answers_a_segment_and_no_other_service_does() {
        let (ours, node, other) = (
            Probes::new(&[7; 32]),
            Probes::new(&[7; 32]),
            Probes::new(&[8; 32]),
        );
        let (segment, answer) = ours.check(&OsEntropy);
        assert!(Slug::parse(&segment).is_err(), "it is no tag's");
        assert_eq!(
            node.read(&segment, "", NOW),
            Some(Probe::Check(answer.clone()))
        );
        assert_eq!(other.read(&segment, "", NOW), None);
        assert!(
            !segment.contains(&answer),
            "it does not give its answer away"
        );
        for changed in [
            segment.replace("!c", "!p"),
            segment.replace("!c", "!ca"),
            segment[..segment.len() - 1].to_owned(),
            "!".to_owned(),
            "!c".to_owned(),
            "!é-".to_owned(),
        ] {
            assert_eq!(node.read(&changed, "", NOW), None, "{changed}");
        }
    }

    #[test]
    fn the_url_of_a_phone_is_for_one_address_and_a_day() {
        let probes = Probes::new(&[7; 32]);
        let url = probes.phone("https://tags.example/t", NOW);
        let (segment, query) = url.split_once('?').unwrap();
        let read =
            |query: &str, hours: i64| probes.read(segment, query, NOW.plus(Millis::hours(hours)));
        let proved = Some(Probe::Phone("https://tags.example/t".to_owned()));
        assert_eq!(read(query, 23), proved);
        assert_eq!(read(query, 24), None);
        assert_eq!(read("at=https%3A%2F%2Fother.example%2Ft", 0), None);
        assert_eq!(read("", 0), None);
        let minutes_later = NOW.plus(Millis::hours(1) - Millis::new(1));
        assert_eq!(probes.phone("https://tags.example/t", minutes_later), url);
    }
}
