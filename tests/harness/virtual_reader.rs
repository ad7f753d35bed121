//! A separate PC/SC service for tests: the real `pcscd` with virtual readers, on which virtual
//! chips are placed.
//!
//! The daemon gets its socket as from systemd, so several can run in parallel. The client library
//! uses one socket for the life of a process, so a test that is itself the client runs [in a
//! separate process](in_own_process).

use std::any::type_name_of_val;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tempfile::TempDir;

use crate::PATIENCE;
use crate::ports::free_ports;
use crate::virtual_card::VirtualCard;

/// The variable that tells clients the daemon's socket.
pub const SOCKET: &str = "PCSCLITE_CSOCK_NAME";
/// Passes the socket as descriptor 3 (`sd_listen_fds`), and becomes the daemon.
const LAUNCH: &str = "mkdir -p /run/pcscd; exec 3<&0 0</dev/null; \
    export LISTEN_PID=$$ LISTEN_FDS=1; exec /usr/sbin/pcscd --foreground -c \"$0\" $1";
const DRIVER: &str = "/usr/lib/pcsc/drivers/serial/libifdvpcd.so";
/// The pause between two attempts of a card to connect to its reader.
const PAUSE: Duration = Duration::from_millis(5);

/// A PC/SC service with two virtual readers, or none, which is stopped when this is dropped.
pub struct Pcscd {
    folder: PathBuf,
    /// The port of the first reader; the second has the next one.
    port: u16,
    /// The name of its readers.
    name: String,
    daemon: Option<Child>,
    /// The folder, if the service created it itself; deleted with it.
    own_folder: Option<TempDir>,
}

/// A chip on a reader, which is removed when this is dropped.
pub struct LaidDown<C> {
    connection: TcpStream,
    card: Option<JoinHandle<C>>,
}

impl Pcscd {
    /// A running service with two readers, for clients in other processes.
    ///
    /// # Panics
    /// When `pcscd` and the virtual driver are not installed.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut pcscd = Self::in_folder(folder.path());
        pcscd.own_folder = Some(folder);
        pcscd.restart(true);
        pcscd
    }

    fn in_folder(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            port: free_ports(2),
            name: "Virtual reader".to_owned(),
            daemon: None,
            own_folder: None,
        }
    }

    /// The path of its socket, for [`SOCKET`].
    pub fn socket(&self) -> PathBuf {
        self.folder.join("pcscd.sock")
    }

    /// Starts it again with readers of another name, as if other ones were connected.
    pub fn restart_as(&mut self, name: &str) {
        name.clone_into(&mut self.name);
        self.restart(true);
    }

    /// Ends it like a crash, and starts it again, with or without its readers.
    pub fn restart(&mut self, readers: bool) {
        self.kill();
        let config = self.folder.join("conf.d");
        let _ = fs::remove_dir_all(&config);
        fs::create_dir(&config).expect("the folder can be written");
        if readers {
            let (port, name) = (self.port, &self.name);
            let reader = format!(
                "FRIENDLYNAME \"{name}\"\nDEVICENAME /dev/null:{port}\nLIBPATH {DRIVER}\nCHANNELID {port}\n"
            );
            fs::write(config.join("vpcd"), reader).expect("the folder can be written");
        }
        let socket = UnixListener::bind(self.socket()).expect("a socket can be bound");
        let log =
            fs::File::create(self.folder.join("pcscd.log")).expect("the folder can be written");
        let daemon = Command::new("sh")
            .args(["-c", LAUNCH])
            .arg(&config)
            .args(polkit_argument())
            .stdin(OwnedFd::from(socket))
            .stdout(log)
            .stderr(Stdio::null())
            .spawn()
            .expect("pcscd is installed");
        self.daemon = Some(daemon);
    }

    /// Ends it like a crash. Chips are then on no reader.
    pub fn kill(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        let _ = fs::remove_file(self.socket());
    }

    /// Places a chip on the first reader.
    pub fn lay_down<C: VirtualCard + 'static>(&self, card: C) -> LaidDown<C> {
        self.lay_on(0, card)
    }

    /// Places a chip on the first reader (0) or the second (1).
    ///
    /// # Panics
    /// When the daemon does not open the reader.
    pub fn lay_on<C: VirtualCard + 'static>(&self, reader: u16, mut card: C) -> LaidDown<C> {
        let connection = self.connect(self.port + reader);
        let wire = connection.try_clone().expect("a socket can be shared");
        let card = thread::spawn(move || {
            // An error ends the connection, which removes the card.
            let _ = answer_all(wire, &mut card);
            card
        });
        LaidDown {
            connection,
            card: Some(card),
        }
    }

    fn connect(&self, port: u16) -> TcpStream {
        for _ in 0..PATIENCE.as_millis() / PAUSE.as_millis() {
            match TcpStream::connect(("127.0.0.1", port)) {
                Ok(connection) => return connection,
                Err(_) => thread::sleep(PAUSE),
            }
        }
        let log = fs::read_to_string(self.folder.join("pcscd.log"));
        panic!("the reader does not come: {}", log.unwrap_or_default());
    }
}

