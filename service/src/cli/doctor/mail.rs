//! The mail server: whether this machine reaches it.

use std::io::{self, ErrorKind};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use serde_json::Value;

use super::Finding::{self, Good, Warning};

/// How long a connection to one address may take. Mail servers answer within a second.
const CONNECT: Duration = Duration::from_secs(5);

/// Checks the mail server that the service shows; `None` if it has none.
pub(super) fn check(server: &Value) -> Option<Finding> {
    let host = server["host"].as_str()?;
    let port = u16::try_from(server["port"].as_u64()?).ok()?;
    Some(match connect(host, port) {
        Ok(()) => Good(format!("{host} takes connections at port {port}")),
        Err(error) => Warning(format!(
            "{host} cannot be reached at port {port}: {error}. Correct the mail server in the settings, or let this \
             machine reach it."
        )),
    })
}

fn connect(host: &str, port: u16) -> io::Result<()> {
    let mut last = io::Error::from(ErrorKind::NotFound);
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(_) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_mail_server_that_cannot_be_reached_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = json!({"host": "127.0.0.1", "port": port});
        assert!(matches!(check(&server), Some(Good(_))));
        drop(listener);
        let Some(Warning(why)) = check(&server) else {
            panic!("nothing listens there");
        };
        assert!(why.starts_with("127.0.0.1 cannot be reached"), "{why}");
        assert!(check(&Value::Null).is_none());
    }
}
