//! The encoder's decisions in memory, with a chip in software. Everything that a step stores is
//! committed here.

use tapdesk_service::clock::Timestamp;
use tapdesk_service::encoding::machine::{Means, begin, go_on};
use tapdesk_service::encoding::turn::{Answers, Bytes, Command, Fault};
use tapdesk_service::encoding::{
    Candidate, Encoding, Form, Goal, Journal, Plan, Progress, Root, Roots, SlotState, State,
};
use tapdesk_service::entropy::SeededEntropy;
use tapdesk_service::id::{EncodingId, EncodingRootId, TagId, UrlTemplateId};
use tapdesk_service::inlay::key::AesKey;
use tapdesk_service::inlay::technology::Mode;
use tapdesk_service::inlay::template::{MacStart, Template, TemplateSettings};
use tapdesk_service::inlay::{MacFrom, Mirror, Technology, Uid};
use tapdesk_tests::virtual_card::VirtualCard;
use tapdesk_tests::virtual_card::ntag424::VirtualNtag424;

/// A fault at a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The chip is removed before it receives the command.
    TornBefore,
    /// The chip executes the command, and is removed before it answers.
    TornAfter,
    /// The desktop is killed before it sends the command, so the answers before it are lost.
    DeskKilledBefore,
    /// The desktop is killed after the chip has executed the command.
    DeskKilledAfter,
    /// The service is killed before it stores the results of this command's turn.
    Killed,
    /// The HTTP response with the turn after this command's turn is lost.
    Lost,
    /// Another chip is on the reader from this command on.
    Swapped,
}

/// A service that consists of its stored rows, and a desktop.
pub(super) struct Bench {
    pub(super) roots: Roots,
    pub(super) journal: Journal,
    pub(super) encoding: Encoding,
    pub(super) plan: Option<Plan>,
    pub(super) entropy: SeededEntropy,
    pub(super) own_keys: bool,
    pub(super) replace: bool,
    /// The names of the commands that were sent in the last insertion.
    pub(super) sent: Vec<String>,
    /// The form of the chips that are written.
    pub(super) form: fn() -> Form,
}

/// The default form of a tag's chip.
pub(super) fn form() -> Form {
    let (base, mirror) = ("https://tags.example.com/t", Mirror::Encrypted);
    let template = Template::canonical(base, mirror, MacFrom::None).unwrap();
    Form {
        template: template.settings().clone(),
        url_template_id: None,
        mirror: Some(mirror),
        mac_from: MacFrom::None,
        slug: "bottle-41".to_owned(),
        lock: false,
        write_password: None,
        own_keys: false,
        finished: None,
        additional: false,
        taken_from: None,
    }
}

/// The form of a chip whose template has encrypted file data.
fn with_file_data(technology: Technology, mode: Mode, tamper_at: Option<usize>) -> Form {
    let url = "https://tags.example.com/t/{slug}?p={picc}&e={enc}&m={mac}";
    let template = TemplateSettings {
        mode,
        enc_length: Some(32),
        mac_from: MacStart::Enc,
        tamper_at,
        ..TemplateSettings::new(url, technology)
    };
    Form {
        template,
        url_template_id: Some(UrlTemplateId::new(1)),
        mirror: None,
        ..form()
    }
}

/// The form of a chip in LRP mode.
pub(super) fn lrp_form() -> Form {
    with_file_data(Technology::Ntag424Dna, Mode::Lrp, None)
}

/// The form of a chip that reports its tamper loop.
pub(super) fn tamper_form() -> Form {
    with_file_data(Technology::Ntag424DnaTt, Mode::Aes, Some(0))
}

impl Bench {
    /// A bench that writes a chip of this form, with this randomness.
    pub(super) fn of(uid: Uid, seed: u64, form: fn() -> Form) -> Self {
        Self {
            plan: Some(Plan::new(&form()).unwrap()),
            form,
            ..Self::new(uid, seed)
        }
    }

    /// A bench that encodes a chip, with this randomness.
    pub(super) fn new(uid: Uid, seed: u64) -> Self {
        let root = Root {
            id: EncodingRootId::new(1),
            key: AesKey::from_bytes([0xA7; 16]),
            retired: false,
        };
        Self {
            roots: Roots(vec![root]),
            journal: Journal::new(uid),
            encoding: encoding(uid, Goal::Tag(TagId::new(41))),
            plan: Some(Plan::new(&form()).unwrap()),
            entropy: SeededEntropy::new(seed),
            own_keys: false,
            replace: false,
            sent: Vec::new(),
            form,
        }
    }

    /// Begins another encoding of the same chip.
    pub(super) fn anew(&mut self, goal: Goal) {
        self.plan = match goal {
            Goal::Factory => None,
            Goal::Tag(_) | Goal::NewTag => Some(Plan::new(&(self.form)()).unwrap()),
        };
        self.encoding = encoding(self.encoding.uid, goal);
    }

    fn step(&mut self, answers: Option<&Answers>) {
        let means = Means {
            plan: self.plan.as_ref(),
            roots: &self.roots,
            entropy: &self.entropy,
            own_keys: self.own_keys,
            replace: self.replace,
            has_message: false,
            finished: None,
            last_counter: 0,
            is_inlay: false,
            technology: None,
        };
        match answers {
            None => begin(&mut self.encoding, &mut self.journal, means),
            Some(answers) => {
                go_on(&mut self.encoding, &mut self.journal, means, answers);
            }
        }
        // Stores and loads the progress.
        let bytes = self.encoding.progress.take().unwrap().to_bytes();
        self.encoding.progress = Some(Progress::from_bytes(&bytes).unwrap());
    }

