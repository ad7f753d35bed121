//! A separate PostgreSQL server for tests: the system's programs on a temporary cluster, one per
//! test process, with a database for each test.
//!
//! The server refuses to run as root, so it then runs as `nobody`. It ends with the process that
//! started it, even after a crash: a shell waits for the end of its input, stops the server by its
//! process id and removes its folder. A server can be in a separate network, whose connection to
//! the nodes can be cut.

use std::io::{BufRead as _, BufReader};
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use tapdesk_service::clock::SystemClock;
use tapdesk_service::entropy::OsEntropy;
use tapdesk_service::storage::Storage;
use tapdesk_service::storage::postgres::{Address, PostgresStorage};
use tokio::sync::OnceCell;
use tokio_postgres::{Client, Config, NoTls};

use crate::ports::free_port;

/// The owner of all test clusters.
const OWNER: &str = "tapdesk";
/// The user and group `nobody`, on every Linux.
const NOBODY: u32 = 65_534;

/// A running server, with the shell that stops it.
pub struct Cluster {
    folder: PathBuf,
    host: Ipv4Addr,
    port: u16,
    settings: Vec<String>,
    databases: AtomicU32,
    /// The shell that stops the server once this process is gone.
    keeper: Child,
}

impl Cluster {
    /// The server that the tests of this process share. It is fast instead of durable: it never
    /// waits for its disk, and writes no log for replicas. Nor does it tidy up by itself: it would
    /// look into the database of each test that has ended, once a minute.
    ///
    /// # Panics
    /// When PostgreSQL is not installed, or does not start.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        let settings = [
            "fsync=off",
            "full_page_writes=off",
            "autovacuum=off",
            "wal_level=minimal",
            "max_wal_senders=0",
            "shared_buffers=32MB",
        ];
        SHARED.get_or_init(|| Self::start(&settings))
    }

    /// A server with these settings in addition to the usual ones.
    ///
    /// # Panics
    /// When PostgreSQL is not installed, or does not start.
    pub fn start(settings: &[&str]) -> Self {
        Self::start_in(&Place::HERE, settings)
    }

    /// A server in a separate network, which must get a route to `host` next ([`Self::process`] is
    /// in it). It asks for no password there. Needs root.
    ///
    /// # Panics
    /// When PostgreSQL is not installed, or does not start.
    pub fn start_apart(host: Ipv4Addr, settings: &[&str]) -> Self {
        const APART: [&str; 5] = [
            "unshare",
            "--net",
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
        ];
        let place = Place {
            host,
            wrapper: &[&APART[..], &["--clear-groups"]].concat(),
        };
        Self::start_in(&place, settings)
    }

    fn start_in(place: &Place, settings: &[&str]) -> Self {
        let programs = programs();
        let folder = tempfile::Builder::new()
            .prefix("tapdesk-pg-")
            .tempdir()
            .expect("a temporary folder can be made")
            .keep();
        give_away(&folder);
        let data = folder.join("data");
        let made = command(&programs.join("initdb"), &folder)
            .args(["--username", OWNER, "--auth", "trust", "--no-sync"])
            .args(["--encoding", "UTF8", "--locale", "C", "--pgdata"])
            .arg(&data)
            .output()
            .expect("initdb runs");
        assert!(
            made.status.success(),
            "initdb: {}",
            String::from_utf8_lossy(&made.stderr)
        );
        if place.host != Ipv4Addr::LOCALHOST {
            let access = data.join("pg_hba.conf");
            std::fs::write(access, "host all all samenet trust\n").expect("it is ours");
        }
        let port = free_port();
        let mut server = vec![
            format!("port={port}"),
            format!("listen_addresses={}", place.listens_at()),
            format!("unix_socket_directories={}", folder.display()),
            "max_connections=400".to_owned(),
            "shared_buffers=64MB".to_owned(),
        ];
        server.extend(settings.iter().map(ToString::to_string));
        let mut keeper = place
            .shell(&folder)
            .args(["-c", KEEPER, "keeper"])
            .arg(programs.join("postgres"))
            .arg(&data)
            .args(server.iter().flat_map(|setting| ["-c", setting]))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell runs");
        let mut answer = String::new();
        let output = keeper.stdout.take().expect("it is piped");
        BufReader::new(output)
            .read_line(&mut answer)
            .expect("the shell answers");
        let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert_eq!(answer.trim(), "ready", "PostgreSQL does not start: {log}");
        Self {
            folder,
            host: place.host,
            port,
            settings: server,
            databases: AtomicU32::new(0),
            keeper,
        }
    }

    /// The id of a process in the server's network.
    pub fn process(&self) -> u32 {
        self.keeper.id()
    }

    /// The port on which it listens, on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The id of the server's first process.
    ///
    /// # Panics
    /// When it does not run.
    pub fn server(&self) -> u32 {
        let file = std::fs::read_to_string(self.folder.join("data/postmaster.pid"));
        let pid = file.ok().and_then(|file| file.lines().next()?.parse().ok());
        pid.expect("the server says its number")
    }

    /// The folder of its socket, its log, and its data in `data`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Stops the server like a crash (`pg_ctl stop -m immediate`), until [`Self::go_on`].
    ///
    /// # Panics
    /// When it does not stop.
    pub fn stop(&self) {
        self.control(&["stop", "--mode", "immediate"]);
    }

    /// Starts the server again, with its first settings.
    ///
    /// # Panics
    /// When it does not start.
    pub fn go_on(&self) {
        let log = self.folder.join("log");
        let options = self.settings.iter().map(|setting| format!("-c {setting}"));
        let options = options.collect::<Vec<_>>().join(" ");
        self.control(&[
            "start",
            "--log",
            &log.to_string_lossy(),
            "--options",
            &options,
        ]);
    }

    fn control(&self, arguments: &[&str]) {
        let done = command(&programs().join("pg_ctl"), &self.folder)
            .args(arguments)
            .args(["--wait", "--timeout", "180", "--silent", "--pgdata"])
            .arg(self.folder.join("data"))
            .status();
        let done = done.is_ok_and(|status| status.success());
        assert!(done, "pg_ctl {arguments:?}");
    }

    /// Makes an empty database.
    ///
    /// # Panics
    /// When the server refuses.
    pub async fn create_database(&self) -> TestDatabase {
        self.create_copy("template1").await
    }

    /// Makes a copy of a database that nobody uses. To copy its files takes half of the time that
    /// writing its pages to the log takes.
    async fn create_copy(&self, of: &str) -> TestDatabase {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let database = TestDatabase {
            user: OWNER.to_owned(),
            // The server does not ask for one.
            password: String::new(),
            host: self.host,
            port: self.port,
            name: format!("test_{number}"),
        };
        let admin = TestDatabase {
            name: "postgres".to_owned(),
            ..database.clone()
        };
        admin
            .look_into()
            .await
            .batch_execute(&format!(
                "CREATE DATABASE {} TEMPLATE {of} STRATEGY file_copy",
                database.name
            ))
            .await
            .expect("the owner may make a database");
        database
    }
}

