//! Where the MAC's input begins: each byte of the chip's file before the MAC is tried.

use super::sources::KeySource;
use super::{Budget, Shape};
use crate::key::InlayKeys;
use crate::technology::ntag424::{Mirrored, Session};
use crate::technology::{Family, Mode};
use crate::template::{Field, MacStart, Template, TemplateSettings};

/// Bytes of the file before the URL's characters.
const HEADER: usize = 7;

/// The cost of an attempt in LRP mode, in attempts in AES mode.
const LRP_COST: u64 = 30;

/// The shape's template with each beginning of the MAC's input with which the first URL verifies.
pub(super) fn verifying(
    shape: &Shape,
    source: &KeySource,
    budget: &mut Budget<'_>,
) -> Vec<Template> {
    let template = &shape.template;
    let settings = template.settings();
    let cost = match settings.mode {
        Mode::Aes => 1,
        Mode::Lrp => LRP_COST,
    };
    if source.is_superfluous_for(template) || !budget.spend(cost) {
        return Vec::new();
    }
    let Some((slug, code)) = shape.codes.first() else {
        return Vec::new();
    };
    // Most keys open no PICC data, and then none needs to be derived.
    let Some(uid) = source.named(template, code) else {
        return Vec::new();
    };
    if !budget.spend(source.cost()) {
        return Vec::new();
    }
    let Some(keys) = source.keys(uid) else {
        return Vec::new();
    };
    let (Family::Ntag424, InlayKeys::Aes(keys)) = (settings.technology.family(), &keys) else {
        // The MAC's input of these chips is fixed, so the usual check decides.
        return vec![template.clone()];
    };
    let mirrored = if template.has(Field::Picc) {
        template.meta_key(keys.for_picc_data()).open(code)
    } else {
        Some(Mirrored {
            uid: code.uid(),
            counter: code.counter(),
        })
    };
    let (Some(mirrored), Some(mac)) = (mirrored, code.bytes::<8>(Field::Mac)) else {
        return Vec::new();
    };
    let session = Session::new(settings.mode, &keys.file, mirrored);
    let mut found = Vec::new();
    let mut covered = None;
    for prefix in prefixes(template) {
        let whole = |mac_from| TemplateSettings {
            mac_from,
            ndef_prefix: Some(prefix),
            ..settings.clone()
        };
        // All bytes before the MAC. With `{*}` among them they are unknown: then only the empty
        // input is tried.
        let file = Template::new(whole(MacStart::Offset(0)));
        let text = file.map_or_else(|_| Vec::new(), |file| file.mac_input(slug.as_deref(), code));
        // The bytes after the first prefix are the same with every prefix, so they are tried once.
        let starts = match covered {
            None => 0..text.len() + 1,
            Some(covered) => 0..text.len().saturating_sub(covered),
        };
        covered = covered.or(Some(text.len().saturating_sub(HEADER)));
        for start in starts.rev() {
            if !budget.spend(cost) {
                return found;
            }
            if session.mac(&text[start..]) == mac {
                let named = name(template, &whole, start, text.len(), slug.as_deref());
                found.extend(named);
            }
        }
    }
    found
}

/// The prefix codes with which the chip could have been written, the usual one first.
fn prefixes(template: &Template) -> impl Iterator<Item = u8> {
    let usual = template.ndef_prefix();
    let fits = |prefix: &u8| {
        *prefix != usual
            && Template::new(TemplateSettings {
                ndef_prefix: Some(*prefix),
                ..template.settings().clone()
            })
            .is_ok()
    };
    let others: Vec<u8> = [4, 3, 0].into_iter().filter(fits).collect();
    std::iter::once(usual).chain(others)
}

/// The template with this beginning, by a placeholder's name if one begins there.
fn name(
    template: &Template,
    whole: &impl Fn(MacStart) -> TemplateSettings,
    start: usize,
    mac: usize,
    slug: Option<&str>,
) -> Option<Template> {
    let usual = |settings: TemplateSettings| TemplateSettings {
        ndef_prefix: settings
            .ndef_prefix
            .filter(|prefix| *prefix != template.ndef_prefix()),
        ..settings
    };
    if start == mac {
        return Template::new(usual(whole(MacStart::None))).ok();
    }
    let placeholders = [
        MacStart::Uid,
        MacStart::Counter,
        MacStart::Picc,
        MacStart::Enc,
        MacStart::Tamper,
        MacStart::Slug,
    ];
    let mut named = placeholders.into_iter().filter_map(|from| {
        let template = Template::new(usual(whole(from))).ok()?;
        let at = template.layout(slug).ok()?.mac_input?;
        (at == start).then_some(template)
    });
    let offset = || {
        let start = u16::try_from(start).ok()?;
        Template::new(usual(whole(MacStart::Offset(start)))).ok()
    };
    named.next().or_else(offset)
}
