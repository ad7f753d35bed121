//! The contents of a staff page, as far as the scopes and groups of the phone show them.

use std::collections::BTreeMap;

use super::super::open_sheet;
use crate::service::Service;
use crate::tap::lines;
use domain::clock::{Millis, Timestamp};
use domain::id::{ExperienceId, SheetId};
use domain::interaction::{Interaction, TapOrigin};
use domain::phone::Phone;
use domain::plural::counted;
use domain::scope::Scope;
use domain::sheet::{Sheet, SheetRow, verdict_title};
use domain::tag::Tag;
use domain::trace::TracedInteraction;
use domain::world::World;
use storage::{ExperienceFilter, InteractionFilter, StorageError};

/// Taps in the list of last taps: as many as a phone shows without scrolling.
const LAST_TAPS: usize = 5;
/// Most experiences in the list from which a person chooses one.
const EXPERIENCES: usize = 200;
/// Most variables that a page has a form for.
const VARIABLES: usize = 30;

/// The contents of a staff page.
#[derive(Default)]
pub(super) struct Contents {
    /// Facts about the tap and the tag, with their labels.
    pub(super) facts: Vec<(&'static str, String)>,
    /// The open test sheets; empty if the phone cannot add rows.
    pub(super) sheets: Vec<SheetChoice>,
    /// A sentence about the row that the first sheet has of this tag already.
    pub(super) row_before: Option<String>,
    /// The note of a refused form.
    pub(super) note: String,
    /// Values that the page only shows.
    pub(super) values: Vec<(String, String)>,
    /// Variables that the page has a form for.
    pub(super) variables: Vec<Variable>,
    /// Experiences to choose from; empty if the phone cannot assign the tag.
    pub(super) experiences: Vec<Choice>,
    /// Whether the page has a form that moves the inlay.
    pub(super) may_move: bool,
    /// The slug of a refused form.
    pub(super) slug: String,
    /// The action of a refused form, whose part of the page is open; empty if none was refused.
    pub(super) open: String,
    /// The last taps of the tag, the newest first.
    pub(super) taps: Vec<LastTap>,
}

/// An open test sheet.
pub(super) struct SheetChoice {
    pub(super) id: SheetId,
    pub(super) label: String,
}

/// A variable with its form.
pub(super) struct Variable {
    pub(super) key: String,
    pub(super) value: String,
    /// Whether the value has several lines, which an input would join.
    pub(super) has_lines: bool,
}

/// An experience to choose.
pub(super) struct Choice {
    /// Its id; empty for no experience.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) selected: bool,
}

/// A tap in the list of last taps.
pub(super) struct LastTap {
    pub(super) when: String,
    pub(super) verdict: &'static str,
    pub(super) by: &'static str,
}

impl Contents {
    /// Reads the contents of the page of this tap. `service` works for the phone, which added its last
    /// row to the sheet `last`.
    pub(super) async fn read(
        service: &Service,
        phone: &Phone,
        tap: &TracedInteraction,
        last: Option<SheetId>,
    ) -> Result<Self, StorageError> {
        let rights = phone.rights();
        let may = |scope| rights.allow(scope);
        let mut contents = Self {
            facts: facts(tap),
            may_move: may(Scope::Keys)
                && !service.storage.is_limited()
                && tap.interaction.inlay_id.is_some(),
            ..Self::default()
        };
        if may(Scope::Encode) {
            contents.read_sheets(service, tap, last).await?;
        }
        let tag = match tap.interaction.tag_id {
            Some(id) => service.storage.tag(id).await?,
            None => None,
        };
        let Some(tag) = tag else {
            return Ok(contents);
        };
        if may(Scope::Read) {
            contents.read_tag(service, &tag).await?;
            contents.read_taps(service, &tag).await?;
        }
        if may(Scope::Tags) {
            contents.read_forms(service, &tag).await?;
        } else if may(Scope::Read) {
            let variables = tag.fields.variables.0.iter();
            let shown = variables.map(|(key, value)| (key.as_str().to_owned(), value.clone()));
            contents.values.extend(shown);
        }
        Ok(contents)
    }

    /// Puts the fields of a refused form into its form again.
    pub(super) fn keep(&mut self, typed: &BTreeMap<String, String>) {
        let field = |name: &str| typed.get(name).cloned().unwrap_or_default();
        self.open = field("action");
        match &*self.open {
            "good" | "bad" => self.note = field("note"),
            "inlay" => self.slug = field("slug"),
            "experience" => {
                let id = field("experience_id");
                if self.experiences.iter().any(|choice| choice.id == id) {
                    for choice in &mut self.experiences {
                        choice.selected = choice.id == id;
                    }
                }
            }
            "value" => {
                let key = field("key");
                for variable in &mut self.variables {
                    if variable.key == key {
                        *variable = Variable::of(&key, lines(&field("value")));
                    }
                }
            }
            _ => {}
        }
    }

    async fn read_sheets(
        &mut self,
        service: &Service,
        tap: &TracedInteraction,
        last: Option<SheetId>,
    ) -> Result<(), StorageError> {
        let mut sheets = open_sheet::open_sheets(service).await?;
        // The first one is chosen. A person works through one sheet, which need not be the newest.
        if let Some(at) = sheets.iter().position(|sheet| Some(sheet.id) == last) {
            sheets[..=at].rotate_right(1);
        }
        if let Some(sheet) = sheets.first() {
            let before = open_sheet::row_before(service, sheet.id, tap).await?;
            self.row_before = before.map(|row| row_sentence(&row, sheet, sheets.len()));
        }
        self.sheets = sheets.iter().map(sheet_choice).collect();
        Ok(())
    }

