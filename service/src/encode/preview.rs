//! What an encoding would do, before any of it is done. Nothing is stored: neither a tag of a run
//! nor a root is made.

use url::Host;

use super::{Case, EncodeError, FormOptions, LaidDown, form, run};
use crate::encoding::machine::preview::{Known, PreviewStep, steps};
use crate::encoding::{Form, Plan, Reason, State, Target};
use crate::id::{EncodingRunId, TagId};
use crate::inlay::technology::{Family, Mode};
use crate::inlay::template::{EncodingSheet, Field};
use crate::inlay::{Technology, Uid};
use crate::service::Service;
use crate::settings::host;
use crate::storage::ChipState;

use super::preview_words as words;

/// The slug in the URL where the tag is not known yet: it has the length of a generated one.
const EXAMPLE_SLUG: &str = "example000";
/// No chip has it: what is known of it is nothing.
const NO_CHIP: [u8; 7] = [0; 7];

/// What an encoding is to be looked at.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The chip on the reader, if one is there.
    pub(crate) uid: Option<Uid>,
    /// What the chip is, as its reader tells.
    pub(crate) chip: Option<Technology>,
    /// For whom.
    pub(crate) whom: Whom,
    /// How it is written; a run says so itself.
    pub(crate) options: FormOptions,
}

/// Whose inlay it would be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whom {
    /// Of this tag.
    Tag(TagId),
    /// Of the tag of a run that the chip would get.
    Run(EncodingRunId),
    /// Of a tag that is not there yet.
    Anyone,
}

/// What is known of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EncodingPreviewChip)]
pub(crate) enum KnownChip {
    /// The journal does not have it: its keys are taken for factory keys.
    New,
    /// It has keys of this service.
    Known,
    /// It is half way: the encoding goes on.
    HalfWay,
    /// It is a finished inlay of the tag: its tap is verified, and nothing is written.
    Finished,
}

/// What an encoding would do.
pub(crate) struct Preview {
    /// The tag.
    pub(crate) tag: Option<TagId>,
    /// What is written.
    pub(crate) form: Form,
    /// Bytes, offsets and settings; `None` if no chip can hold them.
    pub(crate) sheet: Option<EncodingSheet>,
    /// What is known of the chip on the reader.
    pub(crate) chip: Option<KnownChip>,
    /// The version of the new keys.
    pub(crate) generation: Option<u8>,
    /// Why it would not be encoded.
    pub(crate) reason: Option<Reason>,
    /// What would be on the chip, in words.
    pub(crate) facts: Vec<words::Fact>,
    /// What to think of before.
    pub(crate) warnings: Vec<&'static str>,
    /// The steps, if it would be encoded.
    pub(crate) steps: Vec<PreviewStep>,
}

/// Tells what an encoding would do.
pub(crate) async fn preview(service: &Service, asked: &Asked) -> Result<Preview, EncodeError> {
    let (tag, options) = whose(service, asked).await?;
    let replace = options.replace;
    let uid = asked.uid.unwrap_or_else(|| Uid::from_bytes(NO_CHIP));
    let state = service.storage.chip_state(uid).await?;
    let case = Case::of(service, uid, &state).await?;
    let (form, refused) = match tag {
        Some(tag) => {
            let laid = LaidDown {
                uid,
                target: Target::Tag(tag),
                run_id: match asked.whom {
                    Whom::Run(run) => Some(run),
                    _ => None,
                },
                place: None,
                options,
            };
            refuse_busy(service, &state, &laid).await?;
            case.form(service, &laid, tag, None).await?
        }
        None => (
            form::of_slug(service, EXAMPLE_SLUG.to_owned(), &options).await?,
            None,
        ),
    };
    let plan = Plan::new(&form);
    let reason = refused
        .or_else(|| {
            plan.as_ref()
                .err()
                .map(crate::encoding::plan::PlanError::reason)
        })
        .or_else(|| refuse_chip(asked, &form));
    let known = asked.uid.map(|_| case.known(&form, tag, replace));
    let generation = match known {
        Some(KnownChip::Finished) => form.finished,
        _ if !form.has_keys() => None,
        _ => case.journal.next_generation(&[]),
    };
    let opens = case.opens();
    let steps = match (&plan, reason) {
        (Ok(plan), None) => steps(plan, expected(known), &opens),
        _ => Vec::new(),
    };
    let sheet = plan.as_ref().ok().and_then(|plan| {
        let template = plan.template();
        let slug = template.has(Field::Slug).then_some(form.slug.as_str());
        template.encoding_sheet(slug).ok()
    });
    let url = sheet
        .as_ref()
        .map(|sheet: &EncodingSheet| sheet.url.as_str());
    let warnings = url.and_then(url_warning).into_iter().collect();
    Ok(Preview {
        tag,
        sheet,
        chip: known,
        generation,
        reason,
        facts: words::facts(&form),
        warnings,
        steps,
        form,
    })
}

/// The tag that the chip would be an inlay of, and how it would be written.
async fn whose(
    service: &Service,
    asked: &Asked,
) -> Result<(Option<TagId>, FormOptions), EncodeError> {
    let id = match asked.whom {
        Whom::Tag(tag) => return Ok((Some(tag), asked.options.clone())),
        Whom::Anyone => return Ok((None, asked.options.clone())),
        Whom::Run(id) => id,
    };
    let missing = EncodeError::NotFound("encoding run");
    let Some(found) = service.storage.encoding_run(id).await? else {
        return Err(missing);
    };
    let options = run::options_of(&found.plan, &asked.options);
    // A chip that was laid down before comes back to its own tag.
    let rows = service.storage.encoding_run_rows(id).await?;
    let mut rows = rows.into_iter().flatten();
    let own = rows.find(|row| Some(row.uid) == asked.uid && row.position.is_some());
    if let Some(tag) = own.and_then(|row| row.tag_id) {
        return Ok((Some(tag), options));
    }
    let next = service.storage.next_run_tag(id).await?;
    let next = next.ok_or(missing)?;
    Ok((next.and_then(|next| next.tag_id), options))
}

