//! `unlisted`: chips that are no inlays, although the keys of a URL template make their codes.

use std::io::{self, Write as _};

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use tapdesk_service::id::{ExperienceId, TagId, UrlTemplateId};
use tapdesk_service::inlay::Uid;

use super::client::Connection;

/// Chips on a page of the list: the most that the service sends.
const AT_ONCE: u32 = 500;

#[derive(Args)]
pub(super) struct Options {
    #[command(flatten)]
    connection: Connection,

    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// List the chips, the newest first.
    List {
        /// Only the chips of this URL template, by its number.
        #[arg(long, value_name = "ID")]
        url_template: Option<UrlTemplateId>,
        /// Print each chip as a line of JSON.
        #[arg(long)]
        json: bool,
    },
    /// Make a chip an inlay on a tag. Without options, a tag is created with the experience that
    /// the URL template states.
    Enrol {
        /// UID of the chip.
        uid: Uid,
        /// The existing tag for the chip, by its number.
        #[arg(long, value_name = "ID", conflicts_with = "experience")]
        tag: Option<TagId>,
        /// The experience of a new tag, by its number.
        #[arg(long, value_name = "ID")]
        experience: Option<ExperienceId>,
    },
    /// Refuse unlisted chips from now on, and delete the inlays and tags that taps created: for a
    /// leaked key.
    Revert {
        /// The URL template, by its number.
        url_template: UrlTemplateId,
        /// Start of the time of these taps, such as `2027-01-01T00:00:00Z`.
        #[arg(long, value_name = "TIME")]
        since: String,
        /// Only count the inlays and tags.
        #[arg(long)]
        dry_run: bool,
    },
}

pub(super) fn run(options: &Options) -> Result<()> {
    let service = options.connection.open()?;
    let mut out = io::stdout().lock();
    match &options.verb {
        Verb::List { url_template, json } => {
            let filter = url_template.map(|id| format!("url_template_id={id}"));
            let path = format!("/unlisted-chips?{}", filter.unwrap_or_default());
            for page in service.pages(&path, AT_ONCE) {
                for chip in page? {
                    if *json {
                        writeln!(out, "{chip}")?;
                    } else {
                        writeln!(out, "{}", line(&chip))?;
                    }
                }
            }
        }
        Verb::Enrol {
            uid,
            tag,
            experience,
        } => {
            let on = json!({"tag_id": tag, "experience_id": experience});
            let inlay = service.post(&format!("/unlisted-chips/{uid}/enrol"), &on)?;
            writeln!(
                out,
                "The chip {uid} is the inlay {} on the tag {}.",
                inlay["id"], inlay["tag_id"]
            )?;
        }
        Verb::Revert {
            url_template,
            since,
            dry_run,
        } => {
            let which = json!({"since": since, "dry_run": dry_run});
            let path = format!("/url-templates/{url_template}/unlisted/revert");
            let reverted = service.post(&path, &which)?;
            let done = if *dry_run { "Would delete" } else { "Deleted" };
            writeln!(
                out,
                "{done} {} inlays and {} tags.",
                reverted["inlays"], reverted["tags"]
            )?;
        }
    }
    Ok(())
}

fn line(chip: &Value) -> String {
    let text = |name: &str| chip[name].as_str().unwrap_or_default();
    format!(
        "{}  {}  template {}  {} taps  counter {}  last seen {}",
        text("uid"),
        text("technology"),
        chip["url_template_id"],
        chip["taps"],
        chip["last_counter"],
        text("last_seen_at"),
    )
}
