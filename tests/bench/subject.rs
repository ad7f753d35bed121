//! The parts of the benchmark, and their selection by arguments.

use anyhow::{Result, bail};

/// A part of the run, with a name that selects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Verified taps, with 1,000, 100,000 and 1,000,000 tags.
    Tap,
    /// Payloads of live keys.
    Payload,
    /// Updates of two variables, keys in random order.
    Update,
    /// The same with 10,000,000 tags, which need 6 GB and some minutes to create.
    Huge,
    /// The same on PostgreSQL.
    Postgres,
    /// Taps of one connection.
    Connection,
    /// Commits in groups and one by one.
    Groups,
    /// An import of 1,000,000 tags with inlays.
    Import,
    /// Taps during an import.
    Imports,
    /// Memory after 10,000,000 taps over 1,000,000 tags; takes five minutes.
    Memory,
    /// Time from start to ready with 1,000,000 tags.
    Start,
    /// Lists of 1,000,000 tags during 10,000 taps per second.
    Lists,
    /// Reports of 10,000,000 taps, and an export of them; takes ten minutes.
    Reports,
    /// Taps with ten dead webhook endpoints, and 1,000,000 events that wait; takes five minutes.
    Webhooks,
    /// Taps of 1,000,000 inlays at URL templates, by each way of finding the tag.
    Templates,
    /// Verification of one code of each technology.
    Codes,
    /// Taps beside redirects of a URL shortener, whose binary a variable names.
    Redirector,
}

impl Subject {
    const ALL: [Self; 17] = [
        Self::Tap,
        Self::Payload,
        Self::Update,
        Self::Huge,
        Self::Postgres,
        Self::Connection,
        Self::Groups,
        Self::Import,
        Self::Imports,
        Self::Memory,
        Self::Start,
        Self::Lists,
        Self::Reports,
        Self::Webhooks,
        Self::Templates,
        Self::Codes,
        Self::Redirector,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Tap => "tap",
            Self::Payload => "payload",
            Self::Update => "update",
            Self::Huge => "huge",
            Self::Postgres => "postgres",
            Self::Connection => "connection",
            Self::Groups => "groups",
            Self::Import => "import",
            Self::Imports => "imports",
            Self::Memory => "memory",
            Self::Start => "start",
            Self::Lists => "lists",
            Self::Reports => "reports",
            Self::Webhooks => "webhooks",
            Self::Templates => "templates",
            Self::Codes => "codes",
            Self::Redirector => "redirector",
        }
    }
}

/// The parts that the command line selects.
pub(crate) struct Subjects(Vec<Subject>);

impl Subjects {
    /// Parses arguments, ignoring cargo's own `--bench`. Without any, everything is selected except
    /// the parts that take minutes.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut chosen = Vec::new();
        for argument in arguments.filter(|argument| argument != "--bench") {
            let mut all = Subject::ALL.into_iter();
            let Some(subject) = all.find(|subject| subject.name() == argument) else {
                let names = Subject::ALL.map(Subject::name).join(", ");
                bail!("\"{argument}\" is not measured. Choose some of: {names}.");
            };
            chosen.push(subject);
        }
        if chosen.is_empty() {
            chosen = Subject::ALL.to_vec();
            let long = [
                Subject::Huge,
                Subject::Memory,
                Subject::Reports,
                Subject::Webhooks,
            ];
            chosen.retain(|subject| !long.contains(subject));
        }
        // More tags or the other database need an operation to measure.
        let calls = [Subject::Tap, Subject::Payload, Subject::Update];
        let wider = [Subject::Huge, Subject::Postgres];
        if chosen.iter().any(|subject| wider.contains(subject))
            && !chosen.iter().any(|subject| calls.contains(subject))
        {
            chosen.extend(calls);
        }
        Ok(Self(chosen))
    }

    /// Whether a part is selected.
    pub(crate) fn has(&self, subject: Subject) -> bool {
        self.0.contains(&subject)
    }
}
