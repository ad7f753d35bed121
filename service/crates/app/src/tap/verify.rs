//! The decisions that set `tag_verified`, in their order.

use std::borrow::Cow;

use super::Place;
use crate::service::{CachedTag, Service, TapTemplate, TemplateTapInlay};
use domain::interaction::{Claim, CounterRule, Refusal, Tech, Unchecked, Verdict};
use domain::keyring::KeyringError;
use inlay::assessment::{Assessment, Authenticity, FailedStep, FileData, Tamper};
use inlay::template::{Addressed, Filled, MacStart, Template};
use inlay::verify::{CodeError, verify};

/// The values of `uid` and `token` in a tag URL's query.
#[derive(Clone, Debug)]
pub(super) enum UrlCode<'a> {
    /// Neither `uid` nor `token` is in the query.
    Nothing,
    /// One of them is missing or repeated.
    Malformed,
    /// Each was sent once.
    Code {
        /// The value of `uid`.
        uid: Cow<'a, str>,
        /// The value of `token`.
        token: Cow<'a, str>,
    },
}

impl<'a> UrlCode<'a> {
    /// Whether it is a static URL, the same one at every scan.
    pub(super) const fn is_static(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// How a visitor of `tag` who sent this code came.
    pub(super) fn tech(&self, tag: &CachedTag) -> Tech {
        match self {
            Self::Nothing if tag.switches.has_qr_code => Tech::Qr,
            Self::Nothing if tag.has_static_inlay() => Tech::Nfc,
            Self::Nothing => Tech::Url,
            Self::Malformed | Self::Code { .. } => Tech::Nfc,
        }
    }

    /// Reads a query. Names are case sensitive; other parameters do not matter.
    pub(super) fn in_query(query: &'a str) -> Self {
        let (mut uid, mut token) = (None, None);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let slot = match &*name {
                "uid" => &mut uid,
                "token" => &mut token,
                _ => continue,
            };
            if slot.replace(value).is_some() {
                return Self::Malformed;
            }
        }
        match (uid, token) {
            (None, None) => Self::Nothing,
            (Some(uid), Some(token)) => Self::Code { uid, token },
            _ => Self::Malformed,
        }
    }
}

/// The verdict on a tap before its counter is checked.
pub(super) fn classify(tag: &CachedTag, code: &UrlCode<'_>) -> Result<Claim, KeyringError> {
    let switches = &tag.switches;
    let decided = |verdict| Ok(Claim::Decided(verdict));
    if !switches.verifier_enabled {
        return decided(Verdict::NotChecked(Unchecked::VerifierOff));
    }
    let (uid, token) = match code {
        UrlCode::Nothing if !tag.rolls() || switches.has_qr_code => {
            return decided(Verdict::NotChecked(Unchecked::NoCode));
        }
        UrlCode::Nothing => return decided(Verdict::NotVerified(Refusal::NoCode)),
        UrlCode::Malformed => return decided(Verdict::NotVerified(Refusal::Malformed)),
        UrlCode::Code { uid, token } => (uid, token),
    };
    let inlays = tag.inlays()?;
    match verify(uid, token, inlays) {
        Ok(authentic) => {
            let inlay = &inlays[authentic.index];
            Ok(Claim::Counter {
                inlay_id: inlay.id,
                key_version: inlay.key_version,
                counter: authentic.counter,
                rule: if inlay.blocked {
                    CounterRule::Blocked
                } else {
                    CounterRule::Proof
                },
            })
        }
        Err(CodeError::Malformed(_)) => decided(Verdict::NotVerified(Refusal::Malformed)),
        Err(CodeError::UnknownInlay { uid, .. }) => {
            decided(Verdict::NotVerified(Refusal::UnknownInlay { uid }))
        }
        Err(CodeError::WrongMac { counter, .. }) => {
            let counter = Some(counter);
            decided(Verdict::NotVerified(Refusal::WrongMac { counter }))
        }
    }
}

/// The facts about a tap's code before its counter is checked.
#[derive(Debug)]
pub(super) struct Checked {
    /// The claim that the code makes.
    pub(super) claim: Claim,
    /// The way of scanning.
    pub(super) tech: Tech,
    /// The state of the tamper loop.
    pub(super) tamper: Option<Tamper>,
    /// Decrypted file data of the chip.
    pub(super) file_data: Option<FileData>,
}

