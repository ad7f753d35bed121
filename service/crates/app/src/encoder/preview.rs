//! The effects of an encoding, before it begins. Nothing is stored, and neither a tag of a run nor
//! a root is made.

use url::Host;

use super::{Case, EncodeError, FormOptions, PlacedChip, form, run};
use crate::service::Service;
use domain::id::{EncodingRunId, TagId};
use domain::settings::host;
use encoding::machine::preview::{Known, PreviewStep, steps};
use encoding::{Form, Goal, Plan, Reason, StateWord};
use inlay::ev2::KEY_0;
use inlay::technology::Mode;
use inlay::template::{EncodingSheet, Field};
use inlay::{Technology, Uid};
use storage::ChipState;

use super::preview_words as words;

/// The slug in the URL if the tag is not known yet. It has the length of a generated one, so that
/// the preview has the right length.
const EXAMPLE_SLUG: &str = "example000";
/// Stands for a chip about which nothing is known yet: no real chip has this UID.
const NO_CHIP: [u8; 7] = [0; 7];

/// A request for a preview.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The chip on the reader, if one is there.
    pub uid: Option<Uid>,
    /// The chip's technology, as its reader states it.
    pub chip: Option<Technology>,
    /// Tag or run that the chip would be encoded for.
    pub whom: Whom,
    /// How the chip is written; for a run, the run's plan decides instead.
    pub options: FormOptions,
}

/// The future owner of the inlay.
#[derive(Clone, Copy, Debug)]
pub enum Whom {
    /// The inlay of this tag.
    Tag(TagId),
    /// The inlay of the next tag of this run.
    Run(EncodingRunId),
    /// The inlay of a tag that does not exist yet.
    Anyone,
}

/// Knowledge about the chip on the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = EncodingPreviewChip)]
pub enum KnownChip {
    /// The journal does not have the chip: its keys are assumed to be factory keys.
    New,
    /// The chip has keys of this service, or its key 0 was imported.
    Known,
    /// The chip is half encoded: its encoding continues.
    HalfWay,
    /// The chip is a finished inlay of the tag: its tap is verified, and nothing is written.
    Finished,
}

/// The effects of an encoding.
pub struct Preview {
    /// Tag of the chip; `None` if it does not exist yet.
    pub tag: Option<TagId>,
    /// How the URL is written.
    pub form: Form,
    /// Bytes, offsets and settings; `None` if no chip can hold them.
    pub sheet: Option<EncodingSheet>,
    /// Knowledge about the chip on the reader; `None` without a chip.
    pub chip: Option<KnownChip>,
    /// The version of the new keys.
    pub generation: Option<u8>,
    /// Why it would not be encoded.
    pub reason: Option<Reason>,
    /// The resulting content of the chip, in words.
    pub facts: Vec<words::Fact>,
    /// Warnings to read before encoding.
    pub warnings: Vec<&'static str>,
    /// The steps, if it would be encoded.
    pub steps: Vec<PreviewStep>,
}

/// Computes the effects of an encoding.
pub async fn preview(service: &Service, asked: &Asked) -> Result<Preview, EncodeError> {
    let (tag, options) = whose(service, asked).await?;
    let replace = options.replace;
    let uid = asked.uid.unwrap_or_else(|| Uid::from_bytes(NO_CHIP));
    let state = service.storage.chip_state(uid).await?;
    let case = Case::of(service, uid, &state).await?;
    let (form, refused) = match tag {
        Some(tag) => {
            let placed = PlacedChip {
                uid,
                goal: Goal::Tag(tag),
                run_id: match asked.whom {
                    Whom::Run(run) => Some(run),
                    _ => None,
                },
                place: None,
                options,
            };
            refuse_busy(service, &state, &placed).await?;
            case.form(service, &placed, Some(tag), None).await?
        }
        None => (
            form::of_slug(service, EXAMPLE_SLUG.to_owned(), &options).await?,
            None,
        ),
    };
    let plan = Plan::new(&form);
    let reason = refused
        .or_else(|| plan.as_ref().err().map(encoding::plan::PlanError::reason))
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
    // A chip that was placed on a reader before gets its own tag again.
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

/// The errors with which [`super::start`] would refuse the chip because of its present encoding.
async fn refuse_busy(
    service: &Service,
    state: &ChipState,
    placed: &PlacedChip,
) -> Result<(), EncodeError> {
    let inlay = state.inlay.as_ref();
    if inlay.is_some_and(|inlay| inlay.fields.blocked_at.is_some()) {
        return Err(EncodeError::Blocked);
    }
    let now = service.storage.now().await?;
    let held = state.latest.as_ref().is_some_and(|latest| {
        latest.state.is_open()
            && (latest.goal != placed.goal || latest.run_id != placed.run_id)
            && now.since(latest.updated_at) < super::LEASE
    });
    if held {
        return Err(EncodeError::OtherTarget);
    }
    Ok(())
}

/// Why the chip does not fit the form, as far as its reader can state that.
fn refuse_chip(asked: &Asked, form: &Form) -> Option<Reason> {
    if asked
        .uid
        .is_some_and(|uid| uid.bytes()[0] == inlay::uid::RANDOM_ID)
    {
        return Some(Reason::RandomId);
    }
    let (chip, planned) = (asked.chip?, form.template.technology);
    (!chip.serves_as(planned)).then_some(Reason::NotEncodable)
}

const fn expected(known: Option<KnownChip>) -> Known {
    match known {
        None | Some(KnownChip::New) => Known::Nothing,
        Some(KnownChip::Known | KnownChip::HalfWay) => Known::Keys,
        Some(KnownChip::Finished) => Known::Finished,
    }
}

impl Case<'_> {
    /// The knowledge about the chip, if it is to be an inlay of this tag; `replace`: with other
    /// keys.
    fn known(&self, form: &Form, tag: Option<TagId>, replace: bool) -> KnownChip {
        let goal = tag.map(Goal::Tag);
        let latest = self.state.latest.as_ref();
        let open = latest.filter(|latest| latest.state.is_open() && Some(latest.goal) == goal);
        if open.is_some_and(|open| open.state.word() != StateWord::Planned) {
            return KnownChip::HalfWay;
        }
        let finished = self.state.finished.as_ref();
        let same =
            finished.filter(|finished| finished.state.is_verified() && Some(finished.goal) == goal);
        let whole = !form.has_keys() && same.is_some();
        if !replace && (form.finished.is_some() || whole) {
            KnownChip::Finished
        } else if self.journal.confirmed.is_some()
            || !self.journal.keys_sent().is_empty()
            || self.journal.imported(KEY_0).is_some()
        {
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
        if self.journal.imported(KEY_0).is_some() {
            return "its imported key 0, or the factory key".to_owned();
        }
        match self.journal.keys_sent().last() {
            Some(number) => format!("the factory key or its key of generation {number}"),
            None => "the factory key".to_owned(),
        }
    }
}

/// Why a URL should not be written to chips.
fn url_warning(url: &str) -> Option<&'static str> {
    const HERE: &str = "The URL works only on this computer. Choose where phones reach you in the settings before you encode inlays.";
    const NEAR: &str = "The URL works only in this network, and its host may change. For inlays that leave it, use your domain: see the settings.";
    match host::of_url(url)? {
        here if host::is_loopback(&here) => return Some(HERE),
        Host::Ipv4(address) if address.is_private() || address.is_link_local() => {
            return Some(NEAR);
        }
        Host::Ipv6(address) if address.is_unique_local() || address.is_unicast_link_local() => {
            return Some(NEAR);
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
