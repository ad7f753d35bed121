//! A mail server: SMTP in clear, with TLS or with STARTTLS, with a login, and with the refusals of
//! real servers. It keeps all mails that it took.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::{PATIENCE, poll};

/// Pause between two looks whether a silent server still is one.
const LOOK: Duration = Duration::from_millis(50);
/// Most bytes of a line that the server reads.
const LINE_MAX: usize = 64 * 1024;

/// A mail that the server took.
#[derive(Clone, Debug)]
pub struct TakenMail {
    /// The address of the sender, from the envelope.
    pub from: String,
    /// The address of the recipient, from the envelope.
    pub to: String,
    /// The user that was logged in.
    pub user: Option<String>,
    /// Whether the connection was encrypted.
    pub encrypted: bool,
    /// The header and the body, as they were sent.
    pub content: String,
}

impl TakenMail {
    /// The content with its texts as a person reads them, whether they were sent as
    /// quoted-printable, in base64, or as they are.
    pub fn readable(&self) -> String {
        let parts = self.content.split("\r\n--").map(|part| {
            let (header, body) = part.split_once("\r\n\r\n").unwrap_or((part, ""));
            let lower = header.to_ascii_lowercase();
            let is_text = lower.contains("content-type: text/");
            if is_text && lower.contains("content-transfer-encoding: base64") {
                let body: String = body.split_whitespace().collect();
                let text = STANDARD.decode(body).unwrap_or_default();
                format!("{header}\r\n\r\n{}", String::from_utf8_lossy(&text))
            } else {
                whole_lines(part)
            }
        });
        parts.collect::<Vec<_>>().join("\r\n--")
    }

    /// The value of a header that is one line; empty if it is missing.
    pub fn header(&self, name: &str) -> &str {
        let start = format!("{name}: ");
        let mut lines = self.content.lines().take_while(|line| !line.is_empty());
        lines
            .find_map(|line| line.strip_prefix(&start))
            .unwrap_or_default()
    }
}

/// A text that was sent as quoted-printable.
fn whole_lines(text: &str) -> String {
    let whole = text.replace("=\r\n", "");
    let mut parts = whole.split('=');
    let mut readable = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let byte = part.get(..2).filter(|code| is_upper_hex(code));
        match byte.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if byte.is_ascii() => {
                readable.push(char::from(byte));
                readable.push_str(&part[2..]);
            }
            _ => {
                readable.push('=');
                readable.push_str(part);
            }
        }
    }
    readable
}

fn is_upper_hex(code: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte);
    code.bytes().all(is_digit)
}

/// The encryption that the server offers.
#[derive(Clone, Default)]
pub enum Encryption {
    /// No encryption at all.
    #[default]
    Never,
    /// From the first byte.
    AtOnce(Arc<ServerConfig>),
    /// After STARTTLS. Before it, a login is refused.
    OnRequest(Arc<ServerConfig>),
}

/// Treatment of mails, and the mails so far.
#[derive(Default)]
struct Rules {
    /// The only user, with its password; without one, there is no login.
    login: Option<(String, String)>,
    /// Answers to RCPT, by recipient.
    refused: HashMap<String, String>,
    /// Whether the first attempt for each recipient is refused for the moment.
    greylists: bool,
    /// Recipients that came before.
    known: BTreeSet<String>,
    /// Whether the connection ends after a mail was taken, without an answer.
    hangs_up: bool,
    /// Whether connections are accepted and get no byte.
    is_silent: bool,
    /// The ways to log in that are offered; empty for both.
    mechanisms: String,
    taken: Vec<TakenMail>,
    connections: usize,
}

/// A running mail server, which is stopped when this is dropped.
pub struct MailServer {
    port: u16,
    encryption: Encryption,
    rules: Arc<Mutex<Rules>>,
    running: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

impl Drop for MailServer {
    fn drop(&mut self) {
        self.go_down();
    }
}

impl MailServer {
    /// A server without encryption that takes every mail.
    pub fn start() -> Self {
        Self::with(Encryption::Never)
    }

    /// A server with this encryption.
    ///
    /// # Panics
    /// When no port is free.
    pub fn with(encryption: Encryption) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let mut server = Self {
            port,
            encryption,
            rules: Arc::default(),
            running: None,
        };
        server.listen(listener);
        server
    }

    /// The port on the loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Demands a login from now on.
    pub fn demand_login(&self, user: &str, password: &str) {
        self.rules().login = Some((user.to_owned(), password.to_owned()));
    }

    /// Refuses each recipient for the moment when it comes for the first time.
    pub fn greylist(&self) {
        self.rules().greylists = true;
    }

