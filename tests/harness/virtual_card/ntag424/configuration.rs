//! `SetConfiguration` (data sheet section 10.5.1): options that can be switched on, most of them
//! permanently, and the tamper loop (`NT4H2421Tx` section 8.8).

use super::protection::content;
use super::settings::{FREE, NEVER};
use super::{Answer, VirtualNtag424};

/// The configuration of the chip.
#[derive(Clone)]
pub(super) struct Configuration {
    /// Whether it shows a random UID at each activation.
    pub(super) random_uid: bool,
    /// Whether it accepts protected writes that are longer than a frame.
    pub(super) chained_writes: bool,
    /// Whether it uses LRP instead of AES.
    pub(super) lrp: bool,
    /// `PDCap2.5` and `.6`, which the owner can set.
    pub(super) capabilities: [u8; 2],
    pub(super) failures: FailureLimits,
    tamper: Tamper,
}

/// The counters of failed authentications.
#[derive(Clone, Copy)]
pub(super) struct FailureLimits {
    pub(super) enabled: bool,
    /// The number of failures at which a key is locked.
    pub(super) limit: u16,
    /// The number of failures that a correct proof subtracts.
    pub(super) decrement: u16,
}

/// The tamper loop, and its measurements.
#[derive(Clone, Copy, Default)]
struct Tamper {
    /// The access condition of `GetTTStatus`, once measuring is enabled.
    access: Option<u8>,
    /// Whether the wire is cut.
    cut: bool,
    /// The measurement at this activation, and whether the loop was ever open.
    open: bool,
    opened: bool,
}

impl Default for Configuration {
    fn default() -> Self {
        Self {
            random_uid: false,
            chained_writes: true,
            lrp: false,
            capabilities: [0; 2],
            failures: FailureLimits {
                enabled: true,
                limit: 1000,
                decrement: 10,
            },
            tamper: Tamper::default(),
        }
    }
}

impl Configuration {
    /// Measures the loop, when the chip enters the field.
    pub(super) fn measure_loop(&mut self) {
        let tamper = &mut self.tamper;
        if tamper.access.is_some() {
            tamper.open = tamper.cut;
            tamper.opened |= tamper.cut;
        }
    }

    /// The loop's permanent and present state, as letters: closed, open, invalid.
    pub(super) fn tamper_status(&self) -> [u8; 2] {
        let letter = |open| if open { b'O' } else { b'C' };
        match self.tamper.access {
            None => *b"II",
            Some(_) => [letter(self.tamper.opened), letter(self.tamper.open)],
        }
    }
}

impl VirtualNtag424 {
    /// Switches random UIDs on.
    #[must_use]
    pub fn with_random_uid(mut self) -> Self {
        self.configuration.random_uid = true;
        self.draw_shown_uid();
        self
    }

    /// Switches to LRP mode.
    #[must_use]
    pub fn with_lrp(mut self) -> Self {
        self.switch_to_lrp();
        self
    }

    /// Cuts the tamper loop, or repairs it. It is visible at the next activation.
    pub fn cut_loop(&mut self, cut: bool) {
        self.configuration.tamper.cut = cut;
    }

    /// Whether the loop is measured.
    pub fn measures_loop(&self) -> bool {
        self.configuration.tamper.access.is_some()
    }

    /// Whether it is in LRP mode.
    pub fn speaks_lrp(&self) -> bool {
        self.configuration.lrp
    }

    /// Whether it shows random UIDs.
    pub fn hides_uid(&self) -> bool {
        self.configuration.random_uid
    }

    fn switch_to_lrp(&mut self) {
        self.configuration.lrp = true;
        self.files.switch_off_sdm();
    }

    pub(super) fn set_configuration(&mut self, data: &[u8]) -> Answer {
        if self.authenticated() != Some(0) {
            return Err(0x91AE);
        }
        self.in_full(0x5C, 1, data, |chip, header, plain| {
            chip.configure(header[0], content(plain)?)?;
            chip.tally.writes += 1;
            Ok(Vec::new())
        })
    }

    fn configure(&mut self, option: u8, data: &[u8]) -> Result<(), u16> {
        let configuration = &mut self.configuration;
        match (option, data) {
            (0x00, &[picc]) if picc & !0x02 == 0 => configuration.random_uid |= picc & 0x02 != 0,
            (0x04, &[messaging, 0]) if messaging & !0x04 == 0 => {
                configuration.chained_writes &= messaging & 0x04 == 0;
            }
            (0x05, &[0, 0, 0, 0, mode, 0, 0, 0, five, six]) if mode & !0x02 == 0 => {
                configuration.capabilities = [five, six];
                if mode & 0x02 != 0 {
                    self.switch_to_lrp();
                    // The session cannot continue in the other mode.
                    self.field.session = None;
                }
            }
            (0x07, &[0x01, access @ (0..=4 | FREE | NEVER)]) if self.identity.is_tag_tamper() => {
                configuration.tamper.access = Some(access);
            }
            (0x0A, &[enabled @ (0 | 1), l0, l1, d0, d1]) => {
                let limit = u16::from_le_bytes([l0, l1]);
                if enabled == 1 && limit == 0 {
                    return Err(0x919E);
                }
                configuration.failures.enabled = enabled == 1;
                if enabled == 1 {
                    configuration.failures.limit = limit;
                    configuration.failures.decrement = u16::from_le_bytes([d0, d1]);
                }
            }
            // Back modulation, which has no visible effect in tests.
            (0x0B, &[0 | 1]) => {}
            _ => return Err(0x919E),
        }
        Ok(())
    }

    /// `GetTTStatus`. Until it is enabled, anyone in a session may ask.
    pub(super) fn get_tamper_status(&mut self, data: &[u8]) -> Answer {
        if !self.identity.is_tag_tamper() {
            return Err(0x911C);
        }
        let status = self.configuration.tamper_status();
        match self.configuration.tamper.access {
            Some(NEVER) => Err(0x919D),
            Some(FREE) if self.field.session.is_none() => Ok(self.plain(&status)),
            Some(key @ 0..=4) if self.authenticated() != Some(key) => Err(0x91AE),
            _ => self.in_full(0xF7, 0, data, |_, _, _| Ok(status.to_vec())),
        }
    }
}
