//! Sheets of labels: the places of labels on pages. All lengths are in millimetres.

use serde::Deserialize;
use utoipa::ToSchema;

use domain::field_error::FieldError;

/// Most columns, and most rows, of a sheet: the smallest labels on the market have 13 x 27.
const CELLS_MAX: u32 = 50;
/// Tolerance of the sums of lengths, which have at most two decimals.
const TOLERANCE_MM: f64 = 0.01;

/// A sheet of paper with labels in columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LabelSheet)]
pub struct Sheet {
    /// Size of the paper.
    pub page: PageSize,
    /// Number of labels in a row.
    #[schema(minimum = 1, maximum = 50)]
    pub columns: u32,
    /// Number of labels in a column.
    #[schema(minimum = 1, maximum = 50)]
    pub rows: u32,
    /// Distances from the left and the upper edge of the paper to the first label.
    #[serde(default)]
    #[schema(required = false)]
    pub margin_mm: [f64; 2],
    /// Distances between two labels: from left to right, and from top to bottom.
    #[serde(default)]
    #[schema(required = false)]
    pub gap_mm: [f64; 2],
    /// Number of labels that are already used on the first sheet.
    #[serde(default)]
    #[schema(required = false)]
    pub skip: u32,
}

/// A size of paper, upright.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = LabelPage)]
pub enum PageSize {
    /// 210 x 297 mm.
    A4,
    /// 215.9 x 279.4 mm.
    Letter,
}

/// The place of a label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The page, from 0.
    pub page: u64,
    /// Distances from the left and the upper edge of the page, in millimetres.
    pub at_mm: [f64; 2],
}

impl PageSize {
    /// Width and height in millimetres.
    pub const fn mm(self) -> [f64; 2] {
        match self {
            Self::A4 => [210.0, 297.0],
            Self::Letter => [215.9, 279.4],
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::A4 => "A4",
            Self::Letter => "Letter",
        }
    }
}

impl Sheet {
    /// Number of labels on a full sheet.
    pub const fn labels(&self) -> u32 {
        self.columns * self.rows
    }

    /// Refuses a sheet whose labels do not fit on its page.
    pub(crate) fn check(&self, label_mm: [f64; 2]) -> Result<(), FieldError> {
        for (name, cells) in [("columns", self.columns), ("rows", self.rows)] {
            if !(1..=CELLS_MAX).contains(&cells) {
                let why = format!("A sheet has 1 to {CELLS_MAX} {name}.");
                return Err(FieldError::of(format!("sheet.{name}"), why));
            }
        }
        let lengths = [
            ("margin_mm", self.margin_mm, "Margins are 0 to 300 mm."),
            (
                "gap_mm",
                self.gap_mm,
                "Gaps are 0 to 300 mm: labels cannot overlap.",
            ),
        ];
        for (name, lengths, why) in lengths {
            if !lengths.iter().all(|mm| (0.0..=300.0).contains(mm)) {
                return Err(FieldError::of(format!("sheet.{name}"), why));
            }
        }
        let page = self.page.mm();
        let sides = [("wide", self.columns), ("high", self.rows)];
        for (side, (word, cells)) in sides.into_iter().enumerate() {
            let needed = self.offset_mm(side, label_mm, cells - 1) + label_mm[side];
            if needed > page[side] + TOLERANCE_MM {
                let name = ["columns", "rows"][side];
                let why = format!(
                    "{cells} {name} of these labels need {needed:.1} mm, but {} is {} mm {word}. Use \
                     smaller labels, a smaller margin or fewer {name}.",
                    self.page.name(),
                    page[side],
                );
                return Err(FieldError::of(format!("sheet.{name}"), why));
            }
        }
        if self.skip >= self.labels() {
            let why = format!(
                "A sheet has {} labels, so at most {} of them are used already.",
                self.labels(),
                self.labels() - 1
            );
            return Err(FieldError::of("sheet.skip", why));
        }
        Ok(())
    }