    /// Answers like this to a recipient from now on.
    pub fn refuse(&self, recipient: &str, answer: &str) {
        let (recipient, answer) = (recipient.to_owned(), answer.to_owned());
        self.rules().refused.insert(recipient, answer);
    }

    /// Whether connections end after a mail, without an answer.
    pub fn hang_up(&self, does: bool) {
        self.rules().hangs_up = does;
    }

    /// Whether connections are accepted and get no byte. Afterwards, those that wait are closed.
    pub fn be_silent(&self, is: bool) {
        self.rules().is_silent = is;
    }

    /// Offers only these ways to log in, such as `LOGIN`.
    pub fn offer_logins(&self, mechanisms: &str) {
        mechanisms.clone_into(&mut self.rules().mechanisms);
    }

    /// Stops listening. Connections are refused until [`Self::come_back`].
    pub fn go_down(&mut self) {
        if let Some((stops, thread)) = self.running.take() {
            stops.store(true, Ordering::SeqCst);
            // It waits for a connection, and sees the mark after one.
            let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
            let _ = thread.join();
        }
    }

    /// Listens at the same port again.
    ///
    /// # Panics
    /// When another program took the port.
    pub fn come_back(&mut self) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port));
        self.listen(listener.expect("the port is still free"));
    }

    /// The mails so far.
    pub fn taken(&self) -> Vec<TakenMail> {
        self.rules().taken.clone()
    }

    /// Number of connections so far.
    pub fn connections(&self) -> usize {
        self.rules().connections
    }

    /// Waits for the first `count` mails, and returns them.
    ///
    /// # Panics
    /// When they do not come. The numbers show whether the sender or the conversation is late.
    pub async fn wait_for(&self, count: usize) -> Vec<TakenMail> {
        let all = poll(PATIENCE, async || {
            let taken = self.taken();
            (taken.len() >= count).then_some(taken)
        });
        all.await.unwrap_or_else(|| {
            let (came, connections) = (self.taken().len(), self.connections());
            panic!("waited in vain for {count} mails: {came} came in {connections} connections")
        })
    }

    fn rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn listen(&mut self, listener: TcpListener) {
        let stops = Arc::new(AtomicBool::new(false));
        let (encryption, rules) = (self.encryption.clone(), Arc::clone(&self.rules));
        let mark = Arc::clone(&stops);
        let thread = std::thread::spawn(move || {
            for connection in listener.incoming() {
                if mark.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(connection) = connection else { continue };
                let (encryption, rules) = (encryption.clone(), Arc::clone(&rules));
                std::thread::spawn(move || {
                    // A client may leave at any time.
                    let _ = talk(&connection, &encryption, &rules);
                });
            }
        });
        self.running = Some((stops, thread));
    }
}

/// A connection, encrypted or not.
trait Wire: Read + Write {}

impl<T: Read + Write> Wire for T {}

fn encrypted(connection: &TcpStream, config: &Arc<ServerConfig>) -> io::Result<Box<dyn Wire>> {
    let tls = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
    Ok(Box::new(StreamOwned::new(tls, connection.try_clone()?)))
}

/// A line without its end. A line that the client did not end is an error.
fn line(wire: &mut dyn Wire) -> io::Result<String> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while byte != *b"\n" {
        wire.read_exact(&mut byte)?;
        line.push(byte[0]);
        if line.len() > LINE_MAX {
            return Err(io::Error::other("the line is too long"));
        }
    }
    let line = String::from_utf8_lossy(&line).into_owned();
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn answer(wire: &mut dyn Wire, text: &str) -> io::Result<()> {
    wire.write_all(format!("{text}\r\n").as_bytes())?;
    wire.flush()
}

