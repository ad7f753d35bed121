//! A separate service for a test: in this process, on a free port, with its own folder, and a clock
//! that moves only on request.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tapdesk_service::admin_token::AdminToken;
use tapdesk_service::caller::Actor;
use tapdesk_service::clock::{Clock, ManualClock, Millis, Timestamp};
use tapdesk_service::entropy::{Entropy, OsEntropy};
use tapdesk_service::keyring::{Keyring, Passphrase, file as key_file};
use tapdesk_service::s3_server::S3Server;
use tapdesk_service::settings::{Fixed, Layers, Settings};
use tapdesk_service::storage::Storage;
use tapdesk_service::storage::postgres::{Address, PostgresStorage, Time};
use tapdesk_service::storage::sqlite::{Restore, SqliteStorage};
use tapdesk_service::{
    AppState, Countries, Exposure, Limits, Parts, Service, listen, router, serve,
};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::{OnceCell, watch};
use tokio::task::JoinHandle;

use crate::client::Client;
use crate::postgres::TestDatabase;

/// The admin token of every test service.
pub const ADMIN_TOKEN: &str = "a-token-that-is-used-in-tests-and-nowhere-else";

/// 2026-01-01T12:00:00Z, the time at which tests begin, in milliseconds since the Unix epoch.
pub const START: i64 = 1_767_268_800_000;

/// The options that a test can set for its service.
#[derive(Clone, Debug)]
pub struct Options {
    /// The operator's settings. `tag_url` is replaced by the service's address.
    pub settings: Settings,
    /// The settings from arguments and environment.
    pub fixed: Fixed,
    /// The routes of its first listener.
    pub exposure: Exposure,
    /// The database: `sqlite` for a file in the service's folder, or `postgres` for a database on
    /// the server of this process.
    pub database: String,
    /// An MMDB file with the countries of addresses.
    pub countries: Option<PathBuf>,
    /// Another clock for times that the database does not provide.
    pub clock: Option<Arc<dyn Clock>>,
    /// The source of the service's randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Limits of its connections.
    pub limits: Limits,
    /// How long load balancers see that it is about to stop.
    pub notice: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            fixed: Fixed::default(),
            exposure: Exposure::WithAdmin,
            database: default_database(),
            countries: None,
            clock: None,
            entropy: Arc::new(OsEntropy),
            limits: Limits::default(),
            notice: Duration::ZERO,
        }
    }
}

/// The default kind of database: the value of `TAPDESK_TEST_DATABASE`, or `sqlite`.
pub fn default_database() -> String {
    std::env::var("TAPDESK_TEST_DATABASE").unwrap_or_else(|_| "sqlite".to_owned())
}

/// A running service. Calls go to its [`Client`]. Dropping it stops the service.
pub struct TestService {
    client: Client,
    clock: Arc<ManualClock>,
    state: AppState,
    options: Options,
    shutdown: watch::Sender<bool>,
    listeners: Vec<JoinHandle<std::io::Result<()>>>,
    folder: TempDir,
    postgres: OnceCell<TestDatabase>,
}

impl Deref for TestService {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl TestService {
    /// A service with default settings and the admin API.
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// A service with other options.
    pub async fn start_with(choose: impl FnOnce(&mut Options)) -> Self {
        let mut options = Options::default();
        choose(&mut options);
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let clock = Arc::new(ManualClock::new(Timestamp::from_millis(START)));
        Self::start_in(folder, OnceCell::new(), clock, options).await
    }

    /// A service with a SQLite file, whatever database the run has.
    pub async fn on_sqlite() -> Self {
        Self::start_with(|options| "sqlite".clone_into(&mut options.database)).await
    }

