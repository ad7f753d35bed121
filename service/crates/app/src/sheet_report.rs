//! A test sheet as PDF, for the people who deliver and accept inlays.

use std::collections::BTreeMap;

use domain::plural::counted;
use domain::recorder::Recorder;
use domain::sheet::{Expected, Sheet, SheetRow, verdict_title};
use label::{Column, Lettering, PrintError, Report};

/// The columns, with the width of the page together.
const COLUMNS: &[Column] = &[
    column("No.", 12.0),
    column("Time (UTC)", 42.0),
    column("Verdict", 28.0),
    column("UID", 36.0),
    column("Tag", 16.0),
    column("Counter", 18.0),
    column("Reason", 67.0),
    column("By", 26.0),
    column("Reader", 28.0),
];

const fn column(heading: &'static str, width_mm: f32) -> Column {
    Column { heading, width_mm }
}

/// The report on a sheet with these rows. Each row has the values that the API shows.
///
/// # Errors
///
/// [`PrintError::Failed`] if the file cannot be written.
pub fn pdf(sheet: &Sheet, rows: &[SheetRow]) -> Result<Vec<u8>, PrintError> {
    let report = Report {
        title: sheet.fields.name.clone(),
        facts: facts(sheet, rows),
        columns: COLUMNS,
        rows: rows.iter().map(cells).collect(),
    };
    report.pdf(&mut Lettering::default())
}

fn facts(sheet: &Sheet, rows: &[SheetRow]) -> Vec<String> {
    let planned = sheet.fields.planned;
    let planned = planned.map_or_else(String::new, |planned| format!(" of {planned} planned"));
    // Good ones first: the whole is accepted or refused by their number.
    let mut verdicts = BTreeMap::<_, u64>::new();
    for row in rows {
        let verdict = row.fields.verdict.as_str();
        let rank = (verdict != "ok", verdict_title(verdict));
        *verdicts.entry(rank).or_default() += 1;
    }
    let verdicts = verdicts
        .iter()
        .map(|((_, title), rows)| format!("{title}: {rows}"));
    let verdicts: Vec<_> = verdicts.collect();
    vec![
        format!(
            "Created {}. {}",
            sheet.created_at,
            expected(&sheet.expected)
        ),
        format!(
            "{}{planned}. {}",
            counted(sheet.row_count, "row"),
            verdicts.join(", ")
        ),
        signature(sheet),
    ]
}

/// The expected result of every inlay, in words.
fn expected(expected: &Expected) -> String {
    let mut words = Vec::new();
    if let Some(url) = &expected.tag_url {
        words.push(format!("URLs at {url}"));
    }
    if let Some(id) = expected.experience_id {
        words.push(format!("experience {id}"));
    }
    if let Some(verified) = expected.tag_verified {
        words.push(if verified { "verified" } else { "not verified" }.to_owned());
    }
    if let Some(locked) = expected.locked {
        words.push(if locked { "locked" } else { "not locked" }.to_owned());
    }
    if words.is_empty() {
        return "Expected: any result.".to_owned();
    }
    format!("Expected: {}.", words.join(", "))
}

fn signature(sheet: &Sheet) -> String {
    let Some(signed) = &sheet.signed_off else {
        return "Not signed off.".to_owned();
    };
    let by = signed.by.as_ref().map_or("the service", Recorder::words);
    format!(
        "Signed off by {} at {}, from {by}.",
        signed.signer, signed.at
    )
}

fn cells(row: &SheetRow) -> Vec<String> {
    let SheetRow {
        position,
        at,
        by,
        photo: _,
        fields,
    } = row;
    vec![
        position.to_string(),
        at.to_string(),
        verdict_title(&fields.verdict).to_owned(),
        fields.uid.clone().unwrap_or_default(),
        fields.tag_id.map_or_else(String::new, |id| id.to_string()),
        fields
            .counter
            .map_or_else(String::new, |counter| counter.to_string()),
        fields.reason.clone(),
        by.as_ref()
            .map_or_else(String::new, |by| by.words().to_owned()),
        fields.reader.clone().unwrap_or_default(),
    ]
}
