//! A network of two devices: this machine, and a phone in a separate network namespace. Needs root.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tapdesk_tests::PATIENCE;
use tempfile::TempDir;

pub(super) struct Network {
    /// The address of this machine.
    pub(super) here: Ipv4Addr,
    /// The address of the phone.
    pub(super) there: Ipv4Addr,
    /// A process that keeps the phone's namespace alive.
    phone: Child,
}

/// Two addresses of the block for measurements between devices (RFC 2544), different for each test
/// process.
fn addresses() -> (Ipv4Addr, Ipv4Addr) {
    let [.., high, low] = std::process::id().to_be_bytes();
    let at = |last| Ipv4Addr::new(198, 18 + (high & 1), low, high & 0xfc | last);
    (at(1), at(2))
}

impl Network {
    /// A new network, or the reason why this machine cannot have one.
    pub(super) fn new() -> Result<Self, &'static str> {
        let tried = Command::new("unshare")
            .args(["--mount", "--net", "ip", "link", "add", "one", "type"])
            .args(["veth", "peer", "name", "other"])
            .output();
        match tried {
            Ok(tried) if tried.status.success() => {}
            Ok(_) => return Err("only root may make a network, with interfaces of its own"),
            Err(_) => return Err("unshare is missing"),
        }
        if Command::new("chromium").arg("--version").output().is_err() {
            return Err("Chromium is missing");
        }
        // It reports that it is in the namespace, and stays there.
        let mut phone = Command::new("unshare")
            .args(["--net", "sh", "-c", "echo there && exec sleep infinity"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("unshare is installed");
        let mut word = [0; 5];
        let stdout = phone.stdout.as_mut().expect("stdout is a pipe");
        stdout.read_exact(&mut word).expect("it is there");
        let (here, there) = addresses();
        let network = Self { here, there, phone };
        let process = network.phone.id().to_string();
        let link = format!("tapd{}", std::process::id());
        let pair = [
            "link", "add", &link, "type", "veth", "peer", "name", "radio", "netns", &process,
        ];
        run("ip", &pair);
        run("ip", &["addr", "add", &format!("{here}/30"), "dev", &link]);
        run("ip", &["link", "set", &link, "up"]);
        network.on_phone(&["addr", "add", &format!("{there}/30"), "dev", "radio"]);
        network.on_phone(&["link", "set", "lo", "up"]);
        network.on_phone(&["link", "set", "radio", "up"]);
        network.on_phone(&["route", "add", "default", "via", &here.to_string()]);
        Ok(network)
    }

    /// The page that the phone sees at `url`, as HTML.
    pub(super) fn phone(&self, url: &str) -> String {
        let profile = TempDir::new().expect("a temporary folder can be made");
        let mut chromium = Command::new("nsenter")
            .args(["--target", &self.phone.id().to_string(), "--net"])
            .args(["chromium", "--headless", "--no-sandbox", "--disable-gpu"])
            .args(["--disable-dev-shm-usage", "--no-first-run"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(["--dump-dom", url])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("nsenter is installed");
        let mut stdout = chromium.stdout.take().expect("stdout is a pipe");
        let reading = thread::spawn(move || {
            let mut page = String::new();
            let _ = stdout.read_to_string(&mut page);
            page
        });
        #[expect(clippy::disallowed_methods, reason = "the patience of the test")]
        let began = Instant::now();
        while !reading.is_finished() {
            if began.elapsed() > PATIENCE {
                let _ = chromium.kill();
                let _ = chromium.wait();
                panic!("the phone does not open {url}");
            }
            thread::sleep(Duration::from_millis(50));
        }
        let _ = chromium.wait();
        reading.join().expect("the page is text")
    }

    /// Makes the phone's network drop all of its answers.
    pub(super) fn drop_answers(&self) {
        self.on_phone(&["route", "add", "blackhole", &self.here.to_string()]);
    }

    /// Runs `ip` in the phone's network.
    fn on_phone(&self, arguments: &[&str]) {
        let process = self.phone.id().to_string();
        let enter = ["--target", &process, "--net", "ip"];
        run("nsenter", &[&enter, arguments].concat());
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // The interfaces disappear with the namespace.
        let _ = self.phone.kill();
        let _ = self.phone.wait();
    }
}

fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "{program} {arguments:?}"
    );
}

/// A server that answers each request with a login page. Returns its port.
pub(super) fn portal(here: Ipv4Addr) -> u16 {
    const PAGE: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 29\r\n\
                        connection: close\r\n\r\n<h1>Welcome to the hotel</h1>";
    let listener = TcpListener::bind((here, 0)).expect("the interface is up");
    let port = listener.local_addr().expect("it is bound").port();
    thread::spawn(move || {
        for connection in listener.incoming() {
            let Ok(mut connection) = connection else {
                return;
            };
            let mut request = [0; 4096];
            // A TLS client rejects the answer.
            let _ = connection.read(&mut request);
            let _ = connection.write_all(PAGE.as_bytes());
        }
    });
    port
}

/// A name server that answers every name with `here`, except names below `nowhere.example`, which
/// do not exist. `false` if the port of name servers is taken.
pub(super) fn resolver(here: Ipv4Addr) -> bool {
    let Ok(socket) = UdpSocket::bind((here, 53)) else {
        return false;
    };
    thread::spawn(move || {
        let mut question = [0; 512];
        while let Ok((length, client)) = socket.recv_from(&mut question) {
            if let Some(answer) = answered(&question[..length], here) {
                let _ = socket.send_to(&answer, client);
            }
        }
    });
    true
}

/// The answer to a question of one name (RFC 1035, section 4).
fn answered(question: &[u8], here: Ipv4Addr) -> Option<Vec<u8>> {
    const HEADER: usize = 12;
    const A: u8 = 1;
    let name = question.get(HEADER..)?;
    let end = HEADER + name.iter().position(|&byte| byte == 0)? + 1;
    let kind = *question.get(end + 1)?;
    let exists = !question.windows(8).any(|part| part == b"\x07nowhere");
    let found = exists && kind == A;
    let mut answer = question[..2].to_vec();
    // A response with recursion; NXDOMAIN for missing names.
    answer.extend([0x81, if exists { 0x80 } else { 0x83 }]);
    answer.extend([0, 1, 0, u8::from(found), 0, 0, 0, 0]);
    answer.extend(&question[HEADER..end + 4]);
    if found {
        // The question's name, with an address that is valid for a second.
        answer.extend([0xc0, 0x0c, 0, A, 0, 1, 0, 0, 0, 1, 0, 4]);
        answer.extend(here.octets());
    }
    Some(answer)
}
