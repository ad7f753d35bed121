//! Forms of URLs that other services publish. A code that nobody can check fits several templates;
//! of these, the published one is likely.

use super::{Format, shapes};
use crate::slug::is_slug;
use crate::template::{Field, Template, TemplateSettings};

/// A form of URLs: the end of the path, and the query.
struct Form {
    service: &'static str,
    path: &'static str,
    query: &'static str,
    /// Whether the first segment of the path names the tag.
    names_tags: bool,
}

impl Form {
    const fn new(service: &'static str, query: &'static str) -> Self {
        Self {
            service,
            path: "",
            query,
            names_tags: false,
        }
    }
}

/// The forms, each service by the name of its preset for tables.
const FORMS: [Form; 12] = [
    // Blue Bite's Rolling Key API; its mtag SDK (`API.java`) for the other two.
    Form {
        names_tags: true,
        ..Form::new("bluebite", "uid={uid}&token={counter}{mac}")
    },
    Form {
        names_tags: true,
        ..Form::new("bluebite", "uid={picc}&token={mac}")
    },
    Form {
        names_tags: true,
        ..Form::new("bluebite", "id={uid}&num={counter}&sig={mac}")
    },
    // The version "2702" of the encoding stands after the counter.
    Form {
        path: "/{uid}x{counter}2702",
        names_tags: true,
        ..Form::new("bluebite", "")
    },
    // ixkio's API mode: the chip has the address of the owner's page.
    Form::new("ixkio", "x={slug}&n={counter}&e={mac}"),
    // `config.dist.py` of sdm-backend.
    Form::new("sdm_backend", "picc_data={picc}&enc={enc}&cmac={mac}"),
    Form::new("sdm_backend", "picc_data={picc}&cmac={mac}"),
    Form::new("sdm_backend", "uid={uid}&ctr={counter}&cmac={mac}"),
    Form::new("sdm_backend", "e={picc}{enc}{mac}"),
    Form::new("sdm_backend", "e={picc}{mac}"),
    // Boltcard's specification.
    Form::new("boltcard", "p={picc}&c={mac}"),
    // NXP's data sheet of NTAG213/215/216, section 8.7.
    Form::new("csv", "m={uid}x{counter}"),
];

/// The form of a template.
fn of(template: &str) -> Option<&'static Form> {
    let (_, rest) = template.split_once("://")?;
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let mut forms = FORMS.iter();
    forms.find(|form| form.query == query && path.ends_with(form.path))
}

impl Format {
    /// The preset for tables of the service that publishes the template's form.
    pub fn preset(&self) -> Option<&'static str> {
        of(&self.settings.template).map(|form| form.service)
    }
}

/// The format with `{slug}` in place of the first segment, if its form has the tag's name there. The
/// form's own path follows it, and nothing else. A segment that several chips share names none.
pub(super) fn with_name(format: &Format) -> Option<Format> {
    let text = &format.settings.template;
    let form = of(text).filter(|form| form.names_tags && !text.contains("{slug}"))?;
    let host = text.find("://").map_or(0, |at| at + 3);
    let path = text[host..].find('/').map(|at| host + at + 1)?;
    let end = text[path..]
        .find(['/', '?'])
        .map_or(text.len(), |at| path + at);
    let rest = text[end..].split('?').next().unwrap_or_default();
    let name = &text[path..end];
    let names_tag = is_slug(name) && !shapes::is_word_of_address(name);
    if rest != form.path || !names_tag || format.is_of_several_chips() {
        return None;
    }
    let settings = TemplateSettings {
        template: format!("{}{}{}", &text[..path], Field::Slug, &text[end..]),
        lookup: None,
        ..format.settings.clone()
    };
    Template::new(settings.clone()).ok()?;
    Some(Format {
        settings,
        ..format.clone()
    })
}

/// Of templates that no MAC proved, those of a published form, if there are any.
pub(super) fn published(formats: Vec<Format>) -> Vec<Format> {
    let mut named: Vec<Format> = Vec::new();
    for format in formats {
        let format = with_name(&format).unwrap_or(format);
        if !named.contains(&format) {
            named.push(format);
        }
    }
    let formats = named;
    let form = |format: &Format| of(&format.settings.template);
    let has_slug = |format: &Format| format.settings.template.contains("/{slug}");
    let is_published = |format: &Format| form(format).is_some();
    if !formats.iter().any(is_published) {
        return formats;
    }
    let is_of_tag = |format: &Format| form(format).is_some_and(|form| form.names_tags);
    let is_named = formats
        .iter()
        .any(|format| is_of_tag(format) && has_slug(format));
    let likely = formats.into_iter().filter(|format| {
        is_published(format) && (!is_named || !is_of_tag(format) || has_slug(format))
    });
    likely.collect()
}

/// Whether a URL has a code of HID's Trusted Tag Services, as Blue Bite's mtag SDK reads it.
pub(super) fn has_hid_code(url: &str) -> bool {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let has = |wanted: &str| {
        let mut names = query.split('&').filter_map(|pair| pair.split_once('='));
        names.any(|(name, _)| name.eq_ignore_ascii_case(wanted))
    };
    has("tagid") && has("tac")
}
