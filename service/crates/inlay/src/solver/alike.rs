//! Other explanations of the same URLs and MACs: a MAC verifies whether its text is a placeholder
//! or literal, and some chips write the same URLs.

use super::shapes::Unread;
use super::{Format, Proof, Shape, forms, shapes};
use crate::assessment::{FileData, Tamper};
use crate::technology::{Family, Technology};
use crate::template::{Field, Template, TemplateSettings};

/// All templates that the proofs leave open, each once.
pub(super) fn distinguished(proofs: &[Proof]) -> Vec<Format> {
    // Literal hex digits decrypt to noise. File data that are text must have been encrypted with
    // these keys.
    let encrypted = proofs
        .iter()
        .any(|proof| proof.has_enc() && proof.is_text());
    let mut formats: Vec<Format> = Vec::new();
    for proof in proofs.iter().filter(|proof| !encrypted || proof.has_enc()) {
        for format in proof.alternatives() {
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
    }
    formats
}

/// The possible templates by their shape only. Of the shapes of one chip, only those with the most
/// placeholders are kept: a counter after a UID counts as one, although it could be literal. A slug
/// is left open. Forms that a service publishes are the likely ones.
///
/// Random hex digits fit a chip with short values now and then. Such a shape leaves the MAC beside
/// them literal, so one that reads all values is preferred, and one that leaves a cut value is none.
pub(super) fn unproved(shapes: &[Shape]) -> Vec<Format> {
    let least = shapes.iter().map(|shape| shape.unread).min();
    let fits = |shape: &&Shape| Some(shape.unread) == least && shape.unread != Unread::Cut;
    let shapes: Vec<&Shape> = shapes.iter().filter(fits).collect();
    let fields = |shape: &&Shape| {
        let has = |field: &Field| field.is_of_code() && shape.template.has(*field);
        Field::ALL.into_iter().filter(has).count()
    };
    let of_chip = |shape: &&Shape| {
        let settings = shape.template.settings();
        (settings.technology.family(), settings.mode)
    };
    let most = shapes.iter().filter(|shape| {
        let mut same = shapes
            .iter()
            .filter(|other| of_chip(other) == of_chip(shape));
        same.all(|other| fields(other) <= fields(shape))
    });
    forms::published(most.flat_map(|shape| by_shape(shape)).collect())
}

fn by_shape(shape: &Shape) -> Vec<Format> {
    let settings = shape.template.settings();
    let counts = shape.template.has(Field::Counter);
    let technologies: &[Technology] = match settings.technology {
        Technology::Ntag213 if counts => &[
            Technology::Ntag213,
            Technology::Ntag215,
            Technology::Ntag216,
            Technology::Ntag213Tt,
            Technology::Ultralight,
        ],
        Technology::Ntag213 => &[
            Technology::Ntag210,
            Technology::Ntag212,
            Technology::Ntag213,
            Technology::Ntag215,
            Technology::Ntag216,
            Technology::Ntag213Tt,
            Technology::Ultralight,
        ],
        Technology::Ntag223Dna => &[Technology::Ntag223Dna, Technology::Ntag224Dna],
        ref one => std::slice::from_ref(one),
    };
    let reads = shape
        .codes
        .iter()
        .map(|(_, code)| (code.uid(), code.counter()));
    let reads: Vec<_> = reads.collect();
    let format = |&technology: &Technology| Format {
        settings: TemplateSettings {
            technology,
            ..settings.clone()
        },
        source: None,
        reads: reads.clone(),
        proved_by: 0,
        own_sources: Vec::new(),
    };
    technologies.iter().map(format).collect()
}

impl Proof {
    fn has_enc(&self) -> bool {
        self.format.settings.enc_length.is_some()
    }

    /// Whether all file data are printable, or the zeros of a chip that nobody wrote to. Noise of
    /// 16 bytes passes this test once in some million cases.
    fn is_text(&self) -> bool {
        let text = |&byte: &u8| byte == 0 || byte.is_ascii_graphic() || byte == b' ';
        let mut data = self.data.iter().flatten();
        data.all(|data| data.expose().iter().all(text))
    }

    /// The template, and those of other chips that write the same URLs.
    fn alternatives(&self) -> Vec<Format> {
        let mut all = vec![self.format.clone()];
        let settings = &self.format.settings;
        let other = |settings| Format {
            settings,
            ..self.format.clone()
        };
        match settings.technology.family() {
            Family::Ntag22x => all.push(other(TemplateSettings {
                technology: Technology::Ntag224Dna,
                ..settings.clone()
            })),
            // Letters in the file data can be the state of a tamper loop.
            Family::Ntag424 if !settings.template.contains("{tamper}") => {
                all.extend(self.tamper_places().map(|at| {
                    other(TemplateSettings {
                        technology: Technology::Ntag424DnaTt,
                        tamper_at: Some(at),
                        ..settings.clone()
                    })
                }));
            }
            _ => {}
        }
        let of_any = all.iter().flat_map(|format| {
            let others = format.with_any_name().into_iter();
            others.map(|settings| Format {
                settings,
                ..format.clone()
            })
        });
        let of_any: Vec<_> = of_any.collect();
        // A form that names tags makes the name likelier than a literal text.
        let mut named: Vec<_> = all.iter().filter_map(forms::with_name).collect();
        named.extend(all);
        named.extend(of_any);
        named
    }

    /// The positions at which all file data have letters of a tamper loop.
    fn tamper_places(&self) -> impl Iterator<Item = usize> {
        let end = self.format.settings.enc_length.unwrap_or(0) / 2;
        (0..end.saturating_sub(1)).filter(|&at| {
            let state = |data: &FileData| match data.expose().get(at..at + 2) {
                Some(&[permanent, current]) => Tamper::from_letters(permanent, current),
                _ => Tamper::Unknown,
            };
            self.data
                .iter()
                .flatten()
                .all(|data| state(data) != Tamper::Unknown)
        })
    }
}

impl Format {
    /// Whether the URLs name more than one chip.
    pub(super) fn is_of_several_chips(&self) -> bool {
        self.reads.iter().any(|read| read.0 != self.reads[0].0)
    }

    /// The template with a placeholder in place of a path segment that may name one tag of many. If
    /// chips share the segment, it does not name a tag.
    fn with_any_name(&self) -> Vec<TemplateSettings> {
        let text = &self.settings.template;
        let host = text.find("://").map_or(0, |at| at + 3);
        let path = text[host..].find('/').map_or(text.len(), |at| host + at);
        let end = text.find('?').unwrap_or(text.len());
        if self.is_of_several_chips() || path >= end {
            return Vec::new();
        }
        let mut found = Vec::new();
        let mut at = path;
        for segment in text[path..end].split('/') {
            if shapes::is_name_elsewhere(segment) {
                let placeholder = match shapes::placeholder_of_name(segment) {
                    Field::Slug if text.contains("{slug}") => Field::Any,
                    placeholder => placeholder,
                };
                let (before, after) = (&text[..at], &text[at + segment.len()..]);
                found.push(TemplateSettings {
                    template: format!("{before}{placeholder}{after}"),
                    ..self.settings.clone()
                });
            }
            at += segment.len() + 1;
        }
        // Inside the MAC's input the text must be literal, so such templates are dropped.
        found.retain(|settings| Template::new(settings.clone()).is_ok());
        found
    }
}
