//! `demo`: tags, an experience and virtual inlays to try things with. All of it
//! is simulated, so it shows up in no live view or count.

use std::io::{self, Write};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::{Value, json};

use super::client::{Client, Connection};

#[derive(Args)]
pub(super) struct Options {
    /// Remove what was loaded.
    #[arg(long)]
    remove: bool,

    #[command(flatten)]
    connection: Connection,
}

/// A tag of the demonstration.
struct DemoTag {
    slug: &'static str,
    name: &'static str,
    sku: &'static str,
    /// How its virtual inlay shows UID and counter; `None` for a printed QR code alone.
    mirror: Option<&'static str>,
    about: &'static str,
}

const TAGS: [DemoTag; 3] = [
    DemoTag {
        slug: "demo-bottle",
        name: "Bottle (demo)",
        sku: "B-100",
        mirror: Some("encrypted"),
        about: "an inlay with the encrypted mirror",
    },
    DemoTag {
        slug: "demo-jacket",
        name: "Jacket (demo)",
        sku: "J-200",
        mirror: Some("plain"),
        about: "an inlay with the plain mirror",
    },
    DemoTag {
        slug: "demo-poster",
        name: "Poster (demo)",
        sku: "P-300",
        mirror: None,
        about: "a printed QR code alone: nothing to verify",
    },
];

pub(super) fn run(options: &Options) -> Result<()> {
    let service = options.connection.open()?;
    let mut out = io::stdout().lock();
    if options.remove {
        return remove(&service, &mut out);
    }
    let mut present = Vec::new();
    for demo in &TAGS {
        present.push(service.tag(demo.slug)?);
    }
    if present.iter().all(Option::is_some) {
        writeln!(out, "The demo data is there already.")?;
    } else {
        let known = present
            .iter()
            .flatten()
            .find_map(|tag| tag["experience_id"].as_i64());
        let experience = match known {
            Some(id) => id,
            None => create_experience(&service)?,
        };
        for (demo, _) in TAGS.iter().zip(&present).filter(|(_, tag)| tag.is_none()) {
            create_tag(&service, demo, experience)?;
        }
        writeln!(
            out,
            "Demo data is loaded: simulated tags that lead to \"Register product (demo)\"."
        )?;
    }
    for demo in &TAGS {
        writeln!(out, "  {:<12} {}", demo.slug, demo.about)?;
    }
    let (program, more) = (super::program(), options.connection.as_arguments());
    let tap = TAGS[0].slug;
    writeln!(out, "Try:")?;
    writeln!(out, "  {program} tap {tap}{more}")?;
    writeln!(
        out,
        "  {program} tap {tap} --follow --set registered=true{more}"
    )?;
    writeln!(out, "  {program} tail{more}")?;
    Ok(())
}

fn create_experience(service: &Client) -> Result<i64> {
    let experience = json!({
        "name": "Register product (demo)",
        "kind": "redirect",
        "target_url": "https://example.com/register?sn={{tag:attribute:sku}}",
    });
    service.post("/experiences", &experience)?["id"]
        .as_i64()
        .context("The service's answer names no experience.")
}

fn create_tag(service: &Client, demo: &DemoTag, experience: i64) -> Result<()> {
    let virtual_inlay = json!({
        "mirror": demo.mirror.unwrap_or("plain"),
        "tag": {
            "slug": demo.slug,
            "name": demo.name,
            "experience_id": experience,
            "attributes": {"sku": demo.sku},
            "variables": {"registered": "false"},
            "has_qr_code": demo.mirror.is_none(),
        },
    });
    let created = service.post("/simulator/inlays", &virtual_inlay)?;
    if demo.mirror.is_none() {
        // Simulated tags are made with an inlay; this one goes on without.
        service.delete(&format!("/simulator/inlays/{}", created["id"]))?;
    }
    Ok(())
}

fn remove(service: &Client, out: &mut impl Write) -> Result<()> {
    let mut experience = Value::Null;
    let mut removed = 0;
    for demo in &TAGS {
        if let Some(inlay) = service.virtual_inlay(demo.slug)? {
            service.delete(&format!("/simulator/inlays/{}", inlay["id"]))?;
        }
        let Some(tag) = service.tag(demo.slug)? else {
            continue;
        };
        experience = tag["experience_id"].clone();
        let path = format!("/tags/{}", tag["id"]);
        // A deleted tag keeps its slug, which the next demo wants again.
        service.patch(&path, &json!({"slug": null, "experience_id": null}))?;
        service.delete(&path)?;
        removed += 1;
    }
    if experience.is_i64() {
        service.delete(&format!("/experiences/{experience}"))?;
    }
    if removed == 0 {
        writeln!(out, "There is no demo data.")?;
    } else {
        writeln!(out, "The demo data is removed.")?;
    }
    Ok(())
}
