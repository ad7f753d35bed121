//! Tests of the command line and its documentation: the table of options is generated from the
//! definition, and every command in a document must parse.

use std::path::{Path, PathBuf};

use clap::builder::StyledStr;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command, CommandFactory as _};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use tapdesk_service::settings::Settings;

use super::Cli;

/// The document that contains the table.
const OPTIONS: &str = "service/docs/reference/options.md";
/// The marks around the table.
const BEGIN: &str = "<!-- Generated from the command line: UPDATE_OPTIONS=1 cargo test -p tapdesk-service --bin tapdesk-service -->\n";
const END: &str = "<!-- End of the generated part. -->\n";

/// Parse errors of commands that ask for help, and of commands that a sentence only names, such as
/// `tapdesk-service backup`.
const ONLY_NAMED: [ErrorKind; 4] = [
    ErrorKind::DisplayHelp,
    ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
    ErrorKind::MissingRequiredArgument,
    ErrorKind::MissingSubcommand,
];

/// The definition, with the global options in each command.
fn definition() -> Command {
    let mut command = Cli::command();
    command.build();
    command
}

/// The options of `serve`, in one table per heading.
fn tables() -> String {
    let definition = definition();
    let serve = definition.find_subcommand("serve").expect("a command");
    let options: Vec<&Arg> = serve
        .get_arguments()
        .filter(|option| option.get_env().is_some() && !option.is_hide_set())
        .collect();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for option in &options {
        if !headings.contains(&option.get_help_heading()) {
            headings.push(option.get_help_heading());
        }
    }
    let mut text = String::new();
    for heading in headings {
        if let Some(heading) = heading {
            text.extend(["\n**", heading, "**\n"]);
        }
        text += "\n| Option | Variable | Meaning | Default |\n|---|---|---|---|\n";
        for option in &options {
            if option.get_help_heading() == heading {
                text += &row(option);
            }
        }
    }
    text + "\n"
}

fn row(option: &Arg) -> String {
    let long = option.get_long().expect("a long name");
    let takes_value = matches!(option.get_action(), ArgAction::Set | ArgAction::Append);
    let value = option.get_value_names().unwrap_or_default().first();
    let value = value.filter(|_| takes_value);
    let value = value.map_or_else(String::new, |name| format!(" {}", name.replace('|', "\\|")));
    let variable = option.get_env().expect("a variable").to_string_lossy();
    let help = option.get_help().map(StyledStr::to_string);
    let help = help.unwrap_or_else(|| panic!("--{long} has no help"));
    let (meaning, default) = match help.split_once(". Default: ") {
        Some((meaning, default)) => (meaning, default.to_owned()),
        None if !takes_value => (&*help, "off".to_owned()),
        None => (&*help, given(option)),
    };
    format!("| `--{long}{value}` | `{variable}` | {meaning} | {default} |\n")
}

/// The default value in the definition.
fn given(option: &Arg) -> String {
    match option.get_default_values() {
        [] => "none".to_owned(),
        values => format!("`{}`", values[0].to_string_lossy()),
    }
}

/// With `UPDATE_OPTIONS=1`, writes the tables instead of comparing them.
#[test]
fn the_table_of_options_is_the_present_one() {
    let path = root().join(OPTIONS);
    let text = std::fs::read_to_string(&path).expect("the document can be read");
    let (before, rest) = text.split_once(BEGIN).expect("the tables begin");
    let (committed, after) = rest.split_once(END).expect("the tables end");
    let present = tables();
    if std::env::var_os("UPDATE_OPTIONS").is_some() {
        let text = [before, BEGIN, &present, END, after].concat();
        std::fs::write(&path, text).expect("the document can be written");
        return;
    }
    assert!(
        committed == present,
        "the tables in {OPTIONS} are old: run this test once with UPDATE_OPTIONS=1"
    );
}