impl Drop for Pcscd {
    fn drop(&mut self) {
        self.kill();
        drop(self.own_folder.take());
    }
}

impl<C> LaidDown<C> {
    /// Removes the chip, waits until the reader has noticed, and returns the chip. The reader looks
    /// a few times per second, so it would take another chip that comes in between for this one.
    ///
    /// # Panics
    /// When the chip did, or the reader does not notice.
    pub fn take_away(mut self) -> C {
        let _ = self.connection.shutdown(Shutdown::Write);
        let card = self.card.take().expect("it is taken away once");
        let card = card.join().expect("a chip does not panic");
        self.connection
            .set_read_timeout(Some(PATIENCE))
            .expect("a socket takes a timeout");
        // The driver closes its side when the card is gone.
        let mut rest = Vec::new();
        let closed = self.connection.read_to_end(&mut rest);
        let waits = [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut];
        assert!(
            !closed.is_err_and(|error| waits.contains(&error.kind())),
            "the reader does not notice that the chip is gone"
        );
        card
    }

    fn end(&mut self) -> Option<JoinHandle<C>> {
        let _ = self.connection.shutdown(Shutdown::Both);
        self.card.take()
    }
}

impl<C> Drop for LaidDown<C> {
    fn drop(&mut self) {
        if let Some(card) = self.end() {
            let _ = card.join();
        }
    }
}

/// Answers the driver until one side ends (vpcd's protocol: two bytes of length, then a control
/// byte or a command).
fn answer_all(mut wire: TcpStream, card: &mut impl VirtualCard) -> io::Result<()> {
    wire.set_nodelay(true)?;
    loop {
        // Otherwise the driver, which sends length and message separately, waits for 40 ms.
        #[cfg(target_os = "linux")]
        std::os::linux::net::TcpStreamExt::set_quickack(&wire, true)?;
        let mut length = [0; 2];
        wire.read_exact(&mut length)?;
        let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
        wire.read_exact(&mut message)?;
        let reply = match *message {
            [0x00] => continue,
            [0x01 | 0x02] => {
                card.power_on();
                continue;
            }
            [0x04] => card.atr(),
            // An empty answer cannot be sent; it means that the card was removed.
            _ => match card.transmit(&message) {
                Some(reply) if !reply.is_empty() => reply,
                _ => return wire.shutdown(Shutdown::Both),
            },
        };
        let length = u16::try_from(reply.len()).unwrap_or(u16::MAX);
        let reply = &reply[..usize::from(length)];
        // One write, because the driver reads one message at a time.
        wire.write_all(&[&length.to_be_bytes(), reply].concat())?;
    }
}

/// The option that keeps newer daemons from asking polkit about every client.
fn polkit_argument() -> Option<&'static str> {
    const SWITCH: &str = "--disable-polkit";
    let help = Command::new("/usr/sbin/pcscd")
        .arg("--help")
        .output()
        .ok()?;
    let help = [help.stdout, help.stderr].concat();
    String::from_utf8_lossy(&help)
        .contains(SWITCH)
        .then_some(SWITCH)
}

/// Runs `body`, a closure of a test, in a process in which [`SOCKET`] names a separate PC/SC
/// service: it starts only this test again. A test calls this and nothing else.
///
/// # Panics
/// When the test fails there.
pub fn in_own_process<F: FnOnce(Pcscd)>(body: F) {
    if let Some(socket) = std::env::var_os(SOCKET) {
        let folder = Path::new(&socket).parent().expect("it is in a folder");
        let mut pcscd = Pcscd::in_folder(folder);
        pcscd.restart(true);
        return body(pcscd);
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    // `crate::module::test::{{closure}}`
    let path = type_name_of_val(&body);
    let test = path.split_once("::").map_or(path, |(_, rest)| rest);
    let test = test.trim_end_matches("::{{closure}}");
    let output = Command::new(std::env::current_exe().expect("a test has a program"))
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(SOCKET, folder.path().join("pcscd.sock"))
        .output()
        .expect("a test can be started");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}
