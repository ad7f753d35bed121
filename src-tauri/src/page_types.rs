//! TypeScript declarations of the types that the page's commands and events use. They are generated
//! from the Rust types with their comments, so that both sides always agree.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use ts_rs::{Config, TS, TypeVisitor};

use crate::bucket::{BucketBackup, BucketForm};
use crate::download::{DownloadOutcome, Far};
use crate::kiosk::View;
use crate::kiosk::commands::{Attract, Overview, Unlocked};
use crate::reader::board::Table;
use crate::reader::copy_check::Chip;
use crate::reader::doctor::Finding;
use crate::reader::encode::Progress;
use crate::reader::send_tap::{Destination, SentTap};
use crate::refused_form::RefusedForm;
use crate::rotation::RotationProgress;
use crate::state::ShellState;

const HEADER: &str = "\
// Made from the types of src-tauri: UPDATE_SHELL_TYPES=1 cargo test -p tapdesk --lib page_types
";

/// The declarations of the requested types and of all types that they use, by name.
struct Declarations {
    config: Config,
    by_name: BTreeMap<String, String>,
}

impl Declarations {
    fn new() -> Self {
        Self {
            // JSON has one kind of number.
            config: Config::new().with_large_int("number"),
            by_name: BTreeMap::new(),
        }
    }

    fn with<T: TS + 'static>(mut self) -> Self {
        self.visit::<T>();
        self
    }

    /// The generated module, with `imports` at its top.
    fn module(&self, imports: &str) -> String {
        let declared = self.by_name.values().map(|text| format!("\n{text}\n"));
        let text = format!("{HEADER}{imports}{}", declared.collect::<String>());
        let lines = text.lines().map(|line| format!("{}\n", line.trim_end()));
        lines.collect()
    }
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        let name = T::ident(&self.config);
        // A type without an output path is not ours: a list, a number.
        if T::output_path().is_none() || self.by_name.contains_key(&name) {
            return;
        }
        let docs = T::docs().unwrap_or_default();
        let text = format!("{docs}export {}", T::decl(&self.config));
        self.by_name.insert(name, text);
        T::visit_dependencies(self);
    }
}

/// Compares a module with the committed one, or writes it with `UPDATE_SHELL_TYPES=1`.
fn check(path: &str, present: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if env::var_os("UPDATE_SHELL_TYPES").is_some() {
        fs::write(&file, present).expect("the types can be written");
    }
    let committed = fs::read_to_string(&file).expect("the types are committed");
    assert!(
        committed == present,
        "{path} is old: run the tests once with UPDATE_SHELL_TYPES=1"
    );
}

#[test]
fn the_types_of_the_owners_page_are_the_shells() {
    let types = Declarations::new()
        .with::<ShellState>()
        .with::<RotationProgress>()
        .with::<RefusedForm>()
        .with::<BucketForm>()
        .with::<BucketBackup>()
        .with::<Far>()
        .with::<DownloadOutcome>()
        .with::<Table>()
        .with::<Destination>()
        .with::<Chip>()
        .with::<SentTap>()
        .with::<Progress>()
        .with::<Finding>()
        .with::<Overview>();
    let imports = "\nimport type { EncodingReason, EncodingState, MacFrom, Mirror, Technology } from \"../api/types\";\n";
    check("ui/src/lib/shell/types.ts", &types.module(imports));
}

#[test]
fn the_types_of_the_kiosks_page_are_the_shells() {
    let types = Declarations::new()
        .with::<Attract>()
        .with::<View>()
        .with::<Unlocked>();
    check("ui/src/kiosk/types.ts", &types.module(""));
}
