//! The languages that a visitor reads, and the choice among a page's languages (RFC 9110, section
//! 12.5.4; RFC 4647).

/// How many ranges of a header are read.
const RANGES_MAX: usize = 20;
/// The range `*`, for all languages that no other range of the header names.
const ANY: &str = "*";

/// The ranges of an `Accept-Language` header, the best first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Languages(Vec<Range>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Range {
    /// A language tag, or [`ANY`].
    language: String,
    /// The weight in thousandths. Weight 0 excludes the languages of the range.
    weight: u16,
}

impl Languages {
    /// Reads a header. Ranges that are malformed are left out.
    pub fn of(header: &str) -> Self {
        let ranges = header.split(',').take(RANGES_MAX);
        let mut ranges: Vec<_> = ranges.filter_map(Range::parse).collect();
        ranges.sort_by_key(|range| std::cmp::Reverse(range.weight));
        Self(ranges)
    }

    /// The languages that are wanted, the best first, without `*`.
    pub fn wanted(&self) -> impl Iterator<Item = &str> {
        let named = self
            .0
            .iter()
            .filter(|range| range.is_wanted() && range.language != ANY);
        named.map(|range| range.language.as_str())
    }

    /// The best of the `offered` languages and the `default` one, which takes part with the weight
    /// that the visitor gives it. `None` if the visitor wants none of them.
    ///
    /// A range is met by a language of this name, else by a wider one (`de` for `de-AT`), and as a
    /// last resort by another one of the same kind (`pt-BR` for `pt-PT`). `*` is met by the
    /// default.
    pub fn best<'a>(&self, default: Option<&'a str>, offered: &[&'a str]) -> Option<&'a str> {
        let all = default.into_iter().chain(offered.iter().copied());
        let all: Vec<_> = all.filter(|language| !self.refuses(language)).collect();
        let mut wanted = self.0.iter().filter(|range| range.is_wanted());
        wanted.find_map(|range| match range.language.as_str() {
            ANY if default.is_none() => None,
            ANY => all.iter().copied().find(|language| !self.names(language)),
            language => lookup(language, &all),
        })
    }

    /// Whether a range other than `*` covers the language.
    fn names(&self, language: &str) -> bool {
        let mut named = self.0.iter().filter(|range| range.language != ANY);
        named.any(|range| range.covers(language))
    }

    /// Whether the narrowest range that covers the language excludes it.
    fn refuses(&self, language: &str) -> bool {
        let covering = self.0.iter().filter(|range| range.covers(language));
        covering
            .max_by_key(|range| (range.subtags(), range.is_wanted()))
            .is_some_and(|range| !range.is_wanted())
    }
}

impl Range {
    /// Reads a range with its weight: `de-AT;q=0.8`.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let language = parts.next()?;
        let weight = parts.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim()
                .eq_ignore_ascii_case("q")
                .then_some(value.trim())
        });
        let is_tag = (2..=35).contains(&language.len())
            && language
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        (is_tag || language == ANY).then_some(())?;
        Some(Self {
            language: language.to_owned(),
            weight: weight.map_or(Some(1000), thousandths)?,
        })
    }

    const fn is_wanted(&self) -> bool {
        self.weight > 0
    }

    /// How narrow it is: 0 for `*`.
    fn subtags(&self) -> usize {
        match self.language.as_str() {
            ANY => 0,
            language => language.split('-').count(),
        }
    }

    fn covers(&self, language: &str) -> bool {
        self.language == ANY || is_within(language, &self.language)
    }
}

/// A weight from 0 to 1, in thousandths.
fn thousandths(weight: &str) -> Option<u16> {
    let is_decimal = weight
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let weight: f32 = is_decimal.then(|| weight.parse().ok())??;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is within 0 and 1000"
    )]
    (weight <= 1.0).then_some((weight * 1000.0).round() as u16)
}

/// The `offered` language that meets a range, if there is one (RFC 4647, section 3.4).
fn lookup<'a>(range: &str, offered: &[&'a str]) -> Option<&'a str> {
    let mut wider = range;
    loop {
        let found = offered.iter().find(|one| one.eq_ignore_ascii_case(wider));
        if let Some(found) = found {
            return Some(found);
        }
        match wider.rsplit_once('-') {
            Some((rest, _)) => wider = rest,
            None => break,
        }
    }
    let mut same_kind = offered.iter().copied();
    same_kind.find(|one| primary(one).eq_ignore_ascii_case(wider))
}