/// What [`super::start`] would refuse because of the chip's present encoding.
async fn refuse_busy(
    service: &Service,
    state: &ChipState,
    laid: &LaidDown,
) -> Result<(), EncodeError> {
    let inlay = state.inlay.as_ref();
    if inlay.is_some_and(|inlay| inlay.fields.blocked_at.is_some()) {
        return Err(EncodeError::Blocked);
    }
    let now = service.storage.now().await?;
    let held = state.latest.as_ref().is_some_and(|latest| {
        latest.state.is_open()
            && (latest.target != laid.target || latest.run_id != laid.run_id)
            && now.millis_since(latest.updated_at) < super::LEASE_MILLIS
    });
    if held {
        return Err(EncodeError::OtherTarget);
    }
    Ok(())
}

/// Why the chip is none for the form, as far as its reader tells.
fn refuse_chip(asked: &Asked, form: &Form) -> Option<Reason> {
    if asked
        .uid
        .is_some_and(|uid| uid.bytes()[0] == crate::encoding::RANDOM_ID)
    {
        return Some(Reason::RandomId);
    }
    let (chip, planned) = (asked.chip?, form.template.technology);
    // A TagTamper chip is an NTAG 424 DNA with a loop. A reader does not tell them apart, so the
    // other way round is for the chip itself to say.
    let same = chip == planned
        || (chip.family() == Family::Ntag424 && planned.family() == Family::Ntag424);
    (!same).then_some(Reason::NotEncodable)
}

const fn expected(known: Option<KnownChip>) -> Known {
    match known {
        None | Some(KnownChip::New) => Known::Nothing,
        Some(KnownChip::Known | KnownChip::HalfWay) => Known::Keys,
        Some(KnownChip::Finished) => Known::Finished,
    }
}

impl Case<'_> {
    /// What is known of the chip, if it is to be an inlay of this tag; `replace`: with other keys.
    fn known(&self, form: &Form, tag: Option<TagId>, replace: bool) -> KnownChip {
        let target = tag.map(Target::Tag);
        let latest = self.state.latest.as_ref();
        let open = latest.filter(|latest| latest.state.is_open() && Some(latest.target) == target);
        if open.is_some_and(|open| !matches!(open.state, State::Planned)) {
            return KnownChip::HalfWay;
        }
        let finished = self.state.finished.as_ref();
        let same = finished.filter(|finished| {
            finished.state == State::Verified && Some(finished.target) == target
        });
        let whole = !form.has_keys() && same.is_some();
        if !replace && (form.finished.is_some() || whole) {
            KnownChip::Finished
        } else if self.journal.confirmed.is_some() || !self.journal.keys_sent().is_empty() {
            KnownChip::Known
        } else {
            KnownChip::New
        }
    }

    /// The key that opens the chip, in words.
    fn opens(&self) -> String {
        if let Some(number) = self.journal.confirmed {
            return format!("its key of generation {number}");
        }
        match self.journal.keys_sent().last() {
            Some(number) => format!("the factory key or its key of generation {number}"),
            None => "the factory key".to_owned(),
        }
    }
}

/// Why a URL should not be written to chips.
fn url_warning(url: &str) -> Option<&'static str> {
    const HERE: &str = "The URL works only on this computer. Set the public base URL in the settings before you encode inlays.";
    const NEAR: &str = "The URL works only in this network, and its host may change. Set the public base URL in the settings before you encode inlays.";
    match host::of_url(url)? {
        Host::Ipv4(address) if address.is_loopback() => return Some(HERE),
        Host::Ipv6(address) if address.is_loopback() => return Some(HERE),
        Host::Ipv4(address) if address.is_private() || address.is_link_local() => {
            return Some(NEAR);
        }
        Host::Ipv6(address) if address.is_unique_local() || address.is_unicast_link_local() => {
            return Some(NEAR);
        }
        Host::Domain(name) if name == "localhost" || name.ends_with(".localhost") => {
            return Some(HERE);
        }
        Host::Domain(name) if name.rsplit('.').next() == Some("local") => return Some(NEAR),
        _ => {}
    }
    let plain = url.starts_with("http://");
    plain.then_some("The URL does not use https: phones may show a warning.")
}

/// Whether a form is of LRP mode.
pub(super) fn is_lrp(form: &Form) -> bool {
    form.template.mode == Mode::Lrp
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_phones_cannot_open_is_warned_of() {
        for (url, word) in [
            ("http://127.0.0.1:8787/t/a", Some("this computer")),
            ("http://localhost/t/a", Some("this computer")),
            ("https://192.168.1.4/t/a", Some("this network")),
            ("https://shop.local/t/a", Some("this network")),
            ("http://tags.example.com/t/a", Some("https")),
            ("https://tags.example.com/t/a", None),
        ] {
            let warning = url_warning(url);
            assert_eq!(warning.is_some(), word.is_some(), "{url}");
            assert!(
                warning
                    .unwrap_or_default()
                    .contains(word.unwrap_or_default())
            );
        }
    }
}