fn talk(connection: &TcpStream, encryption: &Encryption, rules: &Mutex<Rules>) -> io::Result<()> {
    connection.set_read_timeout(Some(PATIENCE))?;
    let rules = || rules.lock().unwrap_or_else(PoisonError::into_inner);
    rules().connections += 1;
    if rules().is_silent {
        // The client loses its patience, however long that takes, or the server hangs up.
        connection.set_read_timeout(Some(LOOK))?;
        let mut client = connection;
        while rules().is_silent {
            match client.read(&mut [0]) {
                Ok(0) => break,
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                _ => {}
            }
        }
        return Ok(());
    }
    let (mut wire, mut is_encrypted) = match encryption {
        Encryption::AtOnce(config) => (encrypted(connection, config)?, true),
        _ => (Box::new(connection.try_clone()?) as Box<dyn Wire>, false),
    };
    let wire = &mut wire;
    answer(wire.as_mut(), "220 mail.test ESMTP")?;
    let (mut user, mut from, mut to) = (None, String::new(), String::new());
    loop {
        let command = line(wire.as_mut())?;
        let verb = command.split_once(' ').map_or(&*command, |(verb, _)| verb);
        match verb.to_ascii_uppercase().as_str() {
            "EHLO" => {
                let offers_tls = matches!(encryption, Encryption::OnRequest(_)) && !is_encrypted;
                let mut lines = vec!["250-mail.test".to_owned()];
                if offers_tls {
                    lines.push("250-STARTTLS".to_owned());
                } else if rules().login.is_some() {
                    let offered = match rules().mechanisms.as_str() {
                        "" => "250-AUTH PLAIN LOGIN".to_owned(),
                        some => format!("250-AUTH {some}"),
                    };
                    lines.push(offered);
                }
                lines.push("250 8BITMIME".to_owned());
                answer(wire.as_mut(), &lines.join("\r\n"))?;
            }
            "STARTTLS" => {
                let Encryption::OnRequest(config) = encryption else {
                    answer(wire.as_mut(), "502 5.5.1 Not offered")?;
                    continue;
                };
                answer(wire.as_mut(), "220 2.0.0 Begin")?;
                *wire = encrypted(connection, config)?;
                is_encrypted = true;
            }
            "AUTH" => {
                let (name, password) = login(wire.as_mut(), &command)?;
                let is_right = rules().login == Some((name.clone(), password));
                if is_right {
                    user = Some(name);
                    answer(wire.as_mut(), "235 2.7.0 Welcome")?;
                } else {
                    // Some servers are this careless.
                    answer(wire.as_mut(), &format!("535 5.7.8 Wrong: {command}"))?;
                }
            }
            "MAIL" => {
                if rules().login.is_some() && user.is_none() {
                    answer(wire.as_mut(), "530 5.7.0 Log in first")?;
                    continue;
                }
                from = address(&command);
                answer(wire.as_mut(), "250 2.1.0 Ok")?;
            }
            "RCPT" => {
                to = address(&command);
                let refusal = refusal(&mut rules(), &to);
                answer(wire.as_mut(), refusal.as_deref().unwrap_or("250 2.1.5 Ok"))?;
            }
            "DATA" => {
                answer(wire.as_mut(), "354 Go ahead")?;
                let content = content(wire.as_mut())?;
                let mail = TakenMail {
                    from: from.clone(),
                    to: to.clone(),
                    user: user.clone(),
                    encrypted: is_encrypted,
                    content,
                };
                let hangs_up = {
                    let mut rules = rules();
                    rules.taken.push(mail);
                    rules.hangs_up
                };
                if hangs_up {
                    return Ok(());
                }
                answer(wire.as_mut(), "250 2.0.0 Taken")?;
            }
            "QUIT" => return answer(wire.as_mut(), "221 2.0.0 Bye"),
            "NOOP" | "RSET" => answer(wire.as_mut(), "250 2.0.0 Ok")?,
            _ => answer(wire.as_mut(), "500 5.5.2 Unknown command")?,
        }
    }
}

/// The answer to a recipient that is not accepted.
fn refusal(rules: &mut Rules, to: &str) -> Option<String> {
    if let Some(answer) = rules.refused.get(to) {
        return Some(answer.clone());
    }
    let is_new = rules.known.insert(to.to_owned());
    (rules.greylists && is_new).then(|| "451 4.7.1 Greylisted, come back later".to_owned())
}

/// The user name and password of an AUTH command.
fn login(wire: &mut dyn Wire, command: &str) -> io::Result<(String, String)> {
    let decoded = |text: &str| {
        let bytes = STANDARD.decode(text).map_err(io::Error::other)?;
        Ok::<_, io::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let mut words = command.split(' ').skip(1);
    if let (Some("PLAIN"), Some(response)) = (words.next(), words.next()) {
        let response = decoded(response)?;
        let mut parts = response.split('\0').skip(1);
        let mut next = || parts.next().unwrap_or_default().to_owned();
        Ok((next(), next()))
    } else {
        answer(wire, "334 VXNlcm5hbWU6")?;
        let name = decoded(&line(wire)?)?;
        answer(wire, "334 UGFzc3dvcmQ6")?;
        Ok((name, decoded(&line(wire)?)?))
    }
}

/// The address between angle brackets.
fn address(command: &str) -> String {
    let inner = command
        .split_once('<')
        .and_then(|(_, rest)| rest.split_once('>'));
    inner.map_or_else(String::new, |(address, _)| address.to_owned())
}

/// The lines of a mail up to the single dot.
fn content(wire: &mut dyn Wire) -> io::Result<String> {
    let mut content = String::new();
    loop {
        let line = line(wire)?;
        if line == "." {
            return Ok(content);
        }
        content.push_str(line.strip_prefix('.').unwrap_or(&line));
        content.push_str("\r\n");
    }
}