impl Checked {
    const fn plain(claim: Claim, tech: Tech) -> Self {
        Self {
            claim,
            tech,
            tamper: None,
            file_data: None,
        }
    }
}

/// The occasion of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// A visitor opened the URL: a wrong code may be a guess, and is counted.
    Visit,
    /// The owner checks the URL: no guess is counted.
    DryRun,
}

/// Checks the code at a tag's place.
pub(super) fn check(
    service: &Service,
    occasion: Occasion,
    place: &Place,
    query: &str,
    tag: &CachedTag,
) -> Result<Checked, KeyringError> {
    match place {
        Place::Slug { .. } => {
            let code = UrlCode::in_query(query);
            Ok(Checked::plain(classify(tag, &code)?, code.tech(tag)))
        }
        Place::Template {
            template,
            addressed,
            ..
        } => of_template(service, occasion, template, addressed, tag),
    }
}

/// Checks the code at the place of a template that has a slug. The order of the decisions is the
/// same as for the canonical form, with "no placeholder of a code was filled" for "neither `uid`
/// nor `token` was sent".
fn of_template(
    service: &Service,
    occasion: Occasion,
    template: &TapTemplate,
    addressed: &Addressed,
    tag: &CachedTag,
) -> Result<Checked, KeyringError> {
    let switches = &tag.switches;
    let tech = match addressed.code {
        Ok(None) => UrlCode::Nothing.tech(tag),
        _ => Tech::Nfc,
    };
    let decided = |verdict| Ok(Checked::plain(Claim::Decided(verdict), tech));
    if !switches.verifier_enabled {
        // The code was not checked, so the tamper state is unknown.
        let tells = matches!(addressed.code, Ok(Some(_))) && template.template.tells_tamper();
        return Ok(Checked {
            tamper: tells.then_some(Tamper::Unknown),
            ..Checked::plain(
                Claim::Decided(Verdict::NotChecked(Unchecked::VerifierOff)),
                tech,
            )
        });
    }
    let code = match &addressed.code {
        Ok(None) if !tag.rolls() || switches.has_qr_code => {
            return decided(Verdict::NotChecked(Unchecked::NoCode));
        }
        Ok(None) => return decided(Verdict::NotVerified(Refusal::NoCode)),
        Err(_) => return decided(Verdict::NotVerified(Refusal::Malformed)),
        Ok(Some(code)) => code,
    };
    let of = &template.template;
    // The chip wrote the tag's own text, whichever case was requested.
    let own: Vec<&str> = match addressed.slug {
        Some(_) => tag.spellings().collect(),
        None => Vec::new(),
    };
    let inlays = tag.of_templates()?;
    let inlays = inlays
        .iter()
        .filter(|inlay| inlay.url_template_id == template.id);
    let (mut named, mut has_inlay) = (None, false);
    for inlay in inlays {
        has_inlay = true;
        let assess = |slug| guarded(service, occasion, (of, slug), code, inlay);
        let mut assessment = assess(own.first().copied());
        if of.settings().mac_from != MacStart::None {
            // A slug of which only the case was changed is on some chips as it was before.
            for slug in own.iter().skip(1) {
                if !assessment.is_authentic() {
                    assessment = assess(Some(*slug));
                }
            }
        }
        if assessment.is_authentic() {
            return Ok(authentic(Some(tag), inlay, assessment));
        }
        let is_named = assessment.uid.is_none_or(|uid| uid == inlay.uid);
        if is_named && assessment.authenticity == Authenticity::NotCheckable {
            return Ok(authentic(Some(tag), inlay, assessment));
        }
        let failed = assessment.authenticity;
        if failed == Authenticity::NotAuthentic(FailedStep::Guessed) {
            return decided(Verdict::NotVerified(Refusal::Guessed));
        }
        if is_named && failed == Authenticity::NotAuthentic(FailedStep::Mac) {
            named = Some(assessment);
        }
    }
    let tamper = named.as_ref().and_then(|named| named.tamper);
    let verdict = match named {
        Some(named) => Verdict::NotVerified(Refusal::WrongMac {
            counter: named.counter,
        }),
        None if !of.settings().technology.rolls() => Verdict::NotChecked(match code.uid() {
            Some(uid) if has_inlay => Unchecked::OtherUid { uid },
            _ => Unchecked::NoMac {
                counter: code.counter(),
                last: None,
            },
        }),
        None => Verdict::NotVerified(Refusal::UnknownInlay { uid: code.uid() }),
    };
    Ok(Checked {
        tamper,
        ..Checked::plain(Claim::Decided(verdict), tech)
    })
}