    /// The file of a scheduled backup that is made now, in the folder `backups` of the service.
    ///
    /// # Panics
    /// When it is not made.
    pub async fn backed_up(&self, passphrase: &str) -> PathBuf {
        let folder = self.folder().join("backups");
        let schedule =
            json!({"destination": folder, "every_hours": 24, "keep": 2, "passphrase": passphrase});
        let set = self.admin(Method::PUT, "/backup/schedule", schedule).await;
        set.expect(200);
        let run = "/backup/schedule/run";
        let ran = self.admin(Method::POST, run, Value::Null).await;
        assert_eq!(ran.expect(200)["last"]["ok"], true);
        let mut files = std::fs::read_dir(folder).expect("it is made");
        let file = files.next().expect("it is in there");
        file.expect("it can be read").path()
    }

    /// A service on another machine, on a backup that is restored there with its key.
    pub async fn restored(backup: &Path, passphrase: &Passphrase) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let restore = Restore::prepare(backup, &folder.path().join("tapdesk.db"))
            .expect("the backup is sound");
        let key = restore.open_key(Some(passphrase));
        let key = key.expect("the passphrase opens it");
        let key = key.expect("the backup has the key");
        key_file::create(&folder.path().join("inlay.key"), &key).expect("the key can be stored");
        let now = Timestamp::from_millis(START);
        restore
            .record(Actor::CommandLine, now, &OsEntropy)
            .expect("the restore is recorded");
        restore.finish(now).expect("the database takes its place");
        let mut options = Options::default();
        "sqlite".clone_into(&mut options.database);
        let clock = Arc::new(ManualClock::new(now));
        Self::start_in(folder, OnceCell::new(), clock, options).await
    }

    async fn start_in(
        folder: TempDir,
        postgres: OnceCell<TestDatabase>,
        clock: Arc<ManualClock>,
        mut options: Options,
    ) -> Self {
        let listener = free_port();
        let base = format!("http://{}", address(&listener));
        options.settings.tag_url = format!("{base}/t");
        let keyring = Keyring::from_file(&folder.path().join("inlay.key"), true, &OsEntropy)
            .expect("the key file can be made");
        let service = Service::new(Parts {
            storage: open(&options.database, folder.path(), &postgres, &clock).await,
            clock: options
                .clock
                .clone()
                .unwrap_or_else(|| Arc::clone(&clock) as Arc<dyn Clock>),
            entropy: Arc::clone(&options.entropy),
            keyring,
            layers: Layers {
                defaults: options.settings.clone(),
                fixed: options.fixed.clone(),
            },
            tag_cache: 16 << 20,
            s3_server: S3Server::default(),
        })
        .await
        .expect("the database gives its secrets");
        let countries = options.countries.as_deref();
        let countries = countries.map_or_else(Countries::default, |file| {
            Countries::open(file).expect("the MMDB file can be read")
        });
        let admin_token = AdminToken::parse(ADMIN_TOKEN).ok();
        let state = AppState::new(service, countries, admin_token)
            .await
            .expect("the database gives its secrets");
        state.set_listening(address(&listener));
        let mut running = Self {
            client: Client::new(base, ADMIN_TOKEN),
            clock,
            state,
            shutdown: watch::Sender::new(false),
            listeners: Vec::new(),
            folder,
            postgres,
            options,
        };
        let exposure = running.options.exposure;
        running.serve(listener, exposure);
        running
    }

    /// Listens on a second address, and returns a client for it.
    pub fn listen(&mut self, exposure: Exposure) -> Client {
        let listener = free_port();
        let client = Client::new(format!("http://{}", address(&listener)), ADMIN_TOKEN);
        self.serve(listener, exposure);
        client
    }

    /// Listens on this machine's network address, as phones reach it, and returns a client for it.
    /// `None` if the machine has no such address.
    pub fn listen_on_network(&mut self, exposure: Exposure) -> Option<Client> {
        let listener = listen((network_address()?, 0).into()).ok()?;
        let client = Client::new(format!("http://{}", address(&listener)), ADMIN_TOKEN);
        self.serve(listener, exposure);
        Some(client)
    }

