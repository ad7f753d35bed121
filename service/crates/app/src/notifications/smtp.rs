//! The conversation with a mail server, step by step, so that a failure names its step.

mod encrypted;
mod refusal;
mod wire;
mod words;

use std::error::Error as _;
use std::io;
use std::time::Duration;

use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use tokio::net::{TcpStream, lookup_host};
use tokio::sync::OnceCell;
use tokio::time::timeout;
use zeroize::Zeroizing;

use self::encrypted::Encrypted;
use self::wire::Wire;
use super::mime;
use domain::keyring::{Keyring, KeyringError};
use domain::mail::{MailAddress, MailFields, MailSecurity, MailStep};
use domain::notification::SendFailure;

/// Time limit of a connection to one address.
const CONNECT: Duration = Duration::from_secs(15);
/// Time limit of a conversation until the server gets the mail. Servers that search for spam take a
/// minute before they answer.
pub(super) const PATIENCE: Duration = Duration::from_mins(2);
/// How long a server may take to say that it took a mail, while it searches it for viruses: RFC 5321,
/// section 4.5.3.2.6. A client that leaves earlier sends the mail again and again.
pub(super) const TAKEN_WITHIN: Duration = Duration::from_mins(10);

/// A mail server whose password can be used.
pub(super) struct Server {
    fields: MailFields,
    password: Option<Zeroizing<String>>,
    /// Built for the first mail, because the system's authorities are read from the disk.
    tls: OnceCell<TlsParameters>,
}

/// A mail that was not sent: the step that failed, and why.
#[derive(Debug)]
pub(super) struct Unsent {
    pub(super) step: MailStep,
    pub(super) failure: SendFailure,
    /// Whether the time was over before the server had answered.
    pub(super) timed_out: bool,
}

impl Unsent {
    pub(super) fn new(step: MailStep, why: impl Into<String>) -> Self {
        Self {
            step,
            failure: SendFailure::new(why),
            timed_out: false,
        }
    }

    /// Whether a mail to any other recipient would fail alike. A server that does not answer takes
    /// [`PATIENCE`] for each.
    pub(super) const fn is_of_all(&self) -> bool {
        self.timed_out || !matches!(self.step, MailStep::Recipient | MailStep::Message)
    }
}

/// Why a conversation ended early.
enum Broken {
    /// The mail library's error, perhaps with the server's answer.
    Smtp(Error),
    /// The network's error, before there was a connection.
    Io(io::Error),
    /// A sentence for people.
    Said(String),
    /// The time was over before the server got the mail.
    Late,
    /// The time was over, and the server has the mail.
    Unconfirmed,
}

impl Broken {
    /// The status and the text with which the server refused.
    fn answer(&self) -> Option<(u16, String)> {
        let Self::Smtp(error) = self else {
            return None;
        };
        let status = error.status()?;
        let text = error.source().map_or_else(String::new, ToString::to_string);
        Some((status.into(), text))
    }
}

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Self::Smtp(error)
    }
}

