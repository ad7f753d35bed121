//! Implements the traits of [`super::card`] with the system's PC/SC service.

use std::ffi::CString;
use std::time::Duration;

use pcsc::{Disposition, Error, MAX_BUFFER_SIZE, Protocols, ReaderState, Scope, ShareMode, State};

use super::card::{Card, Context, Fault, Occupant, Slot, Stack};
use super::profile::Profile;

/// The control code of escape commands to a reader with CCID: of the free driver, and of Windows.
#[cfg(not(windows))]
const ESCAPE: u16 = 1;
#[cfg(windows)]
const ESCAPE: u16 = 3500;

/// The PC/SC service of the system.
pub struct Pcsc;

/// A connection to the service.
pub struct PcscContext {
    context: pcsc::Context,
    /// One state per slot, after the one that reports when readers come and go.
    states: Vec<ReaderState>,
    /// The slots at the time of the last change.
    slots: Vec<Slot>,
}

/// A card in a transaction, and the profile of its reader.
struct PcscCard<'t>(pcsc::Transaction<'t>, &'static Profile);

impl Stack for Pcsc {
    type Context = PcscContext;

    fn establish(&mut self) -> Result<PcscContext, Fault> {
        let context = pcsc::Context::establish(Scope::User).map_err(lost)?;
        let news = ReaderState::new(pcsc::PNP_NOTIFICATION(), State::UNAWARE);
        Ok(PcscContext {
            context,
            states: vec![news],
            slots: Vec::new(),
        })
    }
}

impl Context for PcscContext {
    fn slots(&mut self, timeout: Duration) -> Result<Vec<Slot>, Fault> {
        let names = match self.context.list_readers_owned() {
            Ok(names) => names,
            Err(Error::NoReadersAvailable) => Vec::new(),
            Err(error) => return Err(lost(error)),
        };
        let news = pcsc::PNP_NOTIFICATION();
        self.states.retain(|state| {
            state.name() == news || names.iter().any(|name| **name == *state.name())
        });
        for name in names {
            if !self.states.iter().any(|state| *state.name() == *name) {
                self.states.push(ReaderState::new(name, State::UNAWARE));
            }
        }
        match self.context.get_status_change(timeout, &mut self.states) {
            Ok(()) => {
                for state in &mut self.states {
                    state.sync_current_state();
                }
                self.slots = self.states.iter().skip(1).map(slot).collect();
            }
            // A reader that was removed meanwhile is missing in the next list.
            Err(Error::Timeout | Error::Cancelled | Error::UnknownReader) => {
                let is_listed = |slot: &Slot| {
                    let name = slot.reader.as_str();
                    self.states
                        .iter()
                        .any(|state| state.name().to_string_lossy() == name)
                };
                self.slots.retain(is_listed);
            }
            Err(error) => return Err(lost(error)),
        }
        Ok(self.slots.clone())
    }

    fn with_card<T>(
        &mut self,
        reader: &str,
        work: impl FnOnce(&mut dyn Card) -> T,
    ) -> Result<T, Fault> {
        let profile = Profile::of(reader);
        let reader = CString::new(reader).map_err(|_| Fault::ReaderGone)?;
        let mut card = self
            .context
            .connect(&reader, ShareMode::Shared, Protocols::ANY)
            .map_err(fault)?;
        let done = card.transaction().map_err(fault).map(|transaction| {
            let mut card = PcscCard(transaction, profile);
            let done = work(&mut card);
            // The transaction of a removed card has already ended.
            let _ = card.0.end(Disposition::LeaveCard);
            done
        });
        let _ = card.disconnect(Disposition::LeaveCard);
        done
    }
}

impl Card for PcscCard<'_> {
    fn transmit(&mut self, command: &[u8]) -> Result<Vec<u8>, Fault> {
        let mut buffer = [0; MAX_BUFFER_SIZE];
        let answer = self.0.transmit(command, &mut buffer).map_err(fault)?;
        Ok(answer.to_vec())
    }

    fn reset(&mut self) -> Result<Vec<u8>, Fault> {
        self.0
            .reconnect(ShareMode::Shared, Protocols::ANY, Disposition::ResetCard)
            .map_err(fault)?;
        Ok(self.0.status2_owned().map_err(fault)?.atr().to_vec())
    }

    fn keep_alive(&mut self) -> Result<(), Fault> {
        self.0.status2_owned().map_err(fault)?;
        Ok(())
    }

    fn control(&mut self, command: &[u8]) -> Result<Vec<u8>, Fault> {
        let mut buffer = [0; MAX_BUFFER_SIZE];
        let code = pcsc::ctl_code(ESCAPE.into());
        let answer = self.0.control(code, command, &mut buffer).map_err(fault)?;
        Ok(answer.to_vec())
    }

    fn profile(&self) -> &'static Profile {
        self.1
    }
}

fn slot(state: &ReaderState) -> Slot {
    let now = state.current_state();
    Slot {
        reader: state.name().to_string_lossy().into_owned(),
        occupant: if now.intersects(State::UNKNOWN | State::UNAVAILABLE) {
            Occupant::Unavailable
        } else if now.contains(State::PRESENT | State::MUTE) {
            Occupant::Mute
        } else if now.contains(State::PRESENT) {
            Occupant::Card {
                atr: state.atr().to_vec(),
            }
        } else {
            Occupant::Nothing
        },
        events: state.event_count(),
    }
}

/// Outside of a card's transaction, such an error means that the service cannot be reached.
fn lost(error: Error) -> Fault {
    match error {
        Error::CommError => Fault::NoService,
        other => fault(other),
    }
}

fn fault(error: Error) -> Fault {
    match error {
        Error::NoService | Error::ServiceStopped | Error::InvalidHandle | Error::Shutdown => {
            Fault::NoService
        }
        Error::SecurityViolation | Error::NoAccess => Fault::Denied,
        Error::RemovedCard | Error::NoSmartcard | Error::CommError | Error::NotTransacted => {
            Fault::Removed
        }
        Error::SharingViolation => Fault::Sharing,
        Error::ResetCard => Fault::Reset,
        Error::UnresponsiveCard | Error::UnpoweredCard | Error::NotReady => Fault::Mute,
        Error::UnknownReader | Error::ReaderUnavailable | Error::NoReadersAvailable => {
            Fault::ReaderGone
        }
        Error::UnsupportedCard | Error::ProtoMismatch | Error::UnsupportedFeature => {
            Fault::Unsupported
        }
        other => Fault::Other(other.to_string().trim_end_matches('.').to_owned()),
    }
}
