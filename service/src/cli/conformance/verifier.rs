//! A verifier of rolling codes, of any maker: codes of an NTAG 424 DNA in AES mode, right and wrong.
//!
//! | Module | Subject |
//! |---|---|
//! | `code` | the codes that a chip makes, and those of common mistakes |
//! | `signal` | how the verifier's answer shows that it accepts a code |
//! | `baseline` | finds that signal |
//! | `vectors`, `counters`, `macs`, `mistakes`, `texts` | the checks |

mod baseline;
mod code;
mod counters;
mod macs;
mod mistakes;
mod options;
mod signal;
mod texts;
mod vectors;

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tapdesk_service::inlay::Uid;
use tapdesk_service::inlay::key::Keys;
use tapdesk_service::inlay::template::{Field, Filled, Template};
use url::Url;

use super::NotRun;
use super::check::{Check, Judged, failed, judged, not_checked};
use super::web::{self, Web, rolling_key};
use code::{COUNTER_END, Rule, Tap};
use signal::{Seen, Signal};

pub(super) use options::VerifierOptions;

/// A verifier under test.
pub(super) struct Verifier {
    web: Web,
    template: Template,
    keys: Keys,
    uid: Uid,
    other_uid: Option<Uid>,
    used_urls: Vec<String>,
    /// The answers to the used URLs, which are sent before all other codes.
    used: Vec<Seen>,
    shows_file_data: bool,
    /// The counter of the next code.
    counter: u32,
    /// The rule by which it accepts codes: the chip's, or a mistake.
    rule: Rule,
    /// `None` if it accepts no code of any rule.
    signal: Option<Signal>,
    /// The answers to the published vectors; `None` for each that does not fit.
    vectors: Vec<Option<Seen>>,
}

/// The detail of checks of a verifier that accepts nothing.
const NOTHING_ACCEPTED: &str = "It accepts no code, so a refusal shows nothing.";

impl Verifier {
    /// The verifier with these URLs. Its answers to right and to wrong codes are compared first.
    pub(super) fn open(template: &str, options: &VerifierOptions) -> Result<Self> {
        let template = options.template(template)?;
        let url = template.url(None, &Filled::default());
        let keys = options.keys()?;
        let mut verifier = Self {
            web: Web::new(&super::web_url(&url)?),
            template,
            keys,
            uid: options.uid,
            other_uid: options.other_uid,
            used_urls: options.used_url.clone(),
            used: Vec::new(),
            shows_file_data: options.shows_file_data,
            counter: options.counter,
            rule: Rule::CHIP,
            signal: options.accepted.clone().map(Signal::Text),
            vectors: Vec::new(),
        };
        let found = verifier.first_answers();
        found.map_err(|error| {
            let host = Url::parse(&url).ok();
            let host = host.as_ref().and_then(Url::host_str).unwrap_or_default();
            NotRun::because(web::unusable(&format!("The verifier at {host}"), &error))
        })?;
        Ok(verifier)
    }

    /// Sends the used URLs, whose counters are the lowest, then the published vectors and the codes of
    /// the baseline.
    fn first_answers(&mut self) -> Result<(), ureq::Error> {
        let used = self.used_urls.iter().map(|url| self.ask(url));
        self.used = used.collect::<Result<_, _>>()?;
        self.vectors = vectors::send(self)?;
        self.find_baseline()
    }

    /// The counter with which another run can begin.
    pub(super) fn next_counter(&self) -> u32 {
        self.counter
    }

    /// A counter that no code had before. It reads differently in both orders of its bytes.
    fn fresh(&mut self) -> u32 {
        let counter = code::next_counter(self.counter);
        self.counter = (counter + 1).min(COUNTER_END);
        counter
    }

    /// A code of the inlay that the verifier accepts, with this counter.
    fn code(&self, counter: u32) -> Filled {
        self.code_by(self.rule, counter)
    }

    /// A code of the inlay by another rule.
    fn code_by(&self, rule: Rule, counter: u32) -> Filled {
        self.code_of(self.uid, rule, counter)
    }