    async fn read_tag(&mut self, service: &Service, tag: &Tag) -> Result<(), StorageError> {
        let Some(effective) = service.storage.effective(tag.id).await? else {
            return Ok(());
        };
        if let Some(group) = tag.fields.group_id
            && let Some(group) = service.storage.group(group).await?
        {
            self.facts.push(("Group", group.fields.name));
        }
        if let Some(id) = effective.experience_id.value
            && let Some(experience) = service.storage.experience(id).await?
        {
            self.facts.push(("Experience", experience.name.to_string()));
        }
        let values = effective.attributes.into_iter().chain(effective.data);
        let values = values.map(|(key, value)| (key.as_str().to_owned(), value.value));
        self.values.extend(values);
        Ok(())
    }

    async fn read_taps(&mut self, service: &Service, tag: &Tag) -> Result<(), StorageError> {
        let filter = InteractionFilter {
            tag_id: Some(tag.id),
            world: World::Both,
            ..InteractionFilter::default()
        };
        let found = service
            .storage
            .interactions(filter, None, LAST_TAPS)
            .await?;
        let now = service.now_in(tag.simulated).await?;
        let taps = found.found.iter();
        self.taps = taps.map(|(tap, _)| last_tap(tap, now)).collect();
        Ok(())
    }

    async fn read_forms(&mut self, service: &Service, tag: &Tag) -> Result<(), StorageError> {
        let variables = tag.fields.variables.0.iter().take(VARIABLES);
        let variables = variables.map(|(key, value)| Variable::of(key.as_str(), value.clone()));
        self.variables = variables.collect();
        let filter = ExperienceFilter::default();
        let found = service.storage.experiences(filter, None, EXPERIENCES);
        let found = found.await?;
        let own = tag.fields.experience_id;
        // The experience of the tag may be out of reach, or behind the end of the list. Then the form
        // would change it unnoticed.
        let is_offered = |own: ExperienceId| found.iter().any(|experience| experience.id == own);
        if found.is_empty() || !own.is_none_or(is_offered) {
            return Ok(());
        }
        let none = Choice {
            id: String::new(),
            name: "None".to_owned(),
            selected: own.is_none(),
        };
        let some = found.into_iter().map(|experience| Choice {
            id: experience.id.to_string(),
            name: experience.name.to_string(),
            selected: own == Some(experience.id),
        });
        self.experiences = std::iter::once(none).chain(some).collect();
        Ok(())
    }
}

impl Variable {
    fn of(key: &str, value: String) -> Self {
        Self {
            key: key.to_owned(),
            has_lines: value.contains('\n'),
            value,
        }
    }
}

/// The sentence about a row of this tag in `sheet`, which is one of `sheets` open ones.
fn row_sentence(row: &SheetRow, sheet: &Sheet, sheets: usize) -> String {
    let (position, verdict) = (row.position, verdict_title(&row.fields.verdict));
    if sheets == 1 {
        return format!("Row {position} is about this tag already: {verdict}.");
    }
    let name = &sheet.fields.name;
    format!("Row {position} of \u{201c}{name}\u{201d} is about this tag already: {verdict}.")
}

fn facts(tap: &TracedInteraction) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(tag) = &tap.tag {
        facts.push(("Slug", tag.slug.clone()));
    }
    let uid = tap.inlay.map(|inlay| inlay.uid);
    if let Some(uid) = uid.or_else(|| tap.interaction.verdict.other_uid()) {
        facts.push(("UID", uid.to_string()));
    }
    facts
}

fn sheet_choice(sheet: &Sheet) -> SheetChoice {
    let (name, row) = (&sheet.fields.name, sheet.row_count + 1);
    let label = match sheet.fields.planned {
        Some(planned) => format!("{name} · row {row} of {planned}"),
        None => format!("{name} · row {row}"),
    };
    SheetChoice {
        id: sheet.id,
        label,
    }
}

fn last_tap(tap: &Interaction, now: Timestamp) -> LastTap {
    LastTap {
        when: ago(now.since(tap.at)),
        verdict: match tap.verdict.tag_verified() {
            Some(true) => "Verified",
            Some(false) => "Not verified",
            None => "Not checked",
        },
        by: match tap.origin {
            TapOrigin::Visitor => "visitor",
            TapOrigin::Reader => "reader",
            TapOrigin::Kiosk => "kiosk",
            TapOrigin::Staff => "staff",
            TapOrigin::Simulator => "simulator",
        },
    }
}

/// A time in words. The page has no script, and the service does not know the phone's time zone.
fn ago(span: Millis) -> String {
    let minutes = span.whole_seconds() / 60;
    match minutes {
        ..1 => "just now".to_owned(),
        1..60 => format!("{minutes} min ago"),
        60..1440 => format!("{} h ago", minutes / 60),
        _ => format!("{} ago", counted((minutes / 1440).unsigned_abs(), "day")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_said_in_words() {
        for (span, words) in [
            (Millis::seconds(-5), "just now"),
            (Millis::seconds(59), "just now"),
            (Millis::minutes(1), "1 min ago"),
            (Millis::minutes(59), "59 min ago"),
            (Millis::hours(23), "23 h ago"),
            (Millis::days(1), "1 day ago"),
            (Millis::days(12), "12 days ago"),
        ] {
            assert_eq!(ago(span), words);
        }
    }
}
