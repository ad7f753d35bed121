//! Pages to begin with (data files), each with what its tag needs and with
//! values that show what it is for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::{MediaNames, PageKey, StudioPage};
use crate::clock::Timestamp;
use crate::experience::{Content, ContentFields, Context, ExperienceFields, Scheme, Theme};
use crate::id::ExperienceId;
use crate::interaction::{CounterMove, VerificationState};
use crate::macros::{Macro, Scope};
use crate::tag::{Properties, PropertyKey};
use crate::visitor::OperatingSystem;

/// A page to begin with.
#[derive(Debug)]
pub(crate) struct StudioTemplate {
    /// Its name, which never changes.
    pub name: String,
    /// Its display name.
    pub title: String,
    /// Its purpose, in a sentence.
    pub about: String,
    /// The variables that a tag needs for it, with their initial values.
    pub variables: BTreeMap<PropertyKey, String>,
    /// The experience.
    pub experience: ExperienceFields,
    sample: Sample,
}

/// A tag that shows what a template is for.
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
    include_str!("../../data/templates/01-product-registration.json"),
    include_str!("../../data/templates/02-authenticity.json"),
    include_str!("../../data/templates/03-warranty.json"),
    include_str!("../../data/templates/04-event-check-in.json"),
    include_str!("../../data/templates/05-manual.json"),
    include_str!("../../data/templates/06-feedback.json"),
    include_str!("../../data/templates/07-lost-and-found.json"),
    include_str!("../../data/templates/08-loyalty-stamp.json"),
    include_str!("../../data/templates/09-wine-story.json"),
    include_str!("../../data/templates/10-service-log.json"),
];

static TEMPLATES: LazyLock<Vec<StudioTemplate>> = LazyLock::new(|| {
    let read = FILES
        .iter()
        .map(|json| read(json).expect("the files are read by a test, too"));
    read.collect()
});

/// All templates, in the order of a gallery.
pub(crate) fn templates() -> &'static [StudioTemplate] {
    &TEMPLATES
}

fn read(json: &str) -> Result<StudioTemplate, String> {
    let file: File = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let content = file.experience.content.try_into();
    let content: Content =
        content.map_err(|error: crate::experience::ContentError| error.to_string())?;
    Ok(StudioTemplate {
        name: file.name,
        title: file.title,
        about: file.about,
        variables: file.variables,
        experience: ExperienceFields {
            name: file.experience.name,
            content,
        },
        sample: file.sample,
    })
}

impl StudioTemplate {
    /// The page as the visitor of its sample tag would get it, light or dark.
    pub(crate) fn to_html(
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
            // A template has no images, so none is asked for.
            experience: ExperienceId(0),
            title: &self.sample.title,
            context: &Context {
                verification: VerificationState::Verified,
                counter: Some(CounterMove::Rose),
                tamper: None,
                variables: &self.sample.variables,
                scan_count: 1,
                language: "en",
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
        for json in FILES {
            let template = read(json).unwrap();
            template.experience.validate().unwrap();
            assert!(template.experience.content.images().is_empty());
            assert!(names.insert(template.name.clone()), "{}", template.name);
            let html = template.to_html(Scheme::Light, &media, "0").unwrap();
            assert!(html.len() < 30 * 1024, "{}: {}", template.name, html.len());
            // Whatever a form, a button or a condition names is there to begin with.
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
        assert_eq!(names.len(), 10);
    }
}
