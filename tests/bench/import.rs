//! An import of a million tags with their inlays, into an empty service.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use reqwest::Method;
use rust_xlsxwriter::Workbook;
use tapdesk_tests::Client;
use tapdesk_tests::service::ADMIN_TOKEN;

use crate::fixture::{Fixture, slug, uid};
use crate::server::Server;

/// Number of rows, the most that one file may have.
const ROWS: u32 = 1_000_000;

/// The cost of an import.
pub(crate) struct Import {
    pub(crate) rows: u32,
    pub(crate) elapsed: Duration,
    /// Peak memory of the service, in bytes. The CSV file has a tenth of a gigabyte.
    pub(crate) peak: u64,
}

/// The kind of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Csv,
    Xlsx,
}

/// The columns of the file.
const HEADER: [&str; 8] = [
    "slug",
    "name",
    "variable:registered",
    "variable:owner",
    "uid",
    "technology",
    "mirror",
    "file_key",
];

/// The cells of a row.
fn row(id: u32) -> [String; 8] {
    let key = format!("{:032X}", u128::from(id) << 64 | 0x5a);
    [
        slug(id),
        format!("Bottle {id}"),
        "false".to_owned(),
        String::new(),
        uid(id).to_string(),
        "ntag424dna".to_owned(),
        "plain".to_owned(),
        key,
    ]
}

fn csv() -> Result<Vec<u8>> {
    let mut file = HEADER.join(",") + "\n";
    for id in 1..=ROWS {
        writeln!(file, "{}", row(id).join(","))?;
    }
    Ok(file.into_bytes())
}

fn xlsx() -> Result<Vec<u8>> {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet_with_constant_memory()?;
    sheet.write_row(0, 0, HEADER)?;
    for id in 1..=ROWS {
        sheet.write_row(id, 0, row(id))?;
    }
    Ok(book.save_to_buffer()?)
}

/// Imports once, because it takes long enough to be steady.
pub(crate) async fn million(kind: Kind) -> Result<Import> {
    let fixture = Fixture::sqlite(0).await?;
    let server = Server::service(&fixture)?;
    let file = match kind {
        Kind::Csv => csv()?,
        Kind::Xlsx => xlsx()?,
    };
    let client = Client::new(format!("http://{}", server.address), ADMIN_TOKEN);
    let request = client.admin_request(Method::POST, "/tags/import");
    let request = request.body(file);
    let started = Instant::now();
    let mut answer = request.send().await?;
    // Results arrive line by line, with the sums at the end.
    let mut tail = String::new();
    while let Some(chunk) = answer.chunk().await? {
        tail.push_str(&String::from_utf8_lossy(&chunk));
        let mut from = tail.len().saturating_sub(4_096);
        while !tail.is_char_boundary(from) {
            from -= 1;
        }
        tail.drain(..from);
    }
    let elapsed = started.elapsed();
    ensure!(
        tail.contains(&format!("\"created\":{ROWS}")),
        "every row is a tag: {tail}"
    );
    Ok(Import {
        rows: ROWS,
        elapsed,
        peak: server.peak_memory()?,
    })
}
