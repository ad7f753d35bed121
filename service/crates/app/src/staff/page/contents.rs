//! The contents of a staff page, as far as the scopes and groups of the phone show them.

use std::collections::BTreeMap;

use super::super::action::NOTING;
use super::super::open_sheet;
use super::super::words::{StaffLanguage, StaffWords, fill};
use crate::service::Service;
use crate::tap::lines;
use domain::clock::{Millis, Timestamp};
use domain::id::{ExperienceId, SheetId};
use domain::interaction::{Interaction, StaffNote, TapOrigin};
use domain::phone::Phone;
use domain::scope::Scope;
use domain::sheet::{Sheet, SheetRow};
use domain::tag::{Status, Tag};
use domain::trace::TracedInteraction;
use domain::world::World;
use inlay::assessment::Tamper;
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
    /// Sentences about goods that need care, however good their code is.
    pub(super) warnings: Vec<&'static str>,
    /// Facts about the tap and the tag, with their labels.
    pub(super) facts: Vec<(&'static str, String)>,
    /// The open test sheets; empty if the phone cannot add rows.
    pub(super) sheets: Vec<SheetChoice>,
    /// A sentence about the row that the first sheet has of this tag already.
    pub(super) row_before: Option<String>,
    /// The note of a refused row.
    pub(super) note: String,
    /// The form of the tap's note; `None` if the phone cannot add one.
    pub(super) tap_note: Option<NoteForm>,
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

/// The form of a tap's note.
pub(super) struct NoteForm {
    /// The stored note, or that of a refused form.
    pub(super) note: String,
    /// Whether there is a stored photo.
    pub(super) has_photo: bool,
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
    /// The note of staff; empty if there is none.
    pub(super) note: String,
    /// The address of the photo of staff, if there is one.
    pub(super) photo: Option<String>,
}

impl Contents {
    /// Reads the contents of the page of this tap. `service` works for the phone, which added its last
    /// row to the sheet `last`.
    pub(super) async fn read(
        service: &Service,
        phone: &Phone,
        tap: &TracedInteraction,
        (last, language): (Option<SheetId>, StaffLanguage),
    ) -> Result<Self, StorageError> {
        let words = language.words();
        let rights = phone.rights();
        let may = |scope| rights.allow(scope);
        let mut contents = Self {
            warnings: warnings(tap, words),
            facts: facts(tap, words),
            may_move: may(Scope::Keys)
                && !service.storage.is_limited()
                && tap.interaction.inlay_id.is_some(),
            ..Self::default()
        };
        if may(Scope::Encode) {
            contents.read_sheets(service, tap, (last, language)).await?;
        }
        if NOTING.into_iter().any(may) {
            contents.tap_note = Some(NoteForm::of(tap.staff_note.as_ref()));
        }
        let tag = match tap.interaction.tag_id {
            Some(id) => service.storage.tag(id).await?,
            None => None,
        };
        let Some(tag) = tag else {
            return Ok(contents);
        };
        // Visitors get the page of a recall also at an archived tag.
        if tag.fields.status == Status::Archived && tap.interaction.recalled_by.is_none() {
            contents.warnings.push(&words.archived);
        }
        if may(Scope::Read) {
            contents.read_tag(service, &tag, words).await?;
            contents.read_taps(service, &tag, words).await?;
        }
        if may(Scope::Tags) {
            contents.read_forms(service, &tag, words).await?;
        }
        if may(Scope::Read) {
            // Those with a form are in it.
            let variables = tag.fields.variables.0.iter();
            let variables = variables.skip(contents.variables.len());
            let shown = variables.map(|(key, value)| (key.as_str().to_owned(), value.clone()));
            contents.values.extend(shown);
        }
        Ok(contents)
    }

    /// Puts the fields of a refused form into its form again.
    pub(super) async fn keep(
        &mut self,
        service: &Service,
        phone: &Phone,
        typed: &BTreeMap<String, String>,
        words: &'static StaffWords,
    ) -> Result<(), StorageError> {
        let field = |name: &str| typed.get(name).cloned().unwrap_or_default();
        let action = field("action");
        match &*action {
            // The buttons of a row are behind its photo, so a row that was cut there has no action.
            "good" | "bad" | "" => {
                self.note = field("note");
                if phone.rights().allow(Scope::Encode) {
                    self.keep_sheet(service, &field("sheet"), words).await?;
                }
            }
            "note" => {
                if let Some(form) = &mut self.tap_note {
                    form.note = lines(&field("note"));
                }
            }
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
        self.open = action;
        Ok(())
    }

    /// Offers the sheet of a refused row again if no sheet is open, because its form has the note. The
    /// row can be sent again once the desk opens the sheet.
    async fn keep_sheet(
        &mut self,
        service: &Service,
        id: &str,
        words: &'static StaffWords,
    ) -> Result<(), StorageError> {
        let Ok(id) = id.parse::<SheetId>() else {
            return Ok(());
        };
        if !self.sheets.is_empty() || service.storage.is_limited() {
            return Ok(());
        }
        let sheet = service.storage.sheet(id).await?;
        let unknown = || SheetChoice {
            id,
            label: String::new(),
        };
        let choice = sheet.map_or_else(unknown, |sheet| sheet_choice(&sheet, words));
        self.sheets.push(choice);
        Ok(())
    }

    async fn read_sheets(
        &mut self,
        service: &Service,
        tap: &TracedInteraction,
        (last, language): (Option<SheetId>, StaffLanguage),
    ) -> Result<(), StorageError> {
        let mut sheets = open_sheet::open_sheets(service).await?;
        // The first one is chosen. A person works through one sheet, which need not be the newest.
        if let Some(at) = sheets.iter().position(|sheet| Some(sheet.id) == last) {
            sheets[..=at].rotate_right(1);
        }
        if let Some(sheet) = sheets.first() {
            let before = open_sheet::row_before(service, sheet.id, tap).await?;
            self.row_before = before.map(|row| row_sentence(&row, (sheet, sheets.len()), language));
        }
        let choice = |sheet: &Sheet| sheet_choice(sheet, language.words());
        self.sheets = sheets.iter().map(choice).collect();
        Ok(())
    }

    async fn read_tag(
        &mut self,
        service: &Service,
        tag: &Tag,
        words: &'static StaffWords,
    ) -> Result<(), StorageError> {
        let Some(effective) = service.storage.effective(tag.id).await? else {
            return Ok(());
        };
        if let Some(group) = tag.fields.group_id
            && let Some(group) = service.storage.group(group).await?
        {
            self.facts.push((words.group.as_str(), group.fields.name));
        }
        if let Some(id) = effective.experience_id.value
            && let Some(experience) = service.storage.experience(id).await?
        {
            let name = experience.name.to_string();
            self.facts.push((words.experience.as_str(), name));
        }
        let values = effective.attributes.into_iter().chain(effective.data);
        let values = values.map(|(key, value)| (key.as_str().to_owned(), value.value));
        self.values.extend(values);
        Ok(())
    }

    async fn read_taps(
        &mut self,
        service: &Service,
        tag: &Tag,
        words: &'static StaffWords,
    ) -> Result<(), StorageError> {
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
        let ids = found.found.iter().map(|(tap, _)| tap.id).collect();
        let mut notes = service.storage.staff_notes(ids).await?;
        let taps = found.found.iter().map(|(tap, _)| {
            let note = notes.remove(&tap.id);
            last_tap(tap, note, now, words)
        });
        self.taps = taps.collect();
        Ok(())
    }

    async fn read_forms(
        &mut self,
        service: &Service,
        tag: &Tag,
        words: &'static StaffWords,
    ) -> Result<(), StorageError> {
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
            name: words.none.clone(),
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

impl NoteForm {
    fn of(stored: Option<&StaffNote>) -> Self {
        Self {
            note: stored.map_or_else(String::new, |stored| stored.note.clone()),
            has_photo: stored.is_some_and(|stored| stored.photo.is_some()),
        }
    }
}

/// The sentence about a row of this tag in a sheet, which is one of `sheets` open ones.
fn row_sentence(
    row: &SheetRow,
    (sheet, sheets): (&Sheet, usize),
    language: StaffLanguage,
) -> String {
    let words = language.words();
    let text = if sheets == 1 {
        &words.row_before
    } else {
        &words.row_before_of
    };
    let position = row.position.to_string();
    let values = [
        ("row", position.as_str()),
        ("sheet", sheet.fields.name.as_str()),
        ("verdict", language.verdict_of_row(&row.fields.verdict)),
    ];
    fill(text, &values)
}

/// The sentences that follow from the tap.
fn warnings(tap: &TracedInteraction, words: &'static StaffWords) -> Vec<&'static str> {
    let mut warnings = Vec::new();
    if tap.interaction.recalled_by.is_some() {
        warnings.push(words.recalled.as_str());
    }
    if tap.interaction.tamper.is_some_and(Tamper::is_broken) {
        warnings.push(words.broken_seal.as_str());
    }
    warnings
}

fn facts(tap: &TracedInteraction, words: &'static StaffWords) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(tag) = &tap.tag {
        facts.push((words.slug.as_str(), tag.slug.clone()));
    }
    let uid = tap.inlay.map(|inlay| inlay.uid);
    if let Some(uid) = uid.or_else(|| tap.interaction.verdict.other_uid()) {
        facts.push((words.uid.as_str(), uid.to_string()));
    }
    facts
}

fn sheet_choice(sheet: &Sheet, words: &StaffWords) -> SheetChoice {
    let (name, row) = (&sheet.fields.name, (sheet.row_count + 1).to_string());
    let row = match sheet.fields.planned {
        Some(planned) => {
            let planned = planned.to_string();
            fill(&words.row_of, &[("row", &row), ("planned", &planned)])
        }
        None => fill(&words.row, &[("row", &row)]),
    };
    SheetChoice {
        id: sheet.id,
        label: format!("{name} \u{b7} {row}"),
    }
}

fn last_tap(
    tap: &Interaction,
    note: Option<StaffNote>,
    now: Timestamp,
    words: &'static StaffWords,
) -> LastTap {
    let has_photo = note.as_ref().is_some_and(|note| note.photo.is_some());
    LastTap {
        when: ago(now.since(tap.at), words),
        verdict: match tap.verdict.tag_verified() {
            Some(true) => &words.verified,
            Some(false) => &words.not_verified,
            None => &words.not_checked,
        },
        by: match tap.origin {
            TapOrigin::Visitor => &words.by_visitor,
            TapOrigin::Reader => &words.by_reader,
            TapOrigin::Kiosk => &words.by_kiosk,
            TapOrigin::Staff => &words.by_staff,
            TapOrigin::Simulator => &words.by_simulator,
        },
        note: note.map(|note| note.note).unwrap_or_default(),
        photo: has_photo.then(|| format!("/staff/taps/{}/photo", tap.id)),
    }
}

/// A time in words. The page works without a script, and the service does not know the phone's time
/// zone.
fn ago(span: Millis, words: &StaffWords) -> String {
    let minutes = span.whole_seconds() / 60;
    let (text, number) = match minutes {
        ..1 => (&words.just_now, 0),
        1..60 => (&words.minutes_ago, minutes),
        60..1440 => (&words.hours_ago, minutes / 60),
        1440..2880 => (&words.day_ago, 1),
        _ => (&words.days_ago, minutes / 1440),
    };
    fill(text, &[("n", &number.to_string())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::visitor::Languages;

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
            let english = StaffLanguage::of(&Languages::default());
            assert_eq!(ago(span, english.words()), words);
        }
    }
}
