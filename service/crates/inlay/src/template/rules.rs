//! The limits of each technology for a template (NTAG 424 DNA: `NT4H2421Gx` sections 9.3.3 to 9.3.7
//! and tables 69 and 71).

use super::layout::REST_MAX;
use super::syntax::{Token, Unit};
use super::{Field, Filled, Lookup, MacStart, Template, TemplateError};
use crate::slug;
use crate::technology::Family;

pub(super) fn check(template: &Template) -> Result<(), TemplateError> {
    let settings = &template.settings;
    let technology = settings.technology.as_str();
    let family = settings.technology.family();
    if !settings.technology.modes().contains(&settings.mode) {
        return Err(TemplateError::Mode { technology });
    }
    enc_and_tamper(template)?;
    if settings.lookup.is_some() && (settings.technology.rolls() || template.has(Field::Slug)) {
        return Err(TemplateError::Lookup);
    }
    for unit in &template.parts.units {
        if let Token::Field(field) = unit.token
            && field.is_of_code()
            && template.length(field).is_none()
        {
            let at = unit.at;
            return Err(TemplateError::NotWritten {
                at,
                field,
                technology,
            });
        }
    }
    if !settings.technology.chooses_mac_start() && settings.mac_from != MacStart::None {
        return Err(TemplateError::MacStartFixed { technology });
    }
    match family {
        Family::Ntag424 => ntag424(template)?,
        Family::Ntag22x => {
            needs(template, &[Field::Uid, Field::Counter, Field::Mac])?;
            one_run(template)?;
        }
        Family::Sic43Nt | Family::Sic43S1 => {
            needs(
                template,
                &[Field::Uid, Field::Tamper, Field::Counter, Field::Mac],
            )?;
        }
        Family::Ntag21x => {
            match settings.lookup {
                Some(Lookup::Unverified) => {
                    need(template, Field::Uid, "it is what the lookup uses")?;
                }
                None => need(
                    template,
                    Field::Slug,
                    "the chip makes no MAC, so only the URL names the tag. \
                     With lookup \"unverified\", {uid} finds it, though anyone can write any UID",
                )?,
            }
            one_run(template)?;
        }
    }
    template.fits()
}

fn enc_and_tamper(template: &Template) -> Result<(), TemplateError> {
    let settings = &template.settings;
    let of_424 = settings.technology.family() == Family::Ntag424;
    // Limited already here, because the file is laid out with this length before its size is
    // checked.
    let legal =
        |length: usize| of_424 && (1..=REST_MAX).contains(&length) && length.is_multiple_of(32);
    if settings.enc_length.is_some() != template.has(Field::Enc)
        || settings.enc_length.is_some_and(|length| !legal(length))
    {
        return Err(TemplateError::EncLength);
    }
    if let Some(at) = settings.tamper_at {
        // The chip encrypts the first half of the placeholder's bytes.
        let data = settings.enc_length.unwrap_or(0) / 2;
        let has_loop = template.length(Field::Tamper).is_some();
        if !has_loop || template.has(Field::Tamper) || at.saturating_add(2) > data {
            return Err(TemplateError::TamperAt);
        }
    }
    Ok(())
}

fn ntag424(template: &Template) -> Result<(), TemplateError> {
    need(
        template,
        Field::Mac,
        "without a MAC nothing can be verified",
    )?;
    let place = |field| template.parts.place(field);
    for other in [Field::Uid, Field::Counter] {
        if let (Some(at), true) = (place(other), template.has(Field::Picc)) {
            return Err(TemplateError::Together {
                at,
                field: other,
                other: Field::Picc,
                why: "the chip mirrors them either in clear or encrypted. Write {*} for a UID that is fixed text in the URL",
            });
        }
    }
    let has = |field| template.has(field);
    if !has(Field::Picc) {
        match (has(Field::Uid), has(Field::Counter)) {
            (false, false) => need(template, Field::Picc, "the code would name no chip")?,
            (false, true) => need(
                template,
                Field::Slug,
                "a counter without a UID identifies no chip",
            )?,
            _ => {}
        }
        if has(Field::Enc) {
            let why = "file data are encrypted only if UID and counter are mirrored";
            need(template, Field::Uid, why)?;
            need(template, Field::Counter, why)?;
        }
    }
    mac_input(template)
}

