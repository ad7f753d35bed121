//! Imports tags from a table.

mod all_or_none;
mod answer;
mod experiences;
mod groups;
mod reading;
mod row;
mod run;
mod send;

use std::io::Read;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use utoipa::ToSchema;

use super::chip::OfAllChips;
use super::column::{Column, TECHNOLOGY};
use super::layout::{Layout, Mapped};
use super::preset::{self, Preset};
use super::table::{Survey, Table};
use crate::service::Service;
use domain::field_error::FieldError;
use domain::id::{MasterKeyId, UrlTemplateId};
use domain::table::TableFile;
use domain::table::counter::Digits;
use domain::tag::TagColumn;
use experiences::Experiences;
use groups::Groups;
use inlay::Technology;
use inlay::template::Template;
use reading::Reading;
use row::{OfTag, Reader};
use run::Import;
use storage::StorageError;

pub use answer::ImportResult;
pub(super) use experiences::names as experience_names;
pub use groups::paths as group_paths;

/// Maximum number of rows in one file.
const ROWS_MAX: usize = 1_000_000;

/// The choices of the person who imports a table.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent choices"
)]
pub struct ImportOptions {
    /// Whether to check everything without writing.
    pub dry_run: bool,
    /// Effect of a refused row on the other rows.
    pub on_error: OnError,
    /// How to treat a row whose slug exists.
    pub mode: Mode,
    /// How to treat an experience that does not exist.
    pub unknown_experience: UnknownExperience,
    /// Whether groups in the column `group` that do not exist are created.
    pub create_groups: bool,
    /// Name of the preset for the service that wrote the file.
    pub preset: Option<String>,
    /// The URL template of rows with a `uid` that name neither a URL template nor a mirror.
    pub url_template_id: Option<UrlTemplateId>,
    /// The master key of rows with a `uid` that contain no file key.
    pub master_key_id: Option<MasterKeyId>,
    /// The chip of rows with a `uid` that name none, unless their URL template defines it.
    pub technology: Option<Technology>,
    /// Whether rows with a `uid` may have factory keys. Codes with them prove nothing.
    pub allow_factory_keys: bool,
    /// Number format of counters.
    pub counter: Option<Digits>,
    /// Meanings of columns: `HEADING:COLUMN`.
    pub map: Vec<String>,
    /// Whether tags that are assigned to an experience get the variables that its page writes.
    pub add_variables: bool,
    /// Number of the last row to skip.
    pub after_row: u32,
    /// Maximum number of rows to import.
    pub max_rows: Option<usize>,
}

impl ImportOptions {
    /// The description of the import in the audit log.
    fn asked(&self, rows: usize) -> Value {
        let mut asked = json!({
            "rows": rows,
            "mode": if self.mode == Mode::Upsert { "upsert" } else { "insert" },
            "on_error": if self.on_error == OnError::Abort { "abort" } else { "skip" },
            "add_variables": self.add_variables,
        });
        if self.create_groups {
            asked["create_groups"] = true.into();
        }
        if let Some(preset) = &self.preset {
            asked["preset"] = preset.as_str().into();
        }
        asked
    }
}

/// Effect of a refused row on the other rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// The valid rows are imported, a hundred at a time, and more while nobody else writes.
    #[default]
    Skip,
    /// Nothing is imported. If all rows are valid, they are imported a hundred at a time, so that
    /// taps continue. Once begun, this import finishes, even if the client disconnects or the
    /// service restarts.
    Abort,
}

/// How to treat a row whose slug exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The row is refused.
    #[default]
    Insert,
    /// The row changes that tag. A text in a cell sets the value, and `(delete)` deletes it. Empty
    /// cells and missing columns leave it unchanged.
    Upsert,
}

/// How to treat an experience that does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnknownExperience {
    /// The row is refused.
    #[default]
    Refuse,
    /// The cell counts as empty: a new tag leads nowhere, and an existing tag keeps its experience.
    /// The row's `warning` says so.
    Ignore,
}

/// Why a table is not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file or an option is invalid.
    #[error(transparent)]
    Invalid(#[from] FieldError),
    /// A read or a write of the database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl ImportError {
    fn of_file(why: String) -> Self {
        Self::Invalid(FieldError::whole(why))
    }

    fn of(field: &'static str, why: String) -> Self {
        Self::Invalid(FieldError::of(field, why))
    }
}

/// A table that was read to its end once, and whose rows are not imported yet.
pub struct OpenedTable<R> {
    service: Arc<Service>,
    options: ImportOptions,
    of_all: OfAllChips,
    table: Table<R>,
    survey: Survey,
}

/// Reads a file to its end, then its header again; a workbook only once. Runs in a thread, so that
/// it blocks no other work.
pub async fn open<R: Read + Clone + Send + 'static>(
    service: Arc<Service>,
    options: ImportOptions,
    file: R,
) -> Result<OpenedTable<R>, ImportError> {
    let mut layout = layout(&options)?;
    layout.template = of_all_chips(&service, &options).await?;
    let of_all = OfAllChips {
        url_template_id: options.url_template_id,
        master_key_id: options.master_key_id,
        technology: options
            .technology
            .or(layout.preset.and_then(Preset::technology)),
        allow_factory_keys: options.allow_factory_keys,
    };
    let after_row = options.after_row;
    let both = tokio::task::spawn_blocking(move || -> Result<_, String> {
        let file = TableFile::new(file)?;
        let survey = Table::open(file.clone(), &layout)?.survey(after_row);
        Ok((Table::open(file, &layout)?, survey))
    });
    let both = both.await.map_err(|_| StorageError::Panicked)?;
    let (table, survey) = both.map_err(ImportError::of_file)?;
    let required = match options.mode {
        Mode::Insert => TagColumn::Name,
        Mode::Upsert => TagColumn::Slug,
    };
    if !table.columns().contains(&Column::Tag(required.clone())) {
        let why = format!("The file needs a column \"{required}\".");
        return Err(ImportError::of_file(why));
    }
    Ok(OpenedTable {
        service,
        options,
        of_all,
        table,
        survey,
    })
}