/// A separate database for a test. It is deleted with its cluster.
#[derive(Clone, Debug)]
pub struct TestDatabase {
    user: String,
    password: String,
    host: Ipv4Addr,
    port: u16,
    name: String,
}

impl TestDatabase {
    /// Creates a database on the server that the tests of this process share.
    pub async fn create() -> Self {
        Cluster::shared().create_database().await
    }

    /// Creates a database as it is after a first start, and takes a third of the time: nearly every
    /// test needs one. It has no secrets and no identity yet, so no two databases share them.
    pub async fn create_migrated() -> Self {
        static TEMPLATE: OnceCell<TestDatabase> = OnceCell::const_new();
        let template = TEMPLATE.get_or_init(Self::template).await;
        Cluster::shared().create_copy(&template.name).await
    }

    async fn template() -> Self {
        let database = Self::create().await;
        let address = Address::parse(&database.url(), |_| None).expect("the address is one");
        let storage =
            PostgresStorage::open_exclusive(address, Arc::new(SystemClock::start()), &OsEntropy);
        let storage = Storage::from(storage.await.expect("the database can be opened"));
        storage.close().await;
        drop(storage);
        let client = database.look_into().await;
        let forget = "DELETE FROM settings; DELETE FROM secrets;";
        client.batch_execute(forget).await.expect("they are ours");
        drop(client);
        // The server notices a moment later that a connection is gone, and copies no used database.
        let admin = Self {
            name: "postgres".to_owned(),
            ..database.clone()
        };
        let admin = admin.look_into().await;
        let used = "SELECT FROM pg_stat_activity WHERE datname = $1";
        crate::eventually("nobody uses the template", async || {
            let rows = admin.query(used, &[&database.name]).await;
            rows.expect("the server answers").is_empty().then_some(())
        })
        .await;
        database
    }

    /// The database `name` of another server than the tests' own, on a port of the loopback, for a
    /// user with a password.
    pub fn at((user, password): (&str, &str), port: u16, name: &str) -> Self {
        Self {
            user: user.to_owned(),
            password: password.to_owned(),
            host: Ipv4Addr::LOCALHOST,
            port,
            name: name.to_owned(),
        }
    }