    /// The place of a label, from 0, by rows.
    pub fn place(&self, label_mm: [f64; 2], number: u64) -> Place {
        let number = number + u64::from(self.skip);
        let labels = u64::from(self.labels());
        let on_page = u32::try_from(number % labels).unwrap_or(0);
        let (column, row) = (on_page % self.columns, on_page / self.columns);
        Place {
            page: number / labels,
            at_mm: [
                self.offset_mm(0, label_mm, column),
                self.offset_mm(1, label_mm, row),
            ],
        }
    }

    /// Distance from the edge of the page to a column (`side` 0) or a row (`side` 1).
    fn offset_mm(&self, side: usize, label_mm: [f64; 2], cell: u32) -> f64 {
        self.margin_mm[side] + f64::from(cell) * (label_mm[side] + self.gap_mm[side])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sheets() -> impl Strategy<Value = (Sheet, [f64; 2])> {
        let page = prop_oneof![Just(PageSize::A4), Just(PageSize::Letter)];
        let mm = |max: u32| (0..max * 10).prop_map(|tenths| f64::from(tenths) / 10.0);
        let cells = (page, 1u32..6, 1u32..9, 0u32..48);
        let lengths = (mm(15), mm(15), mm(5), mm(5), mm(33), mm(33));
        (cells, lengths).prop_map(|((page, columns, rows, skip), (x, y, right, down, w, h))| {
            let sheet = Sheet {
                page,
                columns,
                rows,
                margin_mm: [x, y],
                gap_mm: [right, down],
                skip: skip % (columns * rows),
            };
            (sheet, [w, h])
        })
    }

    proptest! {
        #[test]
        fn labels_never_overlap_and_never_leave_the_page((sheet, label) in sheets(), first in 0u64..5000) {
            prop_assume!(sheet.check(label).is_ok() && label[0] > 0.0 && label[1] > 0.0);
            let count = u64::from(sheet.labels()) * 2;
            let places: Vec<_> = (first..first + count).map(|number| sheet.place(label, number)).collect();
            for (number, place) in places.iter().enumerate() {
                let page = sheet.page.mm();
                for side in 0..2 {
                    prop_assert!(place.at_mm[side] >= 0.0);
                    prop_assert!(place.at_mm[side] + label[side] <= page[side] + TOLERANCE_MM);
                }
                for other in &places[number + 1..] {
                    let apart = (0..2).any(|side| {
                        (place.at_mm[side] - other.at_mm[side]).abs() >= label[side] - 1e-6
                    });
                    prop_assert!(place.page != other.page || apart);
                }
            }
        }

        #[test]
        fn used_labels_stay_free((sheet, label) in sheets()) {
            prop_assume!(sheet.check(label).is_ok());
            let whole = Sheet { skip: 0, ..sheet };
            let first = sheet.place(label, 0);
            prop_assert_eq!(first, whole.place(label, u64::from(sheet.skip)));
            prop_assert_eq!(first.page, 0);
        }
    }

    #[test]
    fn labels_that_do_not_fit_are_refused_in_words() {
        let sheet = Sheet {
            page: PageSize::A4,
            columns: 3,
            rows: 8,
            margin_mm: [0.0, 0.0],
            gap_mm: [0.0, 0.0],
            skip: 0,
        };
        assert!(sheet.check([70.0, 37.0]).is_ok());
        let refused = sheet.check([70.1, 37.0]).unwrap_err();
        assert_eq!(refused.field.as_deref(), Some("sheet.columns"));
        assert!(refused.message.contains("210.3 mm"), "{refused}");
        let skip = Sheet { skip: 24, ..sheet };
        assert!(skip.check([70.0, 37.0]).is_err());
        let nan = Sheet {
            margin_mm: [f64::NAN, 0.0],
            ..sheet
        };
        assert!(nan.check([70.0, 37.0]).is_err());
    }
}
