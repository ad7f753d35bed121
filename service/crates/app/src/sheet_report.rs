//! A test sheet as PDF, for the people who deliver and accept inlays.

use std::collections::BTreeMap;

use crate::studio::pictures;
use domain::id::SheetId;
use domain::plural::counted;
use domain::recorder::Recorder;
use domain::sheet::{Expected, Sheet, SheetRow, verdict_title};
use label::{Column, Figure, Lettering, PrintError, Report};
use storage::{Access, StorageError};

/// The columns, with the width of the page together.
const COLUMNS: &[Column] = &[
    column("No.", 12.0),
    column("Time (UTC)", 42.0),
    column("Verdict", 28.0),
    column("UID", 36.0),
    column("Tag", 16.0),
    column("Counter", 18.0),
    column("Reason", 55.0),
    column("By", 26.0),
    column("Reader", 28.0),
    column("Photo", 12.0),
];
/// Longest side of a photo in the file, in pixels: 240 for an inch of its place on the page.
const PHOTO_SIDE: u32 = 600;
/// Most bytes of photos in one file, which is made in memory: more than 400 photos, which have some
/// 50 KB each.
const PHOTOS_MAX: usize = 24 * 1024 * 1024;

const fn column(heading: &'static str, width_mm: f32) -> Column {
    Column { heading, width_mm }
}

/// The photos of a sheet's rows, small enough for the file.
#[derive(Debug, Default)]
pub struct SheetPhotos {
    /// A JPEG for each number of a row; `None` for a photo that cannot be read.
    shown: BTreeMap<u64, Option<Vec<u8>>>,
    /// Photos for which the file has no room.
    left_out: u64,
}

impl SheetPhotos {
    /// Reads the photos of these rows one after the other, so that only one is in memory as it is
    /// stored. A photo that cannot be read leaves the others.
    pub async fn read(
        storage: &Access,
        id: SheetId,
        rows: &[SheetRow],
    ) -> Result<Self, StorageError> {
        let mut photos = Self::default();
        let mut room = PHOTOS_MAX;
        for row in rows.iter().filter(|row| row.photo.is_some()) {
            if room == 0 {
                photos.left_out += 1;
                continue;
            }
            let number = u32::try_from(row.position).unwrap_or(u32::MAX);
            let small = match storage.sheet_photo(id, number).await? {
                Some((_, bytes)) => small(id, number, bytes).await,
                None => None,
            };
            room = room.saturating_sub(small.as_ref().map_or(0, Vec::len));
            photos.shown.insert(row.position, small);
        }
        Ok(photos)
    }

    /// A sentence about the photos; `None` if no row has one.
    fn sentence(&self) -> Option<String> {
        if self.shown.is_empty() {
            return None;
        }
        let shown = counted(self.shown.len() as u64, "row");
        let sentence = format!("The photos of {shown} are below the table.");
        if self.left_out == 0 {
            return Some(sentence);
        }
        let left_out = counted(self.left_out, "more row");
        Some(format!(
            "{sentence} The file has no room for those of {left_out}: open the sheet in Tapdesk to see them."
        ))
    }
}

/// The photo of a row for the file; `None` if it cannot be read.
async fn small(id: SheetId, row: u32, bytes: Vec<u8>) -> Option<Vec<u8>> {
    let small = pictures::thumbnail(bytes, PHOTO_SIDE).await;
    small
        .inspect_err(|error| {
            tracing::warn!(%error, sheet = id.get(), row, "the photo of a row cannot be read");
        })
        .ok()
}

/// The report on a sheet with these rows and their photos. Each row has the values that the API shows.
///
/// # Errors
///
/// [`PrintError::Failed`] if the file cannot be written.
pub fn pdf(sheet: &Sheet, rows: &[SheetRow], photos: SheetPhotos) -> Result<Vec<u8>, PrintError> {
    let mut facts = facts(sheet, rows);
    facts.extend(photos.sentence());
    facts.push(signature(sheet));
    let report = Report {
        title: sheet.fields.name.clone(),
        facts,
        columns: COLUMNS,
        rows: rows.iter().map(cells).collect(),
        figures_heading: "Photos",
        figures: figures(rows, photos.shown),
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
        photo,
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
        photo
            .as_ref()
            .map_or_else(String::new, |_| "Yes".to_owned()),
    ]
}