impl<R: Read + Send + 'static> OpenedTable<R> {
    /// Whether the table can create inlays, which needs the right to write keys.
    pub fn has_inlays(&self) -> bool {
        let mut columns = self.table.columns().iter();
        columns.any(|column| matches!(column, Column::Inlay(_)))
    }

    /// Imports the first rows. An error means that nothing was imported.
    pub async fn begin(self) -> Result<BegunImport, ImportError> {
        let Self {
            service,
            options,
            of_all,
            table,
            survey,
        } = self;
        if survey.rows > ROWS_MAX {
            let rows = survey.rows;
            let why = format!("A file has at most {ROWS_MAX} rows, this one has {rows}. Split it.");
            return Err(ImportError::of_file(why));
        }
        if let Some(why) = survey.unclear {
            return Err(ImportError::of("counter", why));
        }
        if let Some(row) = survey.without_chip
            && !of_all.say_chip()
        {
            let why = format!(
                "The file has UIDs, the first one in row {row}, but does not say which chips they are. Say technology, such as ntag424dna, or url_template_id."
            );
            return Err(ImportError::of(TECHNOLOGY, why));
        }
        let rows = survey.rows_after.min(options.max_rows.unwrap_or(ROWS_MAX));
        let about_experiences = |column: &Column| {
            matches!(
                column,
                Column::Experience | Column::Tag(TagColumn::ExperienceId)
            )
        };
        let experiences = if table.columns().iter().any(about_experiences) {
            Some(Experiences::load(&service, options.unknown_experience).await?)
        } else {
            None
        };
        let about_groups =
            |column: &Column| matches!(column, Column::Group | Column::Tag(TagColumn::GroupId));
        service.storage.asks(options.asked(rows));
        let groups = if table.columns().iter().any(about_groups) {
            let groups = Groups::load(&service, options.create_groups, options.dry_run).await?;
            Some(Arc::new(groups))
        } else {
            None
        };
        let columns = Arc::clone(table.columns());
        let headings = table.headings();
        let of_tag = OfTag {
            experiences,
            groups: groups.clone(),
        };
        let fills_names = table.fills_names();
        let reader = Reader::new(columns, of_tag, of_all, options.add_variables, fills_names);
        let part = table.part(options.after_row, rows);
        let reading = Reading::start(Arc::clone(&service), part, reader, rows);
        let answer = ImportResult {
            rows,
            dry_run: options.dry_run,
            format: survey.format,
            encoding: survey.encoding,
            separator: survey.separator.map(String::from),
            ignored_columns: survey.ignored,
            notes: survey.notes,
            ..ImportResult::default()
        };
        let mut import = Import::new(service, reading, options, headings, groups);
        let first = import.next().await?;
        Ok(BegunImport {
            import,
            answer,
            first,
        })
    }
}

/// An import whose first rows were imported.
pub struct BegunImport {
    import: Import,
    answer: ImportResult,
    first: Vec<answer::RowResult>,
}

impl BegunImport {
    /// Imports the other rows, and sends the JSON of an [`ImportResult`] in pieces. If the receiver
    /// is gone, the work stops: stored rows remain. Accepted rows of an all-or-none import are
    /// stored nevertheless.
    pub async fn send(self, sender: mpsc::Sender<String>) {
        send::send(self.import, self.answer, self.first, sender).await;
    }
}

/// Chooses the mapping of the file's columns.
fn layout(options: &ImportOptions) -> Result<Layout, ImportError> {
    let map = options.map.iter().map(|text| Mapped::parse(text));
    let map = map
        .collect::<Result<Vec<_>, _>>()
        .map_err(|why| ImportError::of("map", why))?;
    if let Some(heading) = Mapped::repeated(&map) {
        let why = format!("map gives the column \"{heading}\" two meanings.");
        return Err(ImportError::of("map", why));
    }
    let mut layout = Layout {
        map,
        counter: options.counter,
        ..Layout::default()
    };
    if let Some(name) = &options.preset {
        let preset = preset::named(name).map_err(|why| ImportError::of("preset", why))?;
        layout.preset = Some(preset);
    }
    Ok(layout)
}

/// Checks the values for all rows with a UID. Returns their URL template.
async fn of_all_chips(
    service: &Service,
    options: &ImportOptions,
) -> Result<Option<Template>, ImportError> {
    let template = match options.url_template_id {
        Some(id) => {
            let found = service.storage.url_template(id).await?;
            let found = found.ok_or_else(|| {
                let why = format!("There is no URL template {id}.");
                ImportError::of("url_template_id", why)
            })?;
            Some(found.fields.template)
        }
        None => None,
    };
    if let Some(id) = options.master_key_id
        && service.storage.master_key(id).await?.is_none()
    {
        let why = format!("There is no master key {id}.");
        return Err(ImportError::of("master_key_id", why));
    }
    Ok(template)
}
