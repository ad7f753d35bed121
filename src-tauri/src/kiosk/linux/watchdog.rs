//! The watchdog of systemd (`sd_notify(3)`): systemd ends a program whose user interface hangs, and
//! starts it again. Everything else that hangs is found by the program itself.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use gtk::glib;

/// The pause between two signs of life.
const BEAT: Duration = Duration::from_secs(2);
/// The longest silence of a program that works, in microseconds. With the two seconds after which
/// systemd starts it again, visitors wait for ten. The unit's own limit is for the start.
const SILENCE: &str = "WATCHDOG_USEC=8000000";
/// The sign of life.
const ALIVE: &str = "WATCHDOG=1";

/// Tells systemd from now on that the thread of the user interface works. It must be called on that
/// thread. It does nothing if the unit has no watchdog.
pub(in crate::kiosk) fn begin() {
    let (Some(_), Some(socket)) = (env::var_os("WATCHDOG_USEC"), env::var_os("NOTIFY_SOCKET"))
    else {
        return;
    };
    let systemd = match Systemd::at(&socket) {
        Ok(systemd) => systemd,
        Err(error) => {
            tracing::warn!("systemd's watchdog cannot be used: {error}");
            return;
        }
    };
    let mut message = SILENCE;
    glib::timeout_add_local(BEAT, move || {
        // systemd ends a program that it does not hear, so an error needs no answer.
        if systemd.tell(message).is_ok() {
            message = ALIVE;
        }
        glib::ControlFlow::Continue
    });
}

/// The socket at which systemd listens.
struct Systemd {
    socket: UnixDatagram,
    address: SocketAddr,
}

impl Systemd {
    /// The socket at a path or, after an `@`, at an abstract name.
    fn at(name: &OsStr) -> io::Result<Self> {
        let address = match name.as_bytes().strip_prefix(b"@") {
            Some(name) => SocketAddr::from_abstract_name(name)?,
            None => SocketAddr::from_pathname(name)?,
        };
        let socket = UnixDatagram::unbound()?;
        // A systemd that is busy must not stop the user interface.
        socket.set_nonblocking(true)?;
        Ok(Self { socket, address })
    }

    fn tell(&self, message: &str) -> io::Result<usize> {
        self.socket.send_to_addr(message.as_bytes(), &self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systemd_listens_at_a_path_or_at_an_abstract_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let at_path = UnixDatagram::bind(&path).unwrap();
        let name = format!("tapdesk-watchdog-{}", std::process::id());
        let abstract_name = SocketAddr::from_abstract_name(&name).unwrap();
        let at_name = UnixDatagram::bind_addr(&abstract_name).unwrap();
        for (socket, name) in [
            (at_path, path.into_os_string()),
            (at_name, format!("@{name}").into()),
        ] {
            Systemd::at(&name).unwrap().tell(ALIVE).unwrap();
            let mut message = [0; 32];
            let length = socket.recv(&mut message).unwrap();
            assert_eq!(message[..length], *ALIVE.as_bytes());
        }
        let nowhere = folder.path().join("nobody");
        assert!(
            Systemd::at(nowhere.as_os_str())
                .unwrap()
                .tell(ALIVE)
                .is_err()
        );
    }
}
