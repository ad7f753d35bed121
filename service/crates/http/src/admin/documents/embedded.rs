//! The documents, as this version of the service has them.

/// A document of the service.
pub(super) struct Document {
    /// Its path in the folder of the documents.
    pub(super) path: &'static str,
    /// Its text in Markdown, as the repository has it.
    pub(super) text: &'static str,
}

/// Documents by their paths.
macro_rules! documents {
    ($($path:literal,)*) => {
        &[$(Document {
            path: $path,
            text: include_str!(concat!("../../../../../docs/", $path)),
        },)*]
    };
}

/// All documents, in the order of their paths.
pub(super) const DOCUMENTS: &[Document] = documents![
    "README.md",
    "explanation/architecture.md",
    "explanation/security.md",
    "explanation/speed.md",
    "explanation/testing.md",
    "guides/api.md",
    "guides/api/changes.md",
    "guides/api/clocks.md",
    "guides/api/events.md",
    "guides/api/lists.md",
    "guides/api/local.md",
    "guides/api/problems.md",
    "guides/api/repeats.md",
    "guides/api/tokens.md",
    "guides/api/webhooks.md",
    "guides/conformance.md",
    "guides/desktop.md",
    "guides/encoding.md",
    "guides/examples.md",
    "guides/field-jobs.md",
    "guides/kiosk-machine.md",
    "guides/kiosk.md",
    "guides/labels.md",
    "guides/local-development.md",
    "guides/moving.md",
    "guides/moving/bluebite.md",
    "guides/moving/boltcard.md",
    "guides/moving/gototags.md",
    "guides/moving/ixkio.md",
    "guides/moving/own-list.md",
    "guides/moving/sdm-backend.md",
    "guides/one-server.md",
    "guides/operating.md",
    "guides/packages.md",
    "guides/page-kit.md",
    "guides/privacy-text.md",
    "guides/products.md",
    "guides/reader.md",
    "guides/staff-phones.md",
    "guides/studio.md",
    "guides/tables.md",
    "reference/commands.md",
    "reference/decisions/README.md",
    "reference/decisions/addresses.md",
    "reference/decisions/certificates.md",
    "reference/decisions/database.md",
    "reference/decisions/editing.md",
    "reference/decisions/encoding-keys.md",
    "reference/decisions/encoding-runs.md",
    "reference/decisions/finding.md",
    "reference/decisions/groups.md",
    "reference/decisions/inlays.md",
    "reference/decisions/labels.md",
    "reference/decisions/limits.md",
    "reference/decisions/macros.md",
    "reference/decisions/notifications.md",
    "reference/decisions/page-kit.md",
    "reference/decisions/payload.md",
    "reference/decisions/plain-pages.md",
    "reference/decisions/reader.md",
    "reference/decisions/redirects.md",
    "reference/decisions/reports.md",
    "reference/decisions/rolling-key.md",
    "reference/decisions/simulation.md",
    "reference/decisions/staff-phones.md",
    "reference/decisions/studio.md",
    "reference/decisions/submissions.md",
    "reference/decisions/tables.md",
    "reference/decisions/tap.md",
    "reference/decisions/tokens.md",
    "reference/decisions/update.md",
    "reference/decisions/url-templates.md",
    "reference/decisions/webhooks.md",
    "reference/glossary.md",
    "reference/metrics.md",
    "reference/options.md",
    "reference/specification.md",
    "start/first-chips.md",
    "start/tour.md",
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Collects the paths of the Markdown files below `folder`.
    fn collect(root: &Path, folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(root, &path, found);
            } else if path.extension().is_some_and(|is| is == "md") {
                let path = path.strip_prefix(root).unwrap();
                found.push(path.to_str().unwrap().to_owned());
            }
        }
    }

    #[test]
    fn the_list_has_each_document_of_the_folder() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let mut found = Vec::new();
        collect(&root, &root, &mut found);
        found.sort();
        let listed: Vec<_> = DOCUMENTS.iter().map(|document| document.path).collect();
        assert_eq!(listed, found);
    }
}