/// Whether a language is `range` or one within it, as `de-AT` is within `de` (RFC 4647, section
/// 3.3.1).
pub fn is_within(language: &str, range: &str) -> bool {
    let mut subtags = language.split('-');
    range.split('-').all(|part| {
        subtags
            .next()
            .is_some_and(|own| own.eq_ignore_ascii_case(part))
    })
}

/// The first part of a language tag.
pub fn primary(language: &str) -> &str {
    language.split('-').next().unwrap_or(language)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_language_comes_first() {
        for (header, languages) in [
            ("de-AT,de;q=0.9,en;q=0.8", vec!["de-AT", "de", "en"]),
            ("en;q=0.5, fr", vec!["fr", "en"]),
            ("en ; Q = 0.5 , fr;q=0.6", vec!["fr", "en"]),
            ("en;q=0, fr;q=x, de;q=2, nl", vec!["nl"]),
            ("en;q=1e-1, fr;q=-1, de;q=inf, nl;q=", vec![]),
            ("*, de;q=0.3", vec!["de"]),
            ("", vec![]),
            ("<script>, d, \u{e9}\u{e9}", vec![]),
        ] {
            let read = Languages::of(header);
            assert_eq!(read.wanted().collect::<Vec<_>>(), languages, "{header}");
        }
        let many = Languages::of(&"de,".repeat(1000));
        assert_eq!(many.wanted().count(), RANGES_MAX);
    }

    #[test]
    fn a_visitor_gets_the_nearest_language() {
        let offered = ["de", "pt-BR", "zh-Hant"];
        for (wanted, found) in [
            ("de-AT", Some("de")),
            ("DE", Some("de")),
            ("pt", Some("pt-BR")),
            ("pt-PT", Some("pt-BR")),
            ("zh-Hant-TW", Some("zh-Hant")),
            ("fr", None),
            ("fr, zh;q=0.5", Some("zh-Hant")),
            ("*", None),
            ("", None),
        ] {
            let found_now = Languages::of(wanted).best(None, &offered);
            assert_eq!(found_now, found, "{wanted}");
        }
    }

    #[test]
    fn the_default_language_takes_part_at_the_place_that_the_visitor_gives_it() {
        for (default, offered, wanted, found) in [
            (
                "en-US",
                &["de"][..],
                "en-US,en;q=0.9,de;q=0.8",
                Some("en-US"),
            ),
            ("en-US", &["de"], "de,en;q=0.9", Some("de")),
            ("en-US", &["de"], "fr,de;q=0.8,en;q=0.7", Some("de")),
            ("en-US", &["de"], "fr", None),
            ("en-US", &["de"], "", None),
            // The same weight: the order of the header.
            ("en-US", &["de"], "en,de", Some("en-US")),
            ("en-US", &["de"], "de;q=0.5,en;q=0.5", Some("de")),
            ("en-GB", &["de"], "en-US,de;q=0.9", Some("en-GB")),
            // A part of a language comes before another one of the same kind, and the default
            // before others.
            ("de-DE", &["de-AT"], "de-AT", Some("de-AT")),
            ("de-DE", &["de-AT"], "de", Some("de-DE")),
            ("de-DE", &["de"], "de-CH", Some("de")),
            // `*` stands for every language that the header does not name.
            ("en", &["de"], "*", Some("en")),
            ("en", &["de"], "de,*;q=0.5", Some("de")),
            ("en", &["de"], "de;q=0.1,*;q=0.5", Some("en")),
            ("en", &["de"], "en;q=0.1,*;q=0.5", Some("de")),
            ("en", &["de"], "fr,*;q=0.5", Some("en")),
            // A weight of 0: not wanted.
            ("en", &["de"], "de;q=0,en;q=0.1", Some("en")),
            ("en", &["de"], "de;q=0", None),
            ("en", &["de", "fr"], "en;q=0,*", Some("de")),
            ("en", &["de-AT"], "de,de-AT;q=0", None),
            ("en", &["de-AT", "de-CH"], "de,de-AT;q=0", Some("de-CH")),
            ("en", &["de-AT"], "de;q=0,de-AT", Some("de-AT")),
            ("en", &["pt-BR"], "pt-PT,*;q=0", None),
            ("en", &["de"], "de,de;q=0", Some("de")),
        ] {
            let best = Languages::of(wanted).best(Some(default), offered);
            assert_eq!(best, found, "{default}, {offered:?}: {wanted}");
        }
    }
}
