//! A person's way through *Move in*, from the former service to the first tap.

use std::cell::Cell;
use std::fs;

use serde_json::{Value, json};
use tapdesk_tests::{Answering as _, Client};

use super::published::{Move, Reel, Tap};
use crate::reader::go;
use crate::window::{Desk, Window};

/// A window on *Move in*.
pub(super) struct Wizard<'a> {
    desk: &'a Desk,
    window: &'a Window,
    /// The service that the window shows.
    service: &'a Client,
    /// Whether the window asks before the next change. It asks once for a remote service.
    asks: Cell<bool>,
}

impl<'a> Wizard<'a> {
    pub(super) fn new(
        desk: &'a Desk,
        window: &'a Window,
        service: &'a Client,
        is_remote: bool,
    ) -> Self {
        let asks = Cell::new(is_remote);
        Self {
            desk,
            window,
            service,
            asks,
        }
    }

    /// Moves in up to the last step, taps at the old address, and asserts each verdict.
    pub(super) async fn move_in(&self, one: &Move) {
        println!("{}", one.name);
        let window = self.window;
        go(window, "Tags").await;
        window.click_named("Move in").await;
        let service = &one.service;
        window
            .press(&format!(
                "//button[.//strong[normalize-space()='{service}']]"
            ))
            .await;
        self.find_reels(&one.host, &one.reels).await;
        self.import_tables(&one.reels).await;
        self.choose_for_unlisted(&one.reels).await;
        self.tap(one).await;
        window.click_named("Finish").await;
    }

    async fn at(&self, step: &str) {
        self.window
            .see(&format!("//a[@aria-current='step'][contains(., '{step}')]"))
            .await;
    }

    async fn find_reels(&self, host: &str, reels: &[Reel]) {
        let window = self.window;
        for (number, reel) in reels.iter().enumerate() {
            if number > 0 {
                window.click_named("Add another reel").await;
            }
            let urls = reel.urls.iter().map(|path| format!("https://{host}{path}"));
            let urls: Vec<String> = urls.collect();
            window.fill("URLs", &urls.join(" ")).await;
            for (label, keys) in [("Keys", &reel.keys), ("Master keys", &reel.master_keys)] {
                if !keys.is_empty() {
                    window.fill(label, &keys.join(" ")).await;
                }
            }
            window.click_named("Find the format").await;
            self.use_format(reel).await;
        }
        window.click_named("Continue").await;
    }

    async fn use_format(&self, reel: &Reel) {
        let window = self.window;
        if let Some(format) = &reel.format {
            let (template, chip) = (&format.template, &format.chip);
            window
                .press(&format!(
                    "//article[p[normalize-space()='{template}'] and .//dd[normalize-space()='{chip}']]//button"
                ))
                .await;
        } else {
            window.see("//h2[normalize-space()='Proved']").await;
            window.click_named("Use this template…").await;
        }
        window.fill("Name", &reel.name).await;
        if reel.shared_factory_key {
            window
                .press("//label[contains(., 'Allow the factory key')]//input")
                .await;
        }
        window.click_named("Create and continue").await;
        if self.asks.replace(false) {
            window.click_named("Allow changes").await;
        }
        window
            .see(&format!("//article[@aria-label=\"{}\"]", reel.name))
            .await;
    }

    async fn import_tables(&self, reels: &[Reel]) {
        let window = self.window;
        self.at("Table").await;
        let listed = reels.iter().filter(|reel| !reel.table.is_empty());
        let listed: Vec<&Reel> = listed.collect();
        for (number, reel) in listed.iter().enumerate() {
            if number > 0 {
                window.click_named("Import another file").await;
            }
            if reels.len() > 1 {
                let label = format!("//label[.//strong[normalize-space()=\"{}\"]]", reel.name);
                window.press(&label).await;
            }
            self.import(reel).await;
        }
        if listed.is_empty() {
            window.click_named("Continue without a table").await;
        } else {
            window.click_named("Continue").await;
        }
    }

    async fn import(&self, reel: &Reel) {
        let window = self.window;
        let file = self.desk.path("chips.csv");
        fs::write(&file, reel.table.join("\n")).expect("the home can be written");
        window
            .see("//*[@id=//label[normalize-space()='Exported by']/@for and not(@disabled)]")
            .await;
        window.choose_file(&file).await;
        for (heading, meaning) in &reel.meanings {
            let option =
                format!("//select[@aria-label='Import {heading} as']//option[@value='{meaning}']");
            window.press(&option).await;
        }
        window.click_named("Check").await;
        if let Some(counter) = &reel.counter {
            let option = format!(
                "//label[contains(., 'Counters of the file are')]//option[@value='{counter}']"
            );
            window.press(&option).await;
            window.click_named("Check").await;
        }
        if reel.factory_keys {
            window
                .see("//*[contains(text(), 'The factory key is known to everyone')]")
                .await;
            window
                .press("//label[contains(., 'Allow factory keys')]//input")
                .await;
            window.click_named("Check").await;
        }
        let rows = match reel.table.len() - 1 {
            1 => "1 row".to_owned(),
            rows => format!("{rows} rows"),
        };
        self.status(&format!("{rows} can be imported")).await;
        window.click_named("Import").await;
        self.status(&format!("{rows} imported")).await;
    }

    async fn status(&self, text: &str) {
        let status = format!("//*[@role='status'][contains(., '{text}')]");
        self.window.see(&status).await;
    }

    async fn choose_for_unlisted(&self, reels: &[Reel]) {
        self.at("Unlisted chips").await;
        for choice in reels.iter().filter_map(|reel| reel.unlisted.as_ref()) {
            let label = format!("//label[contains(., '{choice}')]");
            self.window.press(&label).await;
        }
        self.window.click_named("Continue").await;
        self.at("Switch over").await;
    }

    async fn tap(&self, one: &Move) {
        let window = self.window;
        for reel in &one.reels {
            let waits = format!("{}: waiting for the first tap", reel.name);
            window
                .see(&format!("//strong[contains(., \"{waits}\")]"))
                .await;
        }
        for Tap { path, .. } in &one.taps {
            let tap = self.service.get(path).header("host", &one.host);
            tap.answer().await;
        }
        let verifies = one.taps.iter().any(|tap| tap.verified == Some(true));
        let first = if verifies { "verified tap" } else { "tap" };
        for reel in &one.reels {
            let arrived = format!("{}: the first {first} has arrived", reel.name);
            window
                .see(&format!("//strong[contains(., \"{arrived}\")]"))
                .await;
        }
        window
            .see("//h2[normalize-space()='You have moved in']")
            .await;
        let newest = format!("/interactions?limit={}", one.taps.len());
        let newest = self.service.admin_get(&newest).await;
        let mut records: Vec<Value> = newest["items"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|record| json!([record["tag_verified"], record["reason"], record["tamper"]]))
            .collect();
        records.reverse();
        let expected: Vec<Value> = one
            .taps
            .iter()
            .map(|tap| json!([tap.verified, tap.reason, tap.tamper]))
            .collect();
        assert_eq!(records, expected, "{}", one.name);
    }
}