    fn code_of(&self, uid: Uid, rule: Rule, counter: u32) -> Filled {
        let tap = Tap { uid, counter, rule };
        code::make(&self.template, &self.keys, &tap)
    }

    /// A fresh code with another MAC.
    fn with_mac(&mut self, mac: impl Fn(&str) -> String) -> Filled {
        let counter = self.fresh();
        let code = self.code(counter);
        let mac = mac(code.get(Field::Mac).unwrap_or_default());
        code.with(Field::Mac, &mac)
    }

    fn url(&self, code: &Filled) -> String {
        self.template.url(None, code)
    }

    /// Sends a URL. If the answer has a rolling key, the verdict is read with it.
    fn ask(&self, url: &str) -> Result<Seen, ureq::Error> {
        let answer = self.web.get(url)?;
        let key = answer.target().and_then(rolling_key);
        let origin = Url::parse(url)
            .ok()
            .map(|url| url.origin().ascii_serialization());
        let verified = match (key, origin) {
            (Some(key), Some(origin)) => {
                let payload = format!(
                    "{origin}/v2/interactions/rk_payload?rk={}",
                    STANDARD.encode(key)
                );
                self.web.get(&payload)?.json().get("tag_verified").cloned()
            }
            _ => None,
        };
        Ok(Seen::new(&answer, verified))
    }

    /// Whether it accepts the code in a URL.
    fn accepts_url(&self, url: &str) -> Result<bool, ureq::Error> {
        let seen = self.ask(url)?;
        Ok(self
            .signal
            .as_ref()
            .is_some_and(|signal| signal.accepts(&seen)))
    }

    fn accepts(&self, code: &Filled) -> Result<bool, ureq::Error> {
        self.accepts_url(&self.url(code))
    }

    /// The verdict on a code that must be accepted.
    fn must_accept(&self, code: &Filled, subject: &str) -> Judged {
        if self.signal.is_none() {
            return Ok(not_checked(NOTHING_ACCEPTED));
        }
        let bad = format!("{subject} is refused.");
        Ok(judged(
            self.accepts(code)?,
            format!("{subject} is accepted."),
            bad,
        ))
    }

    /// The verdict on URLs that must all be refused. Each has a name, for the detail.
    fn must_refuse(&self, subject: &str, urls: &[(String, String)]) -> Judged {
        if self.signal.is_none() {
            return Ok(not_checked(NOTHING_ACCEPTED));
        }
        let mut accepted = Vec::new();
        for (name, url) in urls {
            if self.accepts_url(url)? {
                accepted.push(name.as_str());
            }
        }
        let bad = format!("Accepted: {}.", accepted.join(", "));
        Ok(judged(
            accepted.is_empty(),
            format!("{subject} is refused."),
            bad,
        ))
    }

    /// The same for one code.
    fn must_refuse_code(&self, subject: &str, code: &Filled) -> Judged {
        self.must_refuse(subject, &[(subject.to_owned(), self.url(code))])
    }
}

/// The checks in the order in which they run. Published vectors have low counters, so they come
/// first; the check with a counter above `FFFFh` comes last.
pub(super) fn checks() -> Vec<Check<Verifier>> {
    let mut checks = vec![Check::new(
        "genuine-code",
        "NT4H2421Gx 9.3.8 and 9.3.9.1",
        genuine,
    )];
    checks.extend(vectors::checks());
    checks.extend(macs::checks());
    checks.extend(mistakes::checks());
    checks.extend(texts::checks());
    checks.extend(counters::checks());
    checks
}

/// A code as the chip makes it, whatever else the verifier accepts.
fn genuine(verifier: &mut Verifier) -> Judged {
    if verifier.signal.is_none() {
        return Ok(failed(
            "A genuine code and a wrong one get the same answer: check key, UID and template, or give \
             --accepted.",
        ));
    }
    let counter = verifier.fresh();
    let code = verifier.code_by(Rule::CHIP, counter);
    let mut verdict = verifier.must_accept(&code, "A genuine code")?;
    if verifier.rule != Rule::CHIP {
        let rule = verifier.rule.described();
        verdict = failed(format!("It refuses genuine codes, and accepts {rule}."));
    }
    Ok(verdict)
}
