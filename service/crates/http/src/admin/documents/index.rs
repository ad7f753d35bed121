//! `llms.txt`, made from the list of the documents.

use std::fmt::Write as _;

use super::links::{self, Target};

/// The beginning of the index.
const ABOUT: &str = "# Tapdesk

> Tapdesk verifies taps of NFC tags and visits of QR codes, records them, and opens the owner's page with a rolling key that
> the page trades for the verdict. It is an HTTP service with an admin API (JSON) under /admin/v1.

These are the documents of the version that answers. Its API is described at /openapi.json.
";

/// The index: each heading of the list with its links, and for whom each is.
pub(super) fn llms(list: &str) -> String {
    let mut index = ABOUT.to_owned();
    for line in list.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            // Writing to a text never fails.
            let _ = write!(index, "\n## {heading}\n\n");
        } else if let Some((links, readers)) = row(line) {
            for (name, target) in links {
                let _ = writeln!(index, "- [{name}]({target}): for {readers}");
            }
        }
    }
    index
}

/// The served links of a row of a table, and the cell after them.
fn row(line: &str) -> Option<(Vec<(&str, String)>, &str)> {
    let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
    let (links, readers) = cells.split_once(" | ")?;
    let links = links.split('[').skip(1).filter_map(|link| {
        let (name, rest) = link.split_once("](")?;
        let (target, _) = rest.split_once(')')?;
        match links::target("README.md", target) {
            Target::Served(path) => Some((name, path)),
            Target::Outside(_) | Target::Kept => None,
        }
    });
    Some((links.collect(), readers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_becomes_a_line_for_each_link_that_is_served() {
        let list = "# The documents\n\n## Start\n\n| Page | For |\n|---|---|\n\
            | [The tour](start/tour.md), [options](reference/options.md#x) | developers |\n\
            | [openapi.json](../openapi.json) | programs |\n\
            | [The screens](../../ui/README.md) | others |\n";
        let index = llms(list);
        let (about, sections) = index.split_once("\n## ").unwrap();
        assert_eq!(about, ABOUT);
        assert_eq!(
            sections,
            "Start\n\n- [The tour](/docs/start/tour.md): for developers\n\
             - [options](/docs/reference/options.md#x): for developers\n\
             - [openapi.json](/openapi.json): for programs\n"
        );
    }
}
