//! `labels`: prints labels with QR codes to a file.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use tapdesk_service::client::{Download, Error};
use tapdesk_service::id::{EncodingRunId, TagId};

use super::client::Connection;
use super::download::receive;

#[derive(Args)]
pub(super) struct Options {
    /// The file to create, or `-` for stdout. An existing file is not overwritten.
    file: PathBuf,

    /// File format; png and svg are ZIP files, and so are more than 10,000 labels as pdf.
    #[arg(long, value_enum, default_value_t = Format::Pdf)]
    format: Format,

    /// Width and height of a label, in millimetres.
    #[arg(long, value_name = "WxH", default_value = "50x30", value_parser = pair)]
    label_mm: [f64; 2],

    /// Ids of tags, separated by commas; 41-60 for all from 41 to 60.
    #[arg(long, value_name = "IDS", conflicts_with_all = ["run_id", "filter"])]
    ids: Option<String>,

    /// The encoding run whose verified chips get labels.
    #[arg(long, value_name = "ID", conflicts_with = "filter")]
    run_id: Option<EncodingRunId>,

    /// A filter of the list of tags, such as `experience_id=7` or `attribute.lot=L03`. Without any,
    /// all tags.
    #[arg(long, value_name = "NAME=VALUE", value_parser = filter)]
    filter: Vec<(String, Value)>,

    /// The paper of a sheet. Without it, each label is a page.
    #[arg(long, value_enum, requires_all = ["columns", "rows"])]
    page: Option<Page>,

    /// Number of labels in a row of a sheet.
    #[arg(long, requires = "page")]
    columns: Option<u32>,

    /// Number of labels in a column of a sheet.
    #[arg(long, requires = "page")]
    rows: Option<u32>,

    /// Distances from the left and the upper edge of the paper, in millimetres.
    #[arg(long, value_name = "XxY", default_value = "0x0", value_parser = pair, requires = "page")]
    margin_mm: [f64; 2],

    /// Distances between labels, in millimetres.
    #[arg(long, value_name = "XxY", default_value = "0x0", value_parser = pair, requires = "page")]
    gap_mm: [f64; 2],

    /// Number of labels that are used already on the first sheet.
    #[arg(long, value_name = "NUMBER", default_value_t = 0, requires = "page")]
    skip: u32,

    /// Error level of the codes. Default: M; H with a logo.
    #[arg(long, value_name = "L|M|Q|H")]
    level: Option<String>,

    /// Colour of codes and text, as #rrggbb.
    #[arg(long, value_name = "COLOUR", default_value = "#000000")]
    colour: String,

    /// Write URLs in capitals, for smaller codes.
    #[arg(long)]
    capitals: bool,

    /// A picture for the middle of each code.
    #[arg(long, value_name = "FILE")]
    logo: Option<PathBuf>,

    /// A line of text with macros, such as {{tag:name}}. Repeat it for more lines.
    #[arg(long, value_name = "TEXT")]
    text: Vec<String>,

    /// Resolution of png (default: 300) and zpl (default: 203).
    #[arg(long, value_name = "203|300|600")]
    dpi: Option<u32>,

    /// Print the labels although nobody has checked that phones reach the address in their codes.
    #[arg(long)]
    allow_unproved_address: bool,

    #[command(flatten)]
    connection: Connection,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Pdf,
    Png,
    Svg,
    Zpl,
    Csv,
}

#[derive(Clone, Copy, ValueEnum)]
enum Page {
    A4,
    Letter,
}

/// The name of a value on the command line, which is that of the API.
fn name(value: &impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Two lengths, such as `50x30`.
fn pair(text: &str) -> Result<[f64; 2], &'static str> {
    let why = "two lengths in millimetres are written as 50x30";
    let (width, height) = text.split_once('x').ok_or(why)?;
    let length = |text: &str| text.trim().parse::<f64>().map_err(|_| why);
    Ok([length(width)?, length(height)?])
}

/// A filter; numbers and truth values are sent as such.
fn filter(text: &str) -> Result<(String, Value), &'static str> {
    let (name, value) = text.split_once('=').ok_or("a filter is NAME=VALUE")?;
    let is_text = matches!(name, "q" | "status" | "simulated") || name.starts_with("attribute.");
    let parsed = serde_json::from_str(value).ok().filter(|_| !is_text);
    Ok((name.to_owned(), parsed.unwrap_or_else(|| value.into())))
}

