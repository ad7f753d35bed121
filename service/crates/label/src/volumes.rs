//! How labels are split into PDFs: one is complete in memory before it is sent, so it is bounded.

use crate::design::{Format, Ready};

impl Ready {
    /// Number of PDFs for that many labels; more than one come in a ZIP. 1 for other formats.
    pub fn files(&self, labels: u64) -> u64 {
        if self.format != Format::Pdf || labels <= self.pdf_labels_max {
            return 1;
        }
        self.file_of(labels - 1) + 1
    }

    /// The page of a label, both from 0.
    pub(crate) fn page_of(&self, number: u64) -> u64 {
        match &self.sheet {
            Some(sheet) => sheet.place(self.label_mm, number).page,
            None => number,
        }
    }

    /// The PDF of a label, both from 0, if there are several. Each but the last one ends with a full
    /// sheet, so that no labels are left over.
    pub(crate) fn file_of(&self, number: u64) -> u64 {
        let on_page = self.sheet.map_or(1, |sheet| u64::from(sheet.labels()));
        self.page_of(number) / (self.pdf_labels_max / on_page)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::design::PDF_LABELS_MAX;
    use crate::{Design, Label, Lettering, PageSize, Printer, Qr, Sheet};

    fn ready(format: Format, sheet: Option<Sheet>) -> Ready {
        let design = Design {
            format,
            label_mm: [30.0, 30.0],
            sheet,
            qr: Qr::default(),
            text: Vec::new(),
            dpi: None,
        };
        design.ready().unwrap()
    }

    fn sheet(columns: u32, rows: u32, skip: u32) -> Sheet {
        Sheet {
            page: PageSize::A4,
            columns,
            rows,
            margin_mm: [0.0, 0.0],
            gap_mm: [0.0, 0.0],
            skip,
        }
    }

    proptest! {
        #[test]
        fn no_pdf_has_too_many_labels_and_only_the_last_one_a_sheet_that_is_not_full(
            columns in 1u32..=6, rows in 1u32..=9, skip in 0u32..54, labels in 10_001u64..100_000,
        ) {
            let sheet = sheet(columns, rows, skip % (columns * rows));
            let ready = ready(Format::Pdf, Some(sheet));
            let files = ready.files(labels);
            prop_assert!(files > 1);
            let mut first = 0;
            for file in 0..files {
                let next = (first..labels).find(|number| ready.file_of(*number) > file);
                let end = next.unwrap_or(labels);
                prop_assert!(end - first <= PDF_LABELS_MAX && end > first);
                if let Some(next) = next {
                    prop_assert!(ready.page_of(next) > ready.page_of(next - 1));
                }
                first = end;
            }
            prop_assert_eq!(first, labels);
        }
    }

    #[test]
    fn labels_that_one_pdf_can_have_are_one_file() {
        let roll = ready(Format::Pdf, None);
        assert_eq!(
            [0, 1, 10_000, 10_001, 20_001].map(|labels| roll.files(labels)),
            [1, 1, 1, 2, 3]
        );
        let sheets = ready(Format::Pdf, Some(sheet(3, 7, 20)));
        assert_eq!([10_000, 10_001].map(|labels| sheets.files(labels)), [1, 2]);
        assert_eq!(ready(Format::Svg, None).files(50_000), 1);
    }

    #[test]
    fn pdfs_in_a_zip_come_one_after_the_other() {
        let mut ready = ready(Format::Pdf, Some(sheet(3, 4, 1)));
        // Two sheets of twelve labels.
        ready.pdf_labels_max = 30;
        assert_eq!(ready.files(31), 2);
        let mut printer = Printer::new(ready, Lettering::default(), 2);
        let label = |number: u64| Label {
            slug: format!("tag-{number}"),
            url: "https://tags.example.com/t/tag".to_owned(),
            texts: Vec::new(),
        };
        let labels: Vec<_> = (0..31).map(label).collect();
        let pieces = labels.chunks(10).map(|some| printer.print(some).unwrap());
        let mut pieces: Vec<_> = pieces.collect();
        pieces.push(printer.finish().unwrap());
        // One of the 24 is used, so the 23rd label ends the first PDF.
        let lengths = pieces.iter().map(Vec::is_empty);
        assert!(lengths.eq([true, true, false, true, false]));
        let has = |piece: &[u8], text: &str| {
            piece
                .windows(text.len())
                .any(|some| some == text.as_bytes())
        };
        for (piece, name) in [(&pieces[2], "labels-01.pdf"), (&pieces[4], "labels-02.pdf")] {
            assert!(has(piece, name) && has(piece, "%%EOF"), "{name}");
        }
    }
}