    /// The user's password; programs get it from `PGPASSWORD`.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Its URL, without the password.
    pub fn url(&self) -> String {
        self.url_at(self.port)
    }

    /// Its URL through another port that leads to its own.
    pub fn url_at(&self, port: u16) -> String {
        let Self {
            user, host, name, ..
        } = self;
        format!("postgres://{user}@{host}:{port}/{name}")
    }

    /// A copy in a new database, by `pg_dump` and `pg_restore`.
    ///
    /// # Panics
    /// When one of the programs fails.
    pub async fn copy_into(&self, cluster: &Cluster) -> Self {
        let copy = cluster.create_database().await;
        let run = |name: &str, arguments: &[&str]| {
            let done = Command::new(programs().join(name))
                .args(arguments)
                .env("PGPASSWORD", &self.password)
                .output()
                .expect("the program runs");
            let said = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{name}: {said}");
        };
        let dump = tempfile::NamedTempFile::new().expect("a file can be made");
        let file = dump.path().to_string_lossy();
        let (from, to) = (self.url(), copy.url());
        run("pg_dump", &["--format=custom", "--file", &file, &from]);
        run("pg_restore", &["--exit-on-error", "--dbname", &to, &file]);
        copy
    }

    /// A direct connection, not the service's.
    ///
    /// # Panics
    /// When it cannot connect.
    pub async fn look_into(&self) -> Client {
        self.connect().await.expect("the server answers")
    }

    /// The same for a server that may be unavailable.
    ///
    /// # Errors
    ///
    /// The reason why it cannot connect.
    ///
    /// # Panics
    /// When its URL is invalid.
    pub async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        let mut config: Config = self.url().parse().expect("it is an address");
        let (client, connection) = config.password(&self.password).connect(NoTls).await?;
        tokio::spawn(connection);
        Ok(client)
    }
}

/// `$1` is the server, `$2` its data, and all others are its settings.
const KEEPER: &str = r#"
server=$1 data=$2
shift 2
"$server" -D "$data" "$@" >log 2>&1 &
pid=$!
tries=0
until [ "$(sed -n 8p "$data/postmaster.pid" 2>/dev/null | tr -d ' ')" = ready ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 3600 ] || ! kill -0 "$pid" 2>/dev/null; then echo failed; break; fi
    sleep 0.05
done
echo ready
while read -r _; do :; done
# It may have been stopped and started since.
pid=$(head -n 1 "$data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid"
while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
cd / && rm -rf "$(dirname "$data")"
"#;

/// The network of a server.
struct Place<'a> {
    /// The address at which it is reached.
    host: Ipv4Addr,
    /// The command that starts its shell there.
    wrapper: &'a [&'a str],
}

impl Place<'_> {
    /// The network of this process, on its loopback.
    const HERE: Self = Self {
        host: Ipv4Addr::LOCALHOST,
        wrapper: &[],
    };

    /// An address of another network exists only once the server runs.
    fn listens_at(&self) -> &str {
        if self.host.is_loopback() {
            "127.0.0.1"
        } else {
            "*"
        }
    }

    fn shell(&self, folder: &Path) -> Command {
        const SHELL: &str = "/bin/sh";
        let Some((program, arguments)) = self.wrapper.split_first() else {
            return command(Path::new(SHELL), folder);
        };
        let mut command = Command::new(program);
        command.args(arguments).arg(SHELL);
        command.current_dir(folder).env("LC_ALL", "C");
        command
    }
}

/// A command that runs in `folder`, as `nobody` if this process is root.
pub fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("LC_ALL", "C");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// Changes the owner of a folder to the user of [`command`].
///
/// # Panics
/// When it may not be given away.
pub fn give_away(folder: &Path) {
    if is_root() {
        std::os::unix::fs::chown(folder, Some(NOBODY), Some(NOBODY))
            .expect("root may give a folder away");
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // `/proc/self` belongs to the user of the process.
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// The folder of the server's programs: Debian's newest, or one on the path.
///
/// # Panics
/// When PostgreSQL is not installed.
pub fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let mut versions: Vec<(u32, PathBuf)> = versions
        .filter_map(|version| {
            let folder = version.ok()?;
            let number = folder.file_name().to_str()?.parse().ok()?;
            Some((number, folder.path().join("bin")))
        })
        .collect();
    versions.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    versions
        .into_iter()
        .rev()
        .map(|(_, folder)| folder)
        .chain(std::env::split_paths(&path))
        .find(|folder| folder.join("postgres").exists() && folder.join("initdb").exists())
        .expect("PostgreSQL is installed: `make test` sees to it")
}
