//! Counts everything that leads phones to a port of this computer. If anything does, the service
//! listens on that port or does not start.

use serde::{Deserialize, Serialize};
use tapdesk_service::plural::counted;
use tapdesk_service::storage::{Access, InlayFilter, StorageError};

/// Counts of everything that leads to a port, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Carriers {
    /// The port that the counts are about.
    pub port: u16,
    /// Real inlays that are bound to a tag: their chips contain its URL.
    pub inlays: u64,
    /// Real tags with a printed code.
    pub labels: u64,
    /// Whether phones on this network are allowed.
    pub phones: bool,
}

impl Carriers {
    /// Counts everything that leads to `port`: chips and printed codes from the database, and the
    /// owner's choice about phones.
    ///
    /// # Errors
    ///
    /// If the database cannot be read.
    pub(crate) async fn count(
        storage: &Access,
        port: u16,
        phones: bool,
    ) -> Result<Self, StorageError> {
        let bound = InlayFilter {
            unbound: Some(false),
            simulated: Some(false),
            ..InlayFilter::default()
        };
        Ok(Self {
            port,
            inlays: storage.count_inlays(bound).await?,
            labels: storage.count_printed_codes().await?,
            phones,
        })
    }

    /// Whether anything leads to the port, so that the service must not leave it.
    pub fn any(self) -> bool {
        self.inlays > 0 || self.labels > 0 || self.phones
    }

    /// Why the port cannot change automatically: "12 chips and 3 printed codes lead to port 8787."
    pub(crate) fn sentence(self) -> String {
        let counts = [(self.inlays, "chip"), (self.labels, "printed code")];
        let counts = counts.into_iter().filter(|(number, _)| *number > 0);
        let named: Vec<_> = counts.map(|(number, one)| counted(number, one)).collect();
        match self.inlays + self.labels {
            0 => format!(
                "Phones on this network are allowed to use port {}.",
                self.port
            ),
            1 => format!("{} leads to port {}.", named.join(" and "), self.port),
            _ => format!("{} lead to port {}.", named.join(" and "), self.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_in_numbers_what_leads_to_a_port() {
        for (inlays, labels, phones, said) in [
            (1, 0, true, "1 chip leads to port 8787."),
            (0, 2, false, "2 printed codes lead to port 8787."),
            (3, 1, false, "3 chips and 1 printed code lead to port 8787."),
            (
                0,
                0,
                true,
                "Phones on this network are allowed to use port 8787.",
            ),
        ] {
            let carriers = Carriers {
                port: 8787,
                inlays,
                labels,
                phones,
            };
            assert!(carriers.any());
            assert_eq!(carriers.sentence(), said);
        }
        assert!(!Carriers::default().any());
    }
}
