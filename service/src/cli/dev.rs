//! `dev`: a whole service for development and tests, with everything of `demo`. Nothing that it
//! stores outlives it.

mod folder;
mod tags;

use std::io::{self, ErrorKind, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use serde_json::json;
use tapdesk_service::admin_token::AdminToken;
use tapdesk_service::clock::{Clock, ManualClock, Millis, TestClock, Timestamp};
use tapdesk_service::entropy::{self, Entropy, OsEntropy, SeededEntropy};
use tapdesk_service::keyring::Keyring;
use tapdesk_service::s3_server::S3Server;
use tapdesk_service::settings::{Layers, Settings, SimulatedTargets};
use tapdesk_service::start::{Database, Start, Started, TokenSource, WrappingKey, start_in};
use tapdesk_service::{Exposure, Limits, housekeeping, router};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use folder::Folder;

use super::serve::asked_to_end;
use crate::options;

/// 2026-01-01T00:00:00Z, the time of every world with a chosen seed, in milliseconds since the Unix
/// epoch. It is past, so that it is never ahead of the program under test.
const BEGINNING: Timestamp = Timestamp::from_millis(1_767_225_600_000);
/// Memory for the configuration of tags, in bytes: for 50,000 tags, more than a test makes.
const TAG_CACHE: usize = 16 << 20;

#[derive(Args)]
pub(super) struct Options {
    /// Make the whole world from this number: ids, keys, tokens and times. Its clock starts at 2026-01-01T00:00:00Z and moves only on request. Default: a random seed, and the time of this machine.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u32>,

    /// The port to listen on, at 127.0.0.1; port 0 picks a free port.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,

    /// The page that the demo's tags open. Default: the built-in stand-in.
    #[arg(long, value_name = "URL")]
    page: Option<String>,

    /// End when the standard input is closed, which the end of the calling program does in any case.
    #[arg(long)]
    until_stdin_closes: bool,
}

/// The sources of everything that differs between two starts.
struct World {
    /// The number from which its randomness comes.
    seed: u32,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl World {
    /// The world of a seed. Without one, its clock is that of this machine, which a receiver of
    /// webhooks expects: it refuses signatures of another time.
    fn new(seed: Option<u32>) -> Self {
        let clock: Arc<dyn Clock> = if seed.is_some() {
            Arc::new(ManualClock::new(BEGINNING))
        } else {
            Arc::new(TestClock::start(Millis::ZERO))
        };
        let seed = seed.unwrap_or_else(|| u32::from_le_bytes(entropy::bytes(&OsEntropy)));
        Self {
            seed,
            clock,
            entropy: Arc::new(SeededEntropy::new(seed.into())),
        }
    }
}

pub(super) fn run(options: &Options) -> Result<()> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("The system does not let the service start its threads.")?
        .block_on(dev(options))
}

async fn dev(options: &Options) -> Result<()> {
    // Before there is a folder: a signal must not leave it behind.
    let asked = asked_to_end(Duration::ZERO)?;
    let listener = listen(options.port)?;
    let address = listener.local_addr()?;
    let folder = Folder::new()?;
    let world = World::new(options.seed);
    let Started {
        service,
        state,
        admin_token,
    } = start_in(
        choices(address, folder.path(), options, &*world.entropy),
        world.clock,
        world.entropy,
    )
    .await?;
    state.set_listening(address);
    let tags = tags::make(&service, options.page.as_deref()).await?;
    let line = json!({
        "url": format!("http://{address}"),
        "token": admin_token.expose(),
        "seed": world.seed,
        "now": service.storage.now().await?,
        "tags": tags,
    });
    writeln!(io::stdout(), "{line}")?;
    folder.remove_leftovers();
    let end = async {
        tokio::select! {
            delay = asked => delay,
            () = stdin_closed(options.until_stdin_closes) => Duration::ZERO,
        }
    };
    let routes = router(state, Exposure::WithAdmin);
    tokio::select! {
        served = tapdesk_service::serve(listener, routes, Limits::default(), end) => served?,
        never = housekeeping::run(&service) => match never {},
    }
    service.close().await;
    folder.close()
}

/// The choices of the start. Secrets are drawn here, so that no file contains them.
fn choices(address: SocketAddr, folder: &Path, options: &Options, entropy: &dyn Entropy) -> Start {
    let wrapping_key = entropy::bytes::<32>(entropy);
    Start {
        database: Database::Sqlite(folder.join("tapdesk.db")),
        wrapping_key: WrappingKey::Kept(Box::new(move |_| Ok(Keyring::open(&wrapping_key)))),
        admin_token: TokenSource::Given(AdminToken::generate(entropy)),
        layers: Layers {
            defaults: settings(address, options.page.is_some()),
            ..Layers::default()
        },
        countries: None,
        tag_cache: TAG_CACHE,
        s3_server: S3Server::default(),
        test: None,
    }
}

fn settings(address: SocketAddr, has_page: bool) -> Settings {
    Settings {
        tag_url: format!("http://{address}/t"),
        // The receiver under test is on this machine.
        private_webhooks: true,
        // A test makes many wrong calls, and a clock that stands still would never allow the next.
        rate_limit: None,
        // A file system in memory is small, and nobody is to be alerted.
        disk_low_mebibytes: 0,
        simulated_targets: if has_page {
            SimulatedTargets::Real
        } else {
            SimulatedTargets::StandIn
        },
        ..Settings::default()
    }
}

/// Listens on the loopback address only: the token of a seed is known to everyone.
fn listen(port: u16) -> Result<TcpListener> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    match tapdesk_service::listen(address) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => bail!(
            "Port {port} is used by another program. Choose another with --port, or leave the option out to \
             get a free one."
        ),
        listening => {
            listening.map_err(|error| anyhow!(options::cannot_listen("--port", address, &error)))
        }
    }
}

/// Waits until the standard input is closed; for ever, unless that was `asked` for.
async fn stdin_closed(asked: bool) {
    let (end, ended) = oneshot::channel::<()>();
    if !asked {
        return std::future::pending().await;
    }
    // Not a task of the runtime, which would wait for the read when it ends.
    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        drop(end);
    });
    // It ends with the drop of its other half.
    let _ = ended.await;
}