    /// Places the chip, and continues until a turn has no commands. `trouble` returns the fault at
    /// the command with this number in this insertion. Returns the number of commands that were
    /// sent.
    pub(super) fn lay(
        &mut self,
        chip: &mut VirtualNtag424,
        mut trouble: impl FnMut(usize) -> Option<Trouble>,
    ) -> usize {
        let mut other = VirtualNtag424::new(Uid::from_bytes([4, 9, 9, 9, 9, 9, 9]));
        chip.power_on();
        self.step(None);
        let mut sent = 0;
        self.sent.clear();
        let mut swapped = false;
        for _ in 0..200 {
            let turn = self.encoding.turn().unwrap();
            if turn.commands.is_empty() {
                return sent;
            }
            let mut answers = Answers {
                seq: turn.seq,
                answers: Vec::new(),
                fault: None,
            };
            let mut lost = None;
            for command in &turn.commands {
                let what = trouble(sent);
                sent += 1;
                self.sent.push(command.name.clone());
                match what {
                    Some(Trouble::TornBefore) => answers.fault = Some(Fault::Removed),
                    Some(Trouble::TornAfter) => {
                        send(chip, command);
                        answers.fault = Some(Fault::Removed);
                    }
                    Some(Trouble::DeskKilledBefore) => return sent,
                    Some(Trouble::DeskKilledAfter) => {
                        send(chip, command);
                        return sent;
                    }
                    Some(Trouble::Killed | Trouble::Lost) => lost = what,
                    Some(Trouble::Swapped) => {
                        swapped = true;
                        other.power_on();
                    }
                    None => {}
                }
                if answers.fault.is_some() {
                    break;
                }
                let answer = if swapped {
                    send(&mut other, command)
                } else {
                    send(chip, command)
                };
                let expected = is_expected(command, &answer);
                answers.answers.push(Bytes(answer));
                if !expected {
                    break;
                }
            }
            match lost {
                // Nothing of the turn was stored: the chip is placed again.
                Some(Trouble::Killed) => return sent,
                Some(_) => {
                    self.step(Some(&answers));
                    return sent;
                }
                None => self.step(Some(&answers)),
            }
        }
        panic!("no end after 200 turns: {:?}", self.encoding);
    }

    /// Whether the journal knows the present key of every slot of the chip.
    pub(super) fn knows(&self, chip: &VirtualNtag424) -> bool {
        (0..5).all(|slot| self.name(chip, slot).is_some())
    }

    /// The name of the present key in a slot of the chip.
    pub(super) fn name(&self, chip: &VirtualNtag424, slot: u8) -> Option<Candidate> {
        let sent = self
            .journal
            .generations
            .iter()
            .filter(|one| one.slots[usize::from(slot)] != SlotState::Planned);
        let names = sent.map(|one| Candidate::Recorded(one.number));
        let others = [Candidate::Factory, Candidate::Imported];
        others.into_iter().chain(names).find(|name| {
            self.journal.key(slot, *name, &self.roots).as_ref() == Some(chip.key(slot))
        })
    }

    /// Whether the encoding succeeded: its state, all five keys and their versions.
    pub(super) fn is_whole(&self, chip: &VirtualNtag424) -> bool {
        let Some(number) = self.encoding.generation else {
            return false;
        };
        self.encoding.state.is_verified()
            && (0..5).all(|slot| {
                self.name(chip, slot) == Some(Candidate::Recorded(number))
                    && chip.key_version(slot) == number
                    && self.journal.state(number, slot) == Some(SlotState::Confirmed)
            })
    }
}

fn encoding(uid: Uid, goal: Goal) -> Encoding {
    Encoding {
        id: Some(EncodingId::new(1)),
        uid,
        goal,
        run_id: None,
        form: None,
        generation: None,
        state: State::PLANNED,
        seq: 0,
        created_at: Timestamp::from_millis(0),
        updated_at: Timestamp::from_millis(0),
        progress: None,
    }
}

/// Sends a command, and returns the answer.
pub(super) fn send(chip: &mut VirtualNtag424, command: &Command) -> Vec<u8> {
    let Some(apdu) = &command.apdu else {
        chip.power_on();
        return chip.atr();
    };
    let pair = |i| u8::from_str_radix(&apdu[i..i + 2], 16).unwrap();
    let apdu: Vec<u8> = (0..apdu.len()).step_by(2).map(pair).collect();
    chip.apdu(&apdu)
}

fn is_expected(command: &Command, answer: &[u8]) -> bool {
    let status = answer
        .last_chunk::<2>()
        .map(|[a, b]| format!("{a:02X}{b:02X}"));
    command.reset || status.is_some_and(|status| command.expect.contains(&status))
}

/// A UID that is derived from a number.
pub(super) fn uid(number: u32) -> Uid {
    let [a, b, c, d] = number.to_be_bytes();
    Uid::from_bytes([0x04, 0xD0, a, b, c, d, 0x80])
}
