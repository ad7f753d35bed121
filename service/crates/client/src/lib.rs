//! A client of a running Tapdesk service, shared by the command line and the desktop.
//!
//! * [`Client`] calls the admin API with a token, and follows lists from page to page. It blocks.
//! * [`Error`] is a sentence for people. A [`Problem`] is the service's own explanation.
//! * [`Download`] writes an answer to a file, and finds out how an interrupted export continues.
//! * [`address`] keeps tokens off networks without encryption.
//!
//! A download takes bytes, not connections. The command line writes the body of an HTTP answer. The
//! desktop writes pieces that arrive from a remote service or, without a socket, from the service in
//! its own process.
//!
//! # Examples
//!
//! Every tag of a service, from as many pages as it takes:
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use domain::admin_token::AdminToken;
//! use tapdesk_service_client::{Client, Limits, Program, agent};
//!
//! let base = "https://tags.example.com";
//! let limits = Limits {
//!     connect: Duration::from_secs(5),
//!     answer: Duration::from_mins(2),
//! };
//! let client = Client::new(
//!     agent(base, limits).build().new_agent(),
//!     base.to_owned(),
//!     AdminToken::parse("tapdesk_0123456789abcdef0123456789abcdef")?,
//!     Program {
//!         name: "example",
//!         token_from: "this example".to_owned(),
//!         way_out: "Start it first.",
//!     },
//! );
//! for tag in client.list("/tags?")? {
//!     println!("{}", tag["slug"]);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An export that breaks off in its third line, and continues after the last whole row:
//!
//! ```
//! use std::io::Write as _;
//!
//! use tapdesk_service_client::{Cursor, Download, Interrupted, Rows};
//!
//! # let folder = std::env::temp_dir().join(format!("download-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! let file = folder.join("taps.csv");
//! let mut download = Download::create(&file, "/interactions/export?format=csv".to_owned())?;
//! // Real programs read it from the answer's headers, with `Cursor::of`.
//! let cursor = Cursor { bound: "9".to_owned(), rows: Rows::Csv };
//! download.begin(Some(cursor.clone()))?;
//! download.write_all(b"id,name\r\n9,Lamp\r\n8,Ch")?;
//!
//! assert_eq!(download.interrupted()?, Interrupted::AfterRow);
//! assert_eq!(
//!     download.path(),
//!     "/interactions/export?format=csv&columns=id%2Cname&cursor=9.9"
//! );
//! download.begin(Some(cursor))?;
//! download.write_all(b"8,Chair\r\n")?;
//! download.finish()?;
//! assert_eq!(std::fs::read(&file)?, b"id,name\r\n9,Lamp\r\n8,Chair\r\n");
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod address;
mod agent;
mod api;
mod download;
mod error;
mod resumable;
mod tags;

pub use agent::{Limits, agent};
pub use api::{Client, Events, Program, authorize};
pub use download::{Cursor, Download, FileError, Interrupted, Progress};
pub use error::{Error, PROBLEM_MAX, Problem};
pub use resumable::{Rows, continued};