/// The filter as the body of a request has it: with the values of each attribute in a list.
fn members(filter: &[(String, Value)]) -> Map<String, Value> {
    let (mut members, mut attributes) = (Map::new(), Map::new());
    for (name, value) in filter {
        let Some(key) = name.strip_prefix("attribute.") else {
            members.insert(name.clone(), value.clone());
            continue;
        };
        let values = attributes.entry(key).or_insert_with(|| json!([]));
        if let Some(values) = values.as_array_mut() {
            values.push(value.clone());
        }
    }
    if !attributes.is_empty() {
        members.insert("attributes".to_owned(), attributes.into());
    }
    members
}

/// Ids, and ranges of ids.
fn ids(text: &str) -> Result<Value> {
    let id = |text: &str| {
        let id = text.trim().parse::<TagId>();
        id.map_err(|_| anyhow!("--ids has numbers, separated by commas, or ranges such as 41-60."))
    };
    let parts = text.split(',').map(|part| match part.split_once('-') {
        Some((first, last)) => Ok(json!([id(first)?, id(last)?])),
        None => Ok(json!(id(part)?)),
    });
    parts.collect()
}

/// A refusal in the words of the command: the service names the member of a request.
fn as_of_command(error: Error) -> anyhow::Error {
    match &error {
        Error::Refused { message, problem }
            if problem.code.as_deref() == Some("address_not_proved") =>
        {
            let member = "send \"allow_unproved_address\": true";
            anyhow!(message.replace(member, "give --allow-unproved-address"))
        }
        _ => error.into(),
    }
}

pub(super) fn run(options: &Options) -> Result<()> {
    let body = options.body()?;
    let service = options.connection.open()?;
    let path = "/labels";
    let file = &options.file;
    if file == Path::new("-") {
        let answer = service.submit(path, &body).map_err(as_of_command)?;
        let answer = answer.into_body();
        let mut content = answer.into_with_config().limit(u64::MAX).reader();
        io::copy(&mut content, &mut io::stdout().lock())?;
        return Ok(());
    }
    let mut download = Download::create(file, path.to_owned())?;
    let answer = service.submit(path, &body).map_err(as_of_command)?;
    let header = |name: &str| answer.headers().get(name)?.to_str().ok();
    let total = header("tapdesk-total").unwrap_or("the").to_owned();
    let is_named_pdf = file
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("pdf"));
    if is_named_pdf && header("content-type") == Some("application/zip") {
        bail!("{total} labels are a ZIP of PDFs. Give a file name that ends with .zip.");
    }
    receive(&mut download, answer.into_body(), file)?;
    let bytes = download.finish()?;
    let file = file.display();
    writeln!(io::stdout(), "{file} has {total} labels: {bytes} bytes.")?;
    Ok(())
}

impl Options {
    /// The body of the request.
    fn body(&self) -> Result<Value> {
        let select = match (&self.ids, self.run_id) {
            (Some(text), _) => json!({"ids": ids(text)?}),
            (None, Some(id)) => json!({"run_id": id}),
            (None, None) => {
                json!({"filter": members(&self.filter)})
            }
        };
        let sheet = match (self.page, self.columns, self.rows) {
            (None, ..) => Value::Null,
            (Some(page), Some(columns), Some(rows)) => json!({
                "page": name(&page), "columns": columns, "rows": rows,
                "margin_mm": self.margin_mm, "gap_mm": self.gap_mm, "skip": self.skip,
            }),
            (Some(_), ..) => bail!("A sheet needs --columns and --rows."),
        };
        let logo = match &self.logo {
            None => Value::Null,
            Some(file) => {
                let unreadable = || format!("{} cannot be read", file.display());
                let bytes = std::fs::read(file).with_context(unreadable)?;
                json!({"image": BASE64_STANDARD.encode(bytes)})
            }
        };
        Ok(json!({
            "select": select,
            "format": name(&self.format),
            "label_mm": self.label_mm,
            "sheet": sheet,
            "qr": {"level": self.level, "colour": self.colour, "capitals": self.capitals, "logo": logo},
            "text": self.text,
            "dpi": self.dpi,
            "allow_unproved_address": self.allow_unproved_address,
        }))
    }
}