/// Checks a code. The result is dropped if the code may be one of many guesses. The work stays the
/// same: otherwise its time would reveal for which UIDs there were guesses, and so which UIDs
/// exist.
pub(super) fn guarded(
    service: &Service,
    occasion: Occasion,
    (template, slug): (&Template, Option<&str>),
    code: &Filled,
    inlay: &TemplateTapInlay,
) -> Assessment {
    let guessable = inlay.technology.is_guessable();
    let assessment = template.check(slug, code, inlay.uid, &inlay.keys);
    if guessable && service.guesses.is_reached(inlay.uid, service.clock.now()) {
        return Assessment {
            authenticity: Authenticity::NotAuthentic(FailedStep::Guessed),
            uid: code.uid(),
            counter: code.counter(),
            tamper: None,
            file_data: None,
        };
    }
    let failed = assessment.authenticity == Authenticity::NotAuthentic(FailedStep::Mac);
    if guessable && failed && occasion == Occasion::Visit {
        service.guesses.note(inlay.uid, service.clock.now());
    }
    assessment
}

/// The verdict on an inlay's own code, whether authentic or from a chip that can prove nothing. An
/// inlay on no tag has no verifier that could be off.
pub(super) fn authentic(
    tag: Option<&CachedTag>,
    inlay: &TemplateTapInlay,
    code: Assessment,
) -> Checked {
    let verifier_is_off = tag.is_some_and(|tag| !tag.switches.verifier_enabled);
    let known = |verdict| Claim::Known {
        inlay_id: inlay.id,
        verdict,
    };
    let blocked = |counter| known(Verdict::NotVerified(Refusal::Blocked { counter }));
    let proves = code.authenticity == Authenticity::Authentic;
    let claim = match code.counter {
        _ if verifier_is_off => Claim::Decided(Verdict::NotChecked(Unchecked::VerifierOff)),
        // A code that does not prove its counter must not change the stored counter.
        None | Some(0) if inlay.blocked => blocked(None),
        Some(_) if inlay.blocked && !proves => blocked(None),
        None if proves => known(Verdict::NotChecked(Unchecked::SameCode)),
        None => known(Verdict::NotChecked(Unchecked::NoMac {
            counter: None,
            last: None,
        })),
        Some(0) if proves => known(Verdict::NotVerified(Refusal::CounterOff)),
        Some(counter) => Claim::Counter {
            inlay_id: inlay.id,
            key_version: inlay.key_version,
            counter,
            rule: match (inlay.blocked, proves) {
                (true, _) => CounterRule::Blocked,
                (false, true) => CounterRule::Proof,
                (false, false) => CounterRule::Mirror,
            },
        },
    };
    Checked {
        claim,
        tech: Tech::Nfc,
        tamper: match code.tamper {
            Some(_) if verifier_is_off => Some(Tamper::Unknown),
            state => state,
        },
        file_data: code.file_data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(query: &str) -> &'static str {
        match UrlCode::in_query(query) {
            UrlCode::Nothing => "nothing",
            UrlCode::Malformed => "malformed",
            UrlCode::Code { .. } => "code",
        }
    }

    #[test]
    fn a_code_is_one_uid_and_one_token() {
        for (query, expected) in [
            ("", "nothing"),
            ("utm_source=poster", "nothing"),
            ("UID=1&TOKEN=2", "nothing"),
            ("uid=1&token=2", "code"),
            ("token=2&x=3&uid=1", "code"),
            ("uid=&token=", "code"),
            ("uid=1", "malformed"),
            ("token=1", "malformed"),
            ("uid=1&uid=1&token=2", "malformed"),
            ("uid=1&token=2&token=3", "malformed"),
            ("u%69d=1&uid=1&token=2", "malformed"),
        ] {
            assert_eq!(kind(query), expected, "{query}");
        }
    }
}
