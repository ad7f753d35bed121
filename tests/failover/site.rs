//! Three machines, each with a PostgreSQL server, Patroni and a member of etcd, and the proxy that
//! leads to the primary. All of them use the loopback with other ports instead of other addresses;
//! everything else is as in the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tapdesk_tests::postgres::{command, give_away, programs};
use tapdesk_tests::{TestDatabase, eventually, free_port};
use tempfile::TempDir;

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../service/deploy/failover");
/// The administrator of the servers, from `patroni.env`.
const ADMINISTRATOR: (&str, &str) = ("postgres", "choose-one");
/// The machine that the files are written for; the others have the following addresses.
const FIRST: &str = "10.0.0.21";

/// `$1` is Patroni's configuration; paths come from the environment. Closing its input cuts the
/// machine's power.
const MACHINE: &str = r#"
etcd >>etcd.log 2>&1 &
etcd=$!
patroni "$1" >>patroni.log 2>&1 &
patroni=$!
while read -r _; do :; done
kill -KILL $patroni $etcd
server=$(head -n 1 postgresql/tapdesk/postmaster.pid 2>/dev/null) && kill -KILL "$server"
while [ -n "$server" ] && kill -0 "$server" 2>/dev/null; do sleep 0.05; done
"#;

/// A machine of the site that runs.
struct Machine {
    shell: Child,
}

/// The running machines and the proxy.
pub(super) struct Site {
    folder: TempDir,
    ports: BTreeMap<String, u16>,
    machines: [Option<Machine>; 3],
    proxy: Child,
    listens: u16,
}

impl Site {
    /// Starts everything, and waits until a commit is on two machines.
    pub(super) async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(folder.path(), open).expect("it is ours");
        let mut ports = BTreeMap::new();
        for machine in 0..3 {
            for port in [2379, 2380, 5432, 8008] {
                ports.insert(format!("{}:{port}", address(machine)), free_port());
            }
            let own = folder.path().join(name(machine));
            for part in ["postgresql", "etcd"] {
                fs::create_dir_all(own.join(part)).expect("there is room");
                give_away(&own.join(part));
            }
            give_away(&own);
        }
        fs::copy(
            Path::new(FILES).join("patroni.yml"),
            folder.path().join("patroni.yml"),
        )
        .expect("it is among the files");
        let listens = free_port();
        let proxy = proxy(listens, &ports);
        let mut site = Self {
            folder,
            ports,
            machines: [None, None, None],
            proxy,
            listens,
        };
        for machine in 0..3 {
            site.machines[machine] = Some(site.machine(machine));
        }
        site.is_whole().await;
        site
    }

    /// An empty database on all servers.
    pub(super) async fn create_database(&self) -> TestDatabase {
        let administrator = self.database("postgres").look_into().await;
        let create = "CREATE DATABASE tapdesk";
        administrator.batch_execute(create).await.expect("it may");
        self.database("tapdesk")
    }

    /// Cuts the power of the primary's machine. Returns its number.
    pub(super) async fn kill_primary(&mut self) -> usize {
        let mut primary = None;
        for machine in 0..3 {
            if self.ask(machine, "SELECT NOT pg_is_in_recovery()").await == Some(true) {
                primary = Some(machine);
            }
        }
        let primary = primary.expect("one is the primary");
        self.machines[primary] = None;
        primary
    }

    /// Starts a machine again, and waits until it has caught up.
    pub(super) async fn bring_back(&mut self, machine: usize) {
        self.machines[machine] = Some(self.machine(machine));
        self.is_whole().await;
    }

    /// Waits until both others follow the primary, one of them synchronously.
    async fn is_whole(&self) {
        // A former primary recovers, rewinds and catches up. The test waits in steps, because all
        // of it may take a minute.
        for who in [
            "a primary",
            "a follower",
            "followers",
            "followers at each commit",
        ] {
            eventually(who, async || {
                let client = self.database("postgres").connect().await.ok()?;
                let followers = "SELECT count(*), count(*) FILTER (WHERE sync_state = 'sync')
                    FROM pg_stat_replication WHERE state = 'streaming' AND application_name LIKE 'db_'";
                let found = client.query_one(followers, &[]).await.ok()?;
                let (all, at_each_commit): (i64, i64) = (found.get(0), found.get(1));
                let wanted = match who {
                    "a primary" => true,
                    "a follower" => all >= 1,
                    "followers" => all == 2,
                    _ => all == 2 && at_each_commit == 1,
                };
                wanted.then_some(())
            })
            .await;
        }
    }

    async fn ask(&self, machine: usize, question: &str) -> Option<bool> {
        let port = self.ports[&format!("{}:5432", address(machine))];
        let server = TestDatabase::at(ADMINISTRATOR, port, "postgres");
        let client = server.connect().await.ok()?;
        Some(client.query_one(question, &[]).await.ok()?.get(0))
    }

    /// The database as reached through the proxy.
    fn database(&self, name: &str) -> TestDatabase {
        TestDatabase::at(ADMINISTRATOR, self.listens, name)
    }

    fn machine(&self, number: usize) -> Machine {
        let folder = self.folder.path().join(name(number));
        let shell = command(Path::new("/bin/sh"), &folder)
            .args(["-c", MACHINE, "machine"])
            .arg(self.folder.path().join("patroni.yml"))
            .envs(self.environment("etcd.env", number, &folder))
            .envs(self.environment("patroni.env", number, &folder))
            .env("PATRONI_POSTGRESQL_BIN_DIR", programs())
            .env("HOME", &folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell runs");
        Machine { shell }
    }

    /// The variables of a file for the first machine, adapted to another one.
    fn environment(&self, file: &str, number: usize, folder: &Path) -> Vec<(String, String)> {
        let text = fs::read_to_string(Path::new(FILES).join(file)).expect("it is among the files");
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines
            .filter_map(|line| line.split_once('='))
            .map(|(variable, value)| {
                let mut value = value.to_owned();
                // Values that name all machines are the same on all.
                if !value.contains(',') {
                    value = value.replace(FIRST, &address(number));
                    value = value.replace("db1", &name(number));
                }
                for (place, port) in &self.ports {
                    value = value.replace(place, &format!("127.0.0.1:{port}"));
                }
                let folder = format!("{}/", folder.display());
                (variable.to_owned(), value.replace("/var/lib/", &folder))
            })
            .collect()
    }
}

fn name(machine: usize) -> String {
    format!("db{}", machine + 1)
}

fn address(machine: usize) -> String {
    format!("10.0.0.2{}", machine + 1)
}

fn proxy(listens: u16, ports: &BTreeMap<String, u16>) -> Child {
    let mut command = Command::new("/usr/sbin/haproxy");
    command
        .arg("-db")
        .arg("-f")
        .arg(PathBuf::from(FILES).join("haproxy.cfg"))
        .env("LISTEN", format!("127.0.0.1:{listens}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    for machine in 0..3 {
        let port = |port| ports[&format!("{}:{port}", address(machine))];
        let server = format!("127.0.0.1:{} port {}", port(5432), port(8008));
        command.env(format!("DB_{}", machine + 1), server);
    }
    command.spawn().expect("haproxy is installed")
}

impl Drop for Machine {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}
