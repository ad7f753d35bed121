//! Checks the certificates that the service obtains itself, and the names that they are for.

use std::net::ToSocketAddrs as _;

use anyhow::{Result, anyhow};
use tapdesk_service::clock::{Millis, Timestamp};
use tapdesk_service::start::Database;
use tapdesk_service::storage::{CertificateState, postgres, sqlite};

use super::Finding::{self, Bad, Good, Warning};

/// A certificate that is valid for a shorter time should have been renewed: those of Let's Encrypt are
/// renewed 30 days before, and short ones two days.
const SOON: Millis = Millis::days(1);

/// The states of all certificates in the database, if it has the tables.
pub(super) fn states(database: &Database, is_ready: bool) -> Result<Vec<CertificateState>> {
    if !is_ready {
        return Ok(Vec::new());
    }
    match database {
        Database::Sqlite(path) => {
            sqlite::certificate_states(path).map_err(|error| anyhow!(error.to_string()))
        }
        Database::Postgres(address) => {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            let states = runtime.block_on(postgres::certificate_states(address));
            states.map_err(|error| anyhow!(error.to_string()))
        }
    }
}

/// The state of a domain's certificate.
pub(super) fn find<'s>(
    states: &'s [CertificateState],
    domain: &str,
    directory: &str,
) -> Option<&'s CertificateState> {
    let mut all = states.iter();
    all.find(|state| state.domain == domain && state.directory == directory)
}

/// Checks that a domain has a certificate, and that its renewal works.
pub(super) fn certificate(
    domain: &str,
    state: Option<&CertificateState>,
    now: Timestamp,
) -> Finding {
    let Some(state) = state else {
        return Warning(format!(
            "The service has not tried to obtain one for {domain} yet. Start it with the same --acme."
        ));
    };
    let next_at = state.next_at;
    match (state.until, &state.error) {
        (None, Some(why)) => Bad(format!(
            "There is none for {domain}. {why} The next attempt is at {next_at}."
        )),
        (None, None) => Warning(format!("The one for {domain} is being obtained.")),
        (Some(until), why) if until < now => {
            let why = why
                .as_deref()
                .unwrap_or("No attempt was made. Is the service running?");
            Bad(format!("The one for {domain} expired at {until}. {why}"))
        }
        (Some(until), Some(why)) => Warning(format!(
            "The one for {domain} is valid until {until}, and its renewal failed. {why} The next attempt is at {next_at}."
        )),
        (Some(until), None) if until < now.plus(SOON) => Warning(format!(
            "The one for {domain} is valid only until {until}. Is the service running?"
        )),
        (Some(until), None) => Good(format!("the one for {domain} is valid until {until}")),
    }
}

/// Checks that a domain has an address.
pub(super) fn dns(domain: &str) -> Finding {
    match (domain, 443)
        .to_socket_addrs()
        .map(Iterator::collect::<Vec<_>>)
    {
        Ok(found) if !found.is_empty() => {
            let found: Vec<_> = found.iter().map(|found| found.ip().to_string()).collect();
            Good(format!("{domain} leads to {}", found.join(", ")))
        }
        _ => Bad(format!(
            "{domain} has no address. Set an A or AAAA record that leads to this service."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(until: Option<i64>, error: Option<&str>) -> CertificateState {
        CertificateState {
            domain: "tags.example.com".to_owned(),
            directory: "https://authority.example/".to_owned(),
            until: until.map(|days| Timestamp::from_millis(0).plus(Millis::days(days))),
            next_at: Timestamp::from_millis(0).plus(Millis::days(100)),
            error: error.map(str::to_owned),
        }
    }

    #[test]
    fn a_certificate_is_bad_once_visitors_notice() {
        let now = Timestamp::from_millis(0).plus(Millis::days(10));
        let kind = |until, error| {
            let state = state(until, error);
            match certificate("tags.example.com", Some(&state), now) {
                Good(_) => "good",
                Warning(_) => "warning",
                Bad(_) => "bad",
            }
        };
        assert_eq!(kind(Some(40), None), "good");
        assert_eq!(kind(Some(40), Some("DNS.")), "warning");
        assert_eq!(kind(Some(10), None), "warning");
        assert_eq!(kind(Some(9), None), "bad");
        assert_eq!(kind(Some(9), Some("DNS.")), "bad");
        assert_eq!(kind(None, None), "warning");
        assert_eq!(kind(None, Some("DNS.")), "bad");
        let unknown = certificate("tags.example.com", None, now);
        assert!(matches!(unknown, Warning(_)));
    }
}