    fn serve(&mut self, listener: TcpListener, exposure: Exposure) {
        let mut stop = self.shutdown.subscribe();
        let notice = self.options.notice;
        let stopped = async move {
            // An error means that the service was dropped, which stops this, too.
            let _ = stop.wait_for(|stop| *stop).await;
            notice
        };
        let router = router(self.state.clone(), exposure);
        let limits = self.options.limits;
        self.listeners
            .push(tokio::spawn(serve(listener, router, limits, stopped)));
    }

    /// Stops the service like SIGTERM, and starts it again `millis` later with the same folder and
    /// options.
    #[must_use = "the service goes on at another address"]
    pub async fn restart(self, millis: i64) -> Self {
        let Self {
            clock,
            state,
            options,
            shutdown,
            listeners,
            folder,
            postgres,
            ..
        } = self;
        shutdown.send_replace(true);
        for listener in listeners {
            listener
                .await
                .expect("a listener does not panic")
                .expect("a listener ends well");
        }
        // A service that ends does this, too.
        let noted = state.as_service().note_previews().await;
        noted.expect("previews are noted");
        state.as_service().close().await;
        drop(state);
        let now = clock.now().plus(Millis::new(millis));
        let clock = Arc::new(ManualClock::new(now));
        Self::start_in(folder, postgres, clock, options).await
    }

    /// Runs housekeeping and webhook delivery until the result is dropped.
    #[must_use = "it ends when this is dropped"]
    pub fn keep_house(&self) -> AbortOnDrop {
        let service = Arc::clone(self.service());
        AbortOnDrop(tokio::spawn(async move {
            match Box::pin(tapdesk_service::housekeeping::run(&service)).await {}
        }))
    }

    /// Moves the service's clock.
    pub fn advance(&self, millis: i64) {
        self.clock.advance(Millis::new(millis));
    }

    /// The service's time, in milliseconds since the Unix epoch.
    pub fn now(&self) -> i64 {
        self.clock.now().millis()
    }

    /// The folder of its files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its database; `None` if it is not PostgreSQL.
    pub fn postgres(&self) -> Option<&TestDatabase> {
        self.postgres.get()
    }

    /// The service itself, for an operator's actions in its process.
    pub fn service(&self) -> &Arc<Service> {
        self.state.as_service()
    }

    /// The state of its routers.
    pub fn state(&self) -> &AppState {
        &self.state
    }
}

/// Opens the database. Only here do tests distinguish databases.
async fn open(
    database: &str,
    folder: &Path,
    postgres: &OnceCell<TestDatabase>,
    clock: &Arc<ManualClock>,
) -> Storage {
    let clock = Arc::clone(clock) as Arc<dyn Clock>;
    match database {
        "sqlite" => {
            let storage = SqliteStorage::open(&folder.join("tapdesk.db"), clock, &OsEntropy);
            storage.expect("the database can be opened").into()
        }
        "postgres" => {
            let url = postgres
                .get_or_init(TestDatabase::create_migrated)
                .await
                .url();
            let address = Address::parse(&url, |_| None).expect("the address is one");
            let storage = PostgresStorage::open(address, clock, Time::Standing, &OsEntropy);
            storage.await.expect("the database can be opened").into()
        }
        other => panic!("no database is known here as {other}"),
    }
}

/// The address of this machine on its network; nothing is sent to find it.
pub fn network_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect((Ipv4Addr::new(192, 0, 2, 200), 9)).ok()?;
    let own = socket.local_addr().ok()?.ip();
    (!own.is_loopback() && !own.is_unspecified()).then_some(own)
}

fn free_port() -> TcpListener {
    let port = (Ipv4Addr::LOCALHOST, 0);
    listen(port.into()).expect("a port of the loopback is free")
}

fn address(listener: &TcpListener) -> SocketAddr {
    listener
        .local_addr()
        .expect("a bound socket has an address")
}

/// A task that is aborted when this is dropped.
pub struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
