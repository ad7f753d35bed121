//! Templates for new pages (data files), each with the variables that its tag needs, and with
//! sample values that show its purpose. They are written in English; `texts` has them in the other
//! languages.

mod texts;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

pub use texts::{template_language, template_languages};

use super::{MediaNames, PageKey, StudioPage};
use domain::clock::Timestamp;
use domain::experience::{Content, ContentFields, Context, ExperienceFields, Scheme, Theme};
use domain::id::ExperienceId;
use domain::interaction::{CounterMove, VerificationState};
use domain::macros::{Macro, Scope};
use domain::tag::{Properties, PropertyKey};
use domain::visitor::OperatingSystem;

/// A template for a new page.
#[derive(Debug)]
pub struct StudioTemplate {
    /// Its name, which never changes.
    pub name: String,
    /// Name that is shown in the gallery.
    pub title: String,
    /// Its purpose, in a sentence.
    pub about: String,
    /// The variables that a tag needs for it, with their initial values.
    pub variables: BTreeMap<PropertyKey, String>,
    /// Experience that the template creates.
    pub experience: ExperienceFields,
    /// The language of its texts, such as `de`.
    pub language: &'static str,
    sample: Sample,
}

/// A sample tag that shows the purpose of a template.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Sample {
    title: String,
    attributes: Properties,
    data: Properties,
    variables: Properties,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    title: String,
    about: String,
    variables: BTreeMap<PropertyKey, String>,
    sample: Sample,
    experience: FileExperience,
}

#[derive(Deserialize)]
struct FileExperience {
    name: String,
    #[serde(flatten)]
    content: ContentFields,
}

const FILES: [&str; 10] = [
    include_str!("../../../../data/templates/01-product-registration.json"),
    include_str!("../../../../data/templates/02-authenticity.json"),
    include_str!("../../../../data/templates/03-warranty.json"),
    include_str!("../../../../data/templates/04-event-check-in.json"),
    include_str!("../../../../data/templates/05-manual.json"),
    include_str!("../../../../data/templates/06-feedback.json"),
    include_str!("../../../../data/templates/07-lost-and-found.json"),
    include_str!("../../../../data/templates/08-loyalty-stamp.json"),
    include_str!("../../../../data/templates/09-wine-story.json"),
    include_str!("../../../../data/templates/10-service-log.json"),
];

static TEMPLATES: LazyLock<BTreeMap<&str, Vec<StudioTemplate>>> = LazyLock::new(|| {
    let languages = template_languages().into_iter();
    languages
        .map(|language| {
            let all = FILES.iter().map(|json| read(json, language));
            let all = all.collect::<Result<_, _>>();
            (language, all.expect("the files are read by a test, too"))
        })
        .collect()
});

/// All templates, in the order of a gallery, with texts for a language tag such as `de-AT`.
pub fn templates(language: &str) -> &'static [StudioTemplate] {
    &TEMPLATES[template_language(language)]
}

fn read(json: &str, language: &'static str) -> Result<StudioTemplate, String> {
    let texts = texts::texts(language).map_err(|error| error.to_string())?;
    let mut file: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    texts::translate(&mut file, &texts);
    let file: File = serde_json::from_value(file).map_err(|error| error.to_string())?;
    let content = Content::to_save(file.experience.content).map_err(|error| error.to_string())?;
    let experience = ExperienceFields::named(file.experience.name, content);
    Ok(StudioTemplate {
        name: file.name,
        title: file.title,
        about: file.about,
        variables: file.variables,
        experience: experience.map_err(|error| error.to_string())?,
        language,
        sample: file.sample,
    })
}

impl StudioTemplate {
    /// The page as the visitor of its sample tag would get it, light or dark.
    pub fn to_html(
        &self,
        scheme: Scheme,
        media: &MediaNames,
        nonce: &str,
    ) -> Result<String, askama::Error> {
        let Content::Studio { blocks, theme } = &self.experience.content else {
            return Ok(String::new());
        };
        let theme = Theme {
            scheme: match theme.scheme {
                Scheme::Auto => scheme,
                chosen => chosen,
            },
            ..theme.clone()
        };
        let page = StudioPage {
            blocks,
            theme: &theme,
            // A template has no images, so the number does not matter.
            experience: ExperienceId::new(1),
            title: &self.sample.title,
            context: &Context {
                verification: VerificationState::Verified,
                counter: Some(CounterMove::Rose),
                tamper: None,
                variables: &self.sample.variables,
                scan_count: 1,
                lineage: None,
                language: self.language,
                country: "",
                operating_system: OperatingSystem::Other,
                technology: None,
                group: None,
                at: Timestamp::default(),
            },
            rk: None,
            key: PageKey::Live {
                base64: String::new(),
                millis: 0,
            },
            outcome: None,
            sent: &[],
            entered: &[],
            names_blocks: false,
            nonce,
        };
        page.to_html(&self.sample, media)
    }
}

impl Scope for Sample {
    fn value(&self, name: &Macro) -> Option<Cow<'_, str>> {
        match name {
            Macro::TagName | Macro::TagTitle => Some(self.title.as_str().into()),
            Macro::TagAttribute(key) => self.attributes.get(key).map(Cow::from),
            Macro::TagData(key) => self.data.get(key).map(Cow::from),
            Macro::TagVariable(key) => self.variables.get(key).map(Cow::from),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_can_be_saved_and_names_the_variables_it_needs() {
        let media = MediaNames::new(&[0; 32]);
        let mut names = std::collections::BTreeSet::new();
        let languages = template_languages().into_iter();
        for (json, language) in languages.flat_map(|one| FILES.map(|json| (json, one))) {
            let template = read(json, language).unwrap();
            assert!(template.experience.content.images().is_empty());
            let name = (language, template.name.clone());
            assert!(names.insert(name), "{}", template.name);
            let html = template.to_html(Scheme::Light, &media, "0").unwrap();
            assert!(html.len() < 30 * 1024, "{}: {}", template.name, html.len());
            // Every variable that a form, a button or a condition names must exist initially.
            let content = template.experience.content.to_json();
            for (_, after) in content
                .match_indices("\"variable\":\"")
                .map(|(at, found)| content.split_at(at + found.len()))
            {
                let key = after.split('"').next().unwrap();
                assert!(
                    template.variables.contains_key(key),
                    "{}: {key}",
                    template.name
                );
            }
        }
        assert_eq!(names.len(), 120);
    }
}