#[test]
fn a_default_in_the_help_is_the_one_of_the_settings() {
    let settings = Settings::default();
    let limit = settings.rate_limit.expect("a limit by default");
    let tables = tables();
    for (option, default) in [
        ("app-id", format!("`{}`", settings.app_id)),
        (
            "retention-months",
            format!("`{}`", settings.retention_months),
        ),
        ("audit-months", format!("`{}`", settings.audit_months)),
        (
            "submission-months",
            format!("`{}`", settings.submission_months),
        ),
        (
            "disk-low-mebibytes",
            format!("`{}`", settings.disk_low_mebibytes),
        ),
        ("rate-limit", format!("`{limit}`")),
        ("simulated-targets", "`stand_in`".to_owned()),
        ("default-country", "empty".to_owned()),
        ("country-header", "none".to_owned()),
        ("trusted-proxies", "none".to_owned()),
        ("hosts", "none".to_owned()),
    ] {
        let row = tables
            .lines()
            .find(|line| line.contains(&format!("`--{option} ")));
        let row = row.unwrap_or_else(|| panic!("--{option} has no row"));
        assert!(row.ends_with(&format!("| {default} |")), "{row}");
    }
    let json = serde_json::to_value(settings.simulated_targets).expect("a name");
    assert_eq!(json, "stand_in");
    assert_eq!(settings.default_country, "");
    assert_eq!(settings.country_header, None);
    assert!(settings.trusted_proxies.is_empty() && settings.hosts.is_empty());
}

#[test]
fn every_command_in_the_documents_is_one_that_parses() {
    let mut seen = 0;
    for (document, code) in code_in_documents() {
        for command in commands(&code) {
            seen += 1;
            // A variable of the shell can stand for a number.
            let words = command.split_whitespace().filter(|word| *word != r#""$@""#);
            let words = words.map(|word| if word.starts_with(r#""$"#) { "1" } else { word });
            let parsed = definition().try_get_matches_from(words);
            if let Err(error) = parsed
                && !ONLY_NAMED.contains(&error.kind())
            {
                panic!("{document}: `{command}` is no command: {error}");
            }
        }
    }
    assert!(seen > 20, "only {seen} commands were found");
}

#[test]
fn every_option_in_the_documents_exists() {
    let definition = definition();
    let known: Vec<&str> = with_subcommands(&definition)
        .into_iter()
        .flat_map(Command::get_arguments)
        .filter_map(Arg::get_long)
        .collect();
    let mut seen = 0;
    for (document, code) in code_in_documents() {
        let Some(option) = code.strip_prefix("--") else {
            continue;
        };
        seen += 1;
        let name = option.split([' ', '=', '\n']).next().unwrap_or_default();
        assert!(known.contains(&name), "{document}: no command has --{name}");
    }
    assert!(seen > 20, "only {seen} options were found");
}

/// A command and all its subcommands.
fn with_subcommands(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().flat_map(with_subcommands);
    std::iter::once(command).chain(below).collect()
}

/// The commands of this program in a piece of code, without shell syntax. Documents do not quote
/// words.
fn commands(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| {
        let at = ["tapdesk-service ", "$tapdesk "].map(|name| line.find(name));
        let (before, command) = line.split_at(at.into_iter().flatten().min()?);
        // Here the word is the name of a cargo package.
        let is_ours = !before.ends_with("-p ") && !before.ends_with("--bin ");
        let command = is_ours.then_some(command)?;
        Some(command.split(['|', '>', '#', ')', '&', ';']).next()?.trim())
    })
}

/// All pieces of code in the documents, each with the name of its document.
fn code_in_documents() -> Vec<(String, String)> {
    let mut documents = vec!["README.md".to_owned()];
    documents.extend(
        ["service/docs", "service/deploy"]
            .into_iter()
            .flat_map(markdown),
    );
    let code = documents.into_iter().flat_map(|name| {
        let text = std::fs::read_to_string(root().join(&name)).expect("the document can be read");
        code(&text)
            .into_iter()
            .map(move |code| (name.clone(), code))
    });
    code.collect()
}

/// The Markdown files in a folder and in those below it, as paths from the root of the repository.
fn markdown(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root().join(folder)).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name();
        let path = format!("{folder}/{}", name.to_str().expect("a plain name"));
        if entry.file_type().expect("a type").is_dir() {
            found.extend(markdown(&path));
        } else if Path::new(&name).extension().is_some_and(|is| is == "md") {
            found.push(path);
        }
    }
    found
}

fn code(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut block = None;
    for event in Parser::new(text) {
        match event {
            Event::Code(code) => found.push(code.into_string()),
            Event::Start(Tag::CodeBlock(_)) => block = Some(String::new()),
            Event::Text(text) => {
                if let Some(block) = &mut block {
                    block.push_str(&text);
                }
            }
            Event::End(TagEnd::CodeBlock) => found.extend(block.take()),
            _ => {}
        }
    }
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
