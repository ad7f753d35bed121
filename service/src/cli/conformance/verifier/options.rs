//! The options of a verifier: its template, the keys of its inlays, and their UIDs.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use tapdesk_service::inlay::key::{AesKey, Keys};
use tapdesk_service::inlay::template::{Field, MacStart, Template, TemplateSettings};
use tapdesk_service::inlay::{Technology, Uid};
use zeroize::Zeroizing;

use super::code::COUNTER_END;
use crate::cli::conformance::NotRun;

/// How the verifier's inlays make their codes.
#[derive(Args)]
pub(in crate::cli::conformance) struct VerifierOptions {
    /// A file with the keys, one per line: the meta key and the file key, or one key for both.
    /// Default: the all-zero keys of the published vectors.
    #[arg(long, value_name = "FILE", requires = "verifier")]
    keys: Option<PathBuf>,

    /// The UID of an inlay that the verifier knows. Default: that of AN12196, table 5.
    #[arg(
        long,
        value_name = "UID",
        requires = "verifier",
        hide_default_value = true,
        default_value = "04DE5F1EACC040"
    )]
    pub(super) uid: Uid,

    /// The UID of another inlay with the same keys.
    #[arg(long, value_name = "UID", requires = "verifier")]
    pub(super) other_uid: Option<Uid>,

    /// The first counter. The report ends with the one for the next run.
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "verifier",
        default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..i64::from(COUNTER_END))
    )]
    pub(super) counter: u32,

    /// The placeholder where the input of the MAC begins.
    #[arg(
        long,
        value_enum,
        value_name = "PLACEHOLDER",
        requires = "verifier",
        default_value = "none"
    )]
    mac_from: MacFrom,

    /// Characters of `{enc}`, a multiple of 32.
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "verifier",
        default_value_t = 32
    )]
    enc_length: usize,

    /// Text that only the answer to an accepted code contains, in its body or its destination.
    /// Default: the command finds a difference itself.
    #[arg(long, value_name = "TEXT", requires = "verifier")]
    pub(super) accepted: Option<String>,

    /// Its answers contain the decrypted file data.
    #[arg(long, requires = "verifier")]
    pub(super) shows_file_data: bool,

    /// A one-time URL that it accepted before, for example before it was restarted. Repeat it for
    /// more.
    #[arg(long, value_name = "URL", requires = "verifier")]
    pub(super) used_url: Vec<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum MacFrom {
    None,
    Uid,
    Counter,
    Picc,
    Enc,
}

impl From<MacFrom> for MacStart {
    fn from(from: MacFrom) -> Self {
        match from {
            MacFrom::None => Self::None,
            MacFrom::Uid => Self::Uid,
            MacFrom::Counter => Self::Counter,
            MacFrom::Picc => Self::Picc,
            MacFrom::Enc => Self::Enc,
        }
    }
}

impl VerifierOptions {
    /// The template of the verifier's URLs, which must prove taps.
    pub(super) fn template(&self, text: &str) -> Result<Template> {
        let settings = TemplateSettings {
            mac_from: self.mac_from.into(),
            enc_length: text.contains("{enc}").then_some(self.enc_length),
            ..TemplateSettings::new(text, Technology::Ntag424Dna)
        };
        let template = Template::new(settings)
            .map_err(|error| NotRun::because(format!("{text} is no URL template. {error}")))?;
        let names_chip =
            template.has(Field::Picc) || template.has(Field::Uid) && template.has(Field::Counter);
        if template.has(Field::Slug) || !template.has(Field::Mac) || !names_chip {
            return Err(NotRun::because(
                "The template needs {mac}, and {picc} or {uid} and {counter}. Write the slug of a tag in place \
                 of {slug}.",
            ));
        }
        Ok(template)
    }

    /// The keys in the file.
    pub(super) fn keys(&self) -> Result<Keys> {
        let Some(file) = &self.keys else {
            return Ok(Keys {
                meta: Some(AesKey::FACTORY),
                file: AesKey::FACTORY,
            });
        };
        let text = std::fs::read_to_string(file).map(Zeroizing::new);
        let text = text.map_err(|error| {
            NotRun::because(format!("{} cannot be read: {error}.", file.display()))
        })?;
        parse(&text).ok_or_else(|| {
            NotRun::because(format!(
                "{} does not have one or two keys of 32 hex digits, one per line.",
                file.display()
            ))
        })
    }
}

/// The meta key and the file key, or one key for both.
fn parse(text: &str) -> Option<Keys> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let keys: Option<Vec<AesKey>> = lines.map(|line| AesKey::from_hex(line).ok()).collect();
    match keys?.as_slice() {
        [key] => Some(Keys {
            meta: Some(key.clone()),
            file: key.clone(),
        }),
        [meta, file] => Some(Keys {
            meta: Some(meta.clone()),
            file: file.clone(),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_meta_key_and_the_file_key_or_one_for_both() {
        let (one, two) = ("11".repeat(16), "22".repeat(16));
        let key = |text: &str| AesKey::from_hex(text).unwrap();
        let keys = parse(&format!("{one}\n\n {two}\n")).unwrap();
        assert_eq!((keys.meta, keys.file), (Some(key(&one)), key(&two)));
        let keys = parse(&one).unwrap();
        assert_eq!((keys.meta, keys.file), (Some(key(&one)), key(&one)));
        for text in ["", "11", &format!("{one}\n{one}\n{one}")] {
            assert!(parse(text).is_none(), "{text}");
        }
    }
}