/// Checks that the MAC's input begins before the MAC, inside the file, and that all of it is known.
fn mac_input(template: &Template) -> Result<(), TemplateError> {
    // With the shortest slug, so that no offset can be after the MAC.
    let slug = "a".repeat(*slug::LENGTHS.start());
    let offsets = template.file(Some(&slug), &Filled::default()).offsets;
    let offset = |field| {
        let offset = offsets.iter().find(|(other, _)| *other == field);
        offset.map(|(_, offset)| *offset)
    };
    let start = template.mac_input_start(&offsets);
    let (Some(start), Some(mac)) = (start, offset(Field::Mac)) else {
        return Err(TemplateError::MacStart);
    };
    if start > mac {
        return Err(TemplateError::MacStart);
    }
    if let Some(enc) = offset(Field::Enc)
        && (enc < start || enc > mac)
    {
        let at = template.parts.place(Field::Enc).unwrap_or_default();
        return Err(TemplateError::EncOutside { at });
    }
    // `{*}` has no length here, so one at the start itself counts as inside.
    let mut anys = offsets.iter().filter(|(field, _)| *field == Field::Any);
    if start < mac && anys.any(|(_, any)| (start..=mac).contains(any)) {
        let inside = |unit: &&Unit| unit.token == Token::Field(Field::Any);
        let at = template.parts.units.iter().find(inside).map(|unit| unit.at);
        return Err(TemplateError::AnyInMacInput {
            at: at.unwrap_or_default(),
        });
    }
    // An offset counts bytes from the start of the file, of which `{*}` has an unknown number.
    let before = offsets
        .iter()
        .any(|&(field, any)| field == Field::Any && any <= mac);
    if before && matches!(template.settings.mac_from, MacStart::Offset(_)) {
        return Err(TemplateError::MacStart);
    }
    Ok(())
}

fn needs(template: &Template, fields: &[Field]) -> Result<(), TemplateError> {
    let mut fields = fields.iter();
    fields.try_for_each(|&field| need(template, field, "the chip's MAC is made over it"))
}

fn need(template: &Template, field: Field, why: &'static str) -> Result<(), TemplateError> {
    if template.has(field) {
        Ok(())
    } else {
        Err(TemplateError::Missing { field, why })
    }
}

/// Chips that mirror in one run write UID, counter, tamper state and MAC in this order, and put
/// an `x` between them (NTAG213/215/216 data sheet section 8.7).
fn one_run(template: &Template) -> Result<(), TemplateError> {
    let order = [Field::Uid, Field::Counter, Field::Tamper, Field::Mac];
    let present = order.into_iter().filter(|&field| template.has(field));
    let mut expected = Vec::new();
    for field in present {
        if !expected.is_empty() {
            expected.push(Token::Char('x'));
        }
        expected.push(Token::Field(field));
    }
    let units = &template.parts.units;
    let of_code = |unit: &Unit| matches!(unit.token, Token::Field(field) if field.is_of_code());
    let Some(first) = units.iter().position(of_code) else {
        return Ok(());
    };
    let run = units[first..].iter().map(|unit| unit.token);
    if run.take(expected.len()).eq(expected.iter().copied()) {
        return Ok(());
    }
    let text = expected.iter().map(|token| match token {
        Token::Char(c) => c.to_string(),
        Token::Field(field) => field.to_string(),
    });
    Err(TemplateError::Run {
        at: units[first].at,
        technology: template.settings.technology.as_str(),
        run: text.collect(),
    })
}