impl Server {
    /// Opens the password of the stored settings.
    pub(super) fn open(
        stored: &storage::MailServer,
        keyring: &Keyring,
    ) -> Result<Self, KeyringError> {
        let password = stored.password.as_deref();
        let password = password.map(|wrapped| keyring.unwrap_secret(wrapped));
        let password = password.transpose()?.map(|bytes| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Zeroizing::new(text)
        });
        Ok(Self {
            fields: stored.fields.clone(),
            password,
            tls: OnceCell::new(),
        })
    }

    /// The address of the sender.
    pub(super) const fn sender(&self) -> &MailAddress {
        &self.fields.from
    }

    /// Sends a mail to one recipient. Takes at most [`PATIENCE`] until the server gets the mail,
    /// `taken_within` for its answer, and [`CONNECT`] for QUIT.
    pub(super) async fn send(
        &self,
        to: &MailAddress,
        mail: &[u8],
        taken_within: Duration,
    ) -> Result<(), Unsent> {
        self.send_within(PATIENCE, to, mail, taken_within).await
    }

    async fn send_within(
        &self,
        patience: Duration,
        to: &MailAddress,
        mail: &[u8],
        taken_within: Duration,
    ) -> Result<(), Unsent> {
        let mut step = MailStep::Connect;
        let talk = timeout(patience, self.talk(to, &mut step)).await;
        let mut connection = match talk.unwrap_or(Err(Broken::Late)) {
            Ok(connection) => connection,
            Err(broken) => return Err(self.unsent(step, &broken, false)),
        };
        let broken = match timeout(taken_within, connection.message(mail)).await {
            Ok(Ok(_)) => {
                // The mail is the server's now, whatever it answers.
                let _ = timeout(CONNECT, connection.quit()).await;
                return Ok(());
            }
            Ok(Err(error)) => Broken::Smtp(error),
            Err(_) => Broken::Unconfirmed,
        };
        Err(self.unsent(step, &broken, true))
    }

    /// The failure of a conversation. `is_out` says whether the server may have the whole mail.
    fn unsent(&self, step: MailStep, broken: &Broken, is_out: bool) -> Unsent {
        let answer = broken.answer();
        let is_about_mail = matches!(step, MailStep::Recipient | MailStep::Message);
        let is_final = |(status, text): &(u16, String)| {
            (500..600).contains(status) && refusal::is_final(*status, text)
        };
        Unsent {
            failure: SendFailure {
                permanent: is_about_mail && answer.as_ref().is_some_and(is_final),
                unsure: is_out && answer.is_none(),
                ..SendFailure::new(words::words(&self.fields, step, broken))
            },
            timed_out: matches!(broken, Broken::Late | Broken::Unconfirmed),
            step,
        }
    }

    /// Talks to the server until it waits for the mail.
    async fn talk(
        &self,
        to: &MailAddress,
        step: &mut MailStep,
    ) -> Result<AsyncSmtpConnection, Broken> {
        let MailFields {
            security,
            user,
            from,
            ..
        } = &self.fields;
        let sender = mime::address(from).map_err(Broken::Said)?;
        let recipient = mime::address(to).map_err(Broken::Said)?;
        let hello = ClientId::Domain(from.domain().to_owned());
        let wire = Wire::new(self.connect().await.map_err(Broken::Io)?);
        let stream: Box<dyn AsyncTokioStream> = match security {
            MailSecurity::Tls => Box::new(Encrypted::new(wire, self.tls().await?).await?),
            MailSecurity::Starttls | MailSecurity::None => Box::new(wire),
        };
        let mut connection = AsyncSmtpConnection::connect_with_transport(stream, &hello).await?;
        if *security == MailSecurity::Starttls {
            *step = MailStep::Encrypt;
            if !connection.can_starttls() {
                return Err(Broken::Said(
                    "The mail server does not offer STARTTLS at this port. Choose the security tls, usually with the port 465."
                        .to_owned(),
                ));
            }
            connection.starttls(self.tls().await?, &hello).await?;
        }
        if let (Some(user), Some(password)) = (user, &self.password) {
            *step = MailStep::Login;
            let credentials = Credentials::new(user.clone(), password.as_str().to_owned());
            let mechanisms = [Mechanism::Plain, Mechanism::Login];
            connection.auth(&mechanisms, &credentials).await?;
        }
        *step = MailStep::Sender;
        connection
            .command(Mail::new(Some(sender), Vec::new()))
            .await?;
        *step = MailStep::Recipient;
        connection.command(Rcpt::new(recipient, Vec::new())).await?;
        *step = MailStep::Message;
        connection.command(Data).await?;
        Ok(connection)
    }

    /// A connection to the first address of the host that answers.
    async fn connect(&self) -> io::Result<TcpStream> {
        let MailFields { host, port, .. } = &self.fields;
        let mut last = io::Error::other("its name has no address");
        for address in lookup_host((host.as_str(), *port)).await? {
            last = match timeout(CONNECT, TcpStream::connect(address)).await {
                Ok(Ok(tcp)) => return Ok(tcp),
                Ok(Err(error)) => error,
                Err(_) => io::Error::new(io::ErrorKind::TimedOut, "it does not answer"),
            };
        }
        Err(last)
    }

    async fn tls(&self) -> Result<TlsParameters, Broken> {
        let build = || tls(self.fields.host.clone());
        self.tls.get_or_try_init(build).await.cloned()
    }
}