/// The photos with their rows, in the order of the table.
fn figures(rows: &[SheetRow], mut shown: BTreeMap<u64, Option<Vec<u8>>>) -> Vec<Figure> {
    let figure = |row: &SheetRow| {
        let picture = shown.remove(&row.position)?;
        Some(Figure {
            picture: picture.ok_or("This photo cannot be read."),
            caption: caption(row),
        })
    };
    rows.iter().filter_map(figure).collect()
}

/// The row of a photo, its inlay, and who took the photo when.
fn caption(row: &SheetRow) -> [String; 3] {
    let joined = |parts: [Option<String>; 2]| {
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        parts.join(" \u{b7} ")
    };
    let verdict = verdict_title(&row.fields.verdict).to_owned();
    let tag = row.fields.tag_id.map(|id| format!("Tag {id}"));
    let by = row.by.as_ref().map(|by| by.words().to_owned());
    [
        joined([Some(format!("Row {}", row.position)), Some(verdict)]),
        joined([tag, row.fields.uid.clone()]),
        joined([Some(row.at.to_string()), by]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::clock::Timestamp;
    use domain::sheet::{RowFields, SheetFields};

    fn row(position: u64) -> SheetRow {
        SheetRow {
            position,
            at: Timestamp::from_millis(0),
            by: None,
            photo: None,
            fields: RowFields {
                uid: Some("04DE5F1EACC040".to_owned()),
                tag_id: None,
                counter: None,
                verdict: "bad".to_owned(),
                reason: String::new(),
                reader: None,
            },
        }
    }

    #[tokio::test]
    async fn a_photo_that_is_damaged_leaves_the_others_in_the_pdf() {
        let mut png = std::io::Cursor::new(Vec::new());
        let picture = image::RgbImage::new(30, 20);
        picture.write_to(&mut png, image::ImageFormat::Png).unwrap();
        let sheet = Sheet {
            id: SheetId::new(1),
            fields: SheetFields::new("Delivery".to_owned(), None),
            expected: Expected::default(),
            row_count: 3,
            created_at: Timestamp::from_millis(0),
            closed_at: None,
            signed_off: None,
        };
        let mut photos = SheetPhotos::default();
        for (position, bytes) in [
            (1, png.into_inner()),
            (2, b"\xFF\xD8\xFF\xE0 cut".to_vec()),
            (3, b"%PDF-1.7 /JavaScript".to_vec()),
        ] {
            let number = u32::try_from(position).unwrap();
            let small = small(sheet.id, number, bytes).await;
            assert_eq!(small.is_some(), position == 1);
            photos.shown.insert(position, small);
        }
        let rows = [row(1), row(2), row(3)];
        let shown = figures(&rows, photos.shown.clone());
        let sentences: Vec<_> = shown
            .iter()
            .map(|figure| figure.picture.as_ref().err())
            .collect();
        let unreadable = Some(&"This photo cannot be read.");
        assert_eq!(sentences, [None, unreadable, unreadable]);
        let pdf = pdf(&sheet, &rows, photos).unwrap();
        let has = |part: &[u8]| pdf.windows(part.len()).any(|bytes| bytes == part);
        assert!(has(b"DCTDecode") && !has(b"JavaScript"));
    }

    #[test]
    fn a_caption_names_the_row_its_inlay_and_who_took_the_photo() {
        let mut named = row(7);
        named.by = Some(Recorder::of_actor("phone:3", Some("Anna".to_owned())));
        let expected = [
            "Row 7 \u{b7} Bad",
            "04DE5F1EACC040",
            "1970-01-01T00:00:00Z \u{b7} Anna",
        ];
        assert_eq!(caption(&named), expected);
    }

    #[test]
    fn photos_without_room_are_counted_in_a_sentence() {
        let mut photos = SheetPhotos::default();
        assert_eq!(photos.sentence(), None);
        photos.shown.insert(2, None);
        let one = "The photos of 1 row are below the table.";
        assert_eq!(photos.sentence().as_deref(), Some(one));
        photos.left_out = 2;
        let more = format!(
            "{one} The file has no room for those of 2 more rows: open the sheet in Tapdesk to see them."
        );
        assert_eq!(photos.sentence(), Some(more));
    }
}