/// TLS for a host, with the same verification of certificates as for webhooks: the system's.
async fn tls(host: String) -> Result<TlsParameters, Broken> {
    let built = tokio::task::spawn_blocking(move || TlsParameters::builder(host).build_rustls());
    let missing = |why: String| Broken::Said(format!("TLS is not available: {why}."));
    match built.await {
        Ok(Ok(tls)) => Ok(tls),
        Ok(Err(error)) => Err(missing(error.to_string())),
        Err(error) => Err(missing(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    use tokio::net::TcpListener;

    use super::*;

    /// The failure with a server that says these texts, and waits for a line after each.
    async fn unsent(security: MailSecurity, patience: Duration, says: &[&str]) -> Unsent {
        unsent_within(security, [patience, LONG], says).await
    }

    /// As [`unsent`], with a limit of the time for the answer to the mail besides.
    async fn unsent_within(
        security: MailSecurity,
        [patience, taken_within]: [Duration; 2],
        says: &[&str],
    ) -> Unsent {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server {
            fields: MailFields {
                host: "127.0.0.1".to_owned(),
                port: listener.local_addr().unwrap().port(),
                security,
                user: None,
                from: MailAddress::parse("tapdesk@example.com").unwrap(),
            },
            password: None,
            tls: OnceCell::new(),
        };
        let talk = async {
            let (connection, _) = listener.accept().await.unwrap();
            let mut connection = BufReader::new(connection);
            for text in says {
                // The client may leave at any time.
                let _ = connection.write_all(text.as_bytes()).await;
                let _ = connection.read_until(b'\n', &mut Vec::new()).await;
            }
            connection
        };
        let to = MailAddress::parse("anna@example.com").unwrap();
        let sending = server.send_within(patience, &to, b"mail", taken_within);
        let (sent, _open) = tokio::join!(sending, talk);
        sent.unwrap_err()
    }

    /// Enough on a slow machine.
    const LONG: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn a_server_that_does_not_answer_fails_for_all_recipients() {
        let soon = Duration::from_secs(1);
        let silent = unsent(MailSecurity::None, soon, &[]).await;
        assert!(silent.timed_out && silent.is_of_all());
        let hello = ["220 mail.test\r\n", "250 mail.test\r\n", "250 Ok\r\n"];
        let later = unsent(MailSecurity::None, soon, &hello).await;
        assert_eq!(later.step, MailStep::Recipient);
        assert!(later.timed_out && later.is_of_all(), "{later:?}");
        let with = |answer| {
            let mut says = hello.to_vec();
            says.push(answer);
            says
        };
        let refused = with("550 5.1.1 No such user\r\n");
        let refused = unsent(MailSecurity::None, LONG, &refused).await;
        assert!(refused.failure.permanent && !refused.is_of_all());
        let relay = with("554 5.7.1 Relay access denied\r\n");
        let relay = unsent(MailSecurity::None, LONG, &relay).await;
        assert!(!relay.failure.permanent, "{relay:?}");
    }

    #[tokio::test]
    async fn a_server_that_has_the_mail_gets_time_of_its_own_and_may_have_taken_it() {
        let soon = Duration::from_millis(200);
        let has_mail = [
            "220 mail.test\r\n",
            "250 mail.test\r\n",
            "250 Ok\r\n",
            "250 Ok\r\n",
            "354 Go ahead\r\n",
        ];
        let searching = unsent_within(MailSecurity::None, [LONG, soon], &has_mail).await;
        assert!(searching.failure.unsure && searching.timed_out);
        assert!(searching.is_of_all(), "{searching:?}");
        assert!(TAKEN_WITHIN >= Duration::from_mins(10), "RFC 5321");
        // Without the mail it took nothing.
        let asleep = unsent_within(MailSecurity::None, [soon, LONG], &has_mail[..4]).await;
        assert!(!asleep.failure.unsure && asleep.timed_out, "{asleep:?}");
    }

    #[tokio::test]
    async fn a_line_without_an_end_is_not_collected_in_memory() {
        let endless = "2".repeat(1024 * 1024);
        let unsent = unsent(MailSecurity::None, LONG, &[&endless]).await;
        assert!(!unsent.timed_out);
        let expected =
            "The mail server sent more than a mail server does. Check the host and the port.";
        assert_eq!(unsent.failure.why, expected);
    }

    #[tokio::test]
    async fn an_answer_in_clear_beside_that_to_starttls_is_no_answer_afterwards() {
        let says = [
            "220 mail.test\r\n",
            "250-mail.test\r\n250 STARTTLS\r\n",
            "220 Go ahead\r\n250-mail.test\r\n250 AUTH PLAIN\r\n",
        ];
        let unsent = unsent(MailSecurity::Starttls, LONG, &says).await;
        assert_eq!(unsent.step, MailStep::Encrypt);
        // TLS gets the words, and does not wait for others.
        assert!(!unsent.timed_out, "{unsent:?}");
    }
}
