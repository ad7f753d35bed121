//! Encodes inlays through a relay that holds the reader.
//!
//! [`encoding`] makes the decisions; this module gives them their inputs and stores them. A
//! turn is on disk before it is answered. If another request was faster, nothing is stored, and the
//! decision is made again from the newly stored state. So competing requests see one order of
//! turns.
//!
//! | Module | Subject |
//! |---|---|
//! | `case` | one decision about a chip, with all its inputs |
//! | `finished` | the inlay of a finished chip, and who may change the chip again |
//! | `form` | the content that is written to the chip of a tag |
//! | `journal` | the journal of a chip, with its keys and without |
//! | `opened` | opens the address of a verified chip |
//! | `order` | orders for an encoding bureau: export, and goods-in |
//! | `order_report` | a bureau's report about an order |
//! | [`report`] | reads the table of a bureau's report |
//! | `preview` | the effects of an encoding, before it begins |
//! | `preview_words` | the resulting content of a chip, in words |
//! | `run` | the next tag of a run |

mod case;
mod finished;
mod form;
mod journal;
mod opened;
mod order;
mod order_report;
mod preview;
mod preview_words;
pub mod report;
mod run;

use crate::service::Service;
use domain::field_error::FieldError;
use domain::id::{EncodingId, EncodingRunId};
use domain::keyring::KeyringError;
use encoding::machine::{self, Means};
use encoding::turn::{Answers, Turn};
use encoding::{Goal, Journal, LEASE, Progress, SESSION};
use inlay::Uid;
use storage::{ChipState, EncodingTurn, Ending, KeptPlace, StorageError, StoredEncoding};

use case::Case;
pub use finished::{is_finished, is_undo};
pub use form::FormOptions;
pub use opened::open_address;
pub use order::{OrderRow, create_order, of_order, order_keys, order_rows};
pub use order_report::{Reported, receive_order};
pub use preview::{Asked, KnownChip, Preview, Whom, preview};
pub use preview_words::Fact;
pub use run::{check_plan, skip_of_run, start_in_run};

/// How often a decision is made again because another request was faster.
const TRIES: usize = 8;

/// A chip that was placed on the reader.
#[derive(Clone, Debug)]
pub struct PlacedChip {
    /// The UID, as the reader shows it. Zeros follow a random UID of 4 bytes.
    pub uid: Uid,
    /// The goal for the chip.
    pub goal: Goal,
    /// The run that it belongs to.
    pub run_id: Option<EncodingRunId>,
    /// The tag that the run reserves for it.
    pub place: Option<KeptPlace>,
    /// How its URL and keys are written.
    pub options: FormOptions,
}

/// Why a chip is not encoded now. Each is a sentence for people.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// A read or a write of the database failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The keyring cannot open or wrap a key.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// The addressed object does not exist.
    #[error("There is no such {0}.")]
    NotFound(&'static str),
    /// The request is not valid.
    #[error(transparent)]
    Invalid(#[from] FieldError),
    /// The chip is being encoded for something else.
    #[error(
        "This chip is being encoded for something else. Finish that, give it up (DELETE the encoding), \
         or wait two minutes."
    )]
    OtherTarget,
    /// The inlay is blocked, so its codes would be refused.
    #[error("This inlay is blocked, so its codes would not verify. Unblock it first, or wipe it.")]
    Blocked,
    /// The caller lacks the scope for the work that was begun.
    #[error("Keys of a finished chip are replaced, so this answer also needs the scope \"keys\".")]
    NeedsKeys,
    /// The address in the chip's URL is not proved.
    #[error("{0}")]
    AddressNotProved(String),
    /// The turn is not the present one.
    #[error(
        "This turn was answered already, with other answers, or is not the present one. Place the chip on the reader again."
    )]
    Stale,
    /// Other requests were faster in every attempt.
    #[error("Other requests for this chip were faster. Try again.")]
    Raced,
}

/// A turn, and whether its encoding is new.
pub struct Started {
    /// Turn to send to the relay.
    pub turn: Turn,
    /// Whether the encoding is a new one.
    pub new: bool,
}

/// Begins or resumes the encoding of a chip that was placed on the reader.
pub async fn start(service: &Service, placed: &PlacedChip) -> Result<Started, EncodeError> {
    if placed.goal != Goal::Factory {
        form::check_address(service, &placed.options).await?;
    }
    for _ in 0..TRIES {
        if let Some(started) = try_start(service, placed).await? {
            return Ok(started);
        }
    }
    Err(EncodeError::Raced)
}

async fn try_start(service: &Service, placed: &PlacedChip) -> Result<Option<Started>, EncodeError> {
    let now = service.storage.now().await?;
    let state = service.storage.chip_state(placed.uid).await?;
    let inlay = state.inlay.as_ref();
    let blocked = inlay.is_some_and(|inlay| inlay.fields.blocked_at.is_some());
    if blocked && placed.goal != Goal::Factory {
        return Err(EncodeError::Blocked);
    }
    let latest = state.latest.clone().filter(|latest| latest.state.is_open());
    let mut case = Case::of(service, placed.uid, &state).await?;
    let (mut encoding, new) = match latest {
        Some(latest) if latest.goal == placed.goal && latest.run_id == placed.run_id => {
            let open = Case::open(service, latest.clone())?;
            let by_word = open.progress.as_ref().is_some_and(Progress::is_by_word);
            if by_word && !placed.options.replace {
                // A permission for the earlier insertion does not apply to this one.
                give_up(service, &state, latest).await?;
                return Ok(None);
            }
            let mut open = open;
            case.ask(service, &mut open, placed).await?;
            (open, false)
        }
        // The run now reserves another tag for the chip.
        Some(latest) if placed.place.is_some() && latest.run_id == placed.run_id => {
            give_up(service, &state, latest).await?;
            return Ok(None);
        }
        Some(latest) if now.since(latest.updated_at) < LEASE => {
            return Err(EncodeError::OtherTarget);
        }
        Some(latest) => {
            // No relay holds the chip any more: its keys stay in the journal.
            give_up(service, &state, latest).await?;
            return Ok(None);
        }
        None => (case.new_encoding(service, placed, now).await?, true),
    };
    if encoding.state.is_open() {
        let technology = placed.options.technology.or(case.technology());
        case.step(service, &mut encoding, |encoding, journal, means| {
            machine::begin(
                encoding,
                journal,
                Means {
                    technology,
                    replace: placed.options.replace,
                    has_message: placed.options.has_message,
                    ..means
                },
            );
            Vec::new()
        })?;
    }
    let place = placed.place.clone().filter(|_| new);
    let stored = case.store(service, encoding, place).await?;
    Ok(stored.map(|turn| Started { turn, new }))
}

/// Takes the answers to a turn, and makes the next one. `may_replace`: the caller may replace keys
/// of a finished chip.
pub async fn answer(
    service: &Service,
    id: EncodingId,
    answers: &Answers,
    may_replace: bool,
) -> Result<Turn, EncodeError> {
    for _ in 0..TRIES {
        if let Some(turn) = try_answer(service, id, answers, may_replace).await? {
            return Ok(turn);
        }
    }
    Err(EncodeError::Raced)
}

async fn try_answer(
    service: &Service,
    id: EncodingId,
    answers: &Answers,
    may_replace: bool,
) -> Result<Option<Turn>, EncodeError> {
    let encoding = service.storage.encoding(id).await?;
    let uid = encoding.ok_or(EncodeError::NotFound("encoding"))?.uid;
    let now = service.storage.now().await?;
    let state = service.storage.chip_state(uid).await?;
    let latest = state.latest.clone().filter(|latest| latest.id == Some(id));
    let latest = latest.ok_or(EncodeError::Stale)?;
    let updated_at = latest.updated_at;
    let mut case = Case::of(service, uid, &state).await?;
    let mut encoding = Case::open(service, latest)?;
    let progress = encoding.progress.as_ref();
    let replace = progress.is_some_and(|progress| progress.replace);
    let has_message = progress.is_some_and(|progress| progress.chip.has_message);
    if replace && !may_replace {
        return Err(EncodeError::NeedsKeys);
    }
    let answered = progress.and_then(|progress| progress.answered);
    if encoding.seq == answers.seq.wrapping_add(1) && answered == Some(answers.digest()) {
        return Ok(encoding.turn());
    }
    let commands = progress.map_or(0, |progress| progress.commands.len());
    if encoding.seq != answers.seq || commands == 0 || answers.answers.len() > commands {
        return Err(EncodeError::Stale);
    }
    let void = now.since(updated_at) > SESSION;
    case.step(service, &mut encoding, |encoding, journal, means| {
        if void {
            let means = Means {
                replace,
                has_message,
                ..means
            };
            return machine::expired(encoding, journal, means, answers);
        }
        machine::go_on(encoding, journal, means, answers)
    })?;
    case.store(service, encoding, None).await
}

/// Makes a new encoding root; from now on the present root only opens chips. `compromised`: others
/// may know it and all roots before it, so their chips get other keys when they are placed on a
/// reader again.
pub async fn replace_root(service: &Service, compromised: bool) -> Result<(), EncodeError> {
    let root = journal::new_root(service)?;
    let replaced = service.storage.replace_encoding_root(root, compromised);
    Ok(replaced.await?)
}

/// Gives an encoding up. The keys that its chip may have are kept.
pub async fn abandon(service: &Service, id: EncodingId) -> Result<(), EncodeError> {
    for _ in 0..TRIES {
        let encoding = service.storage.encoding(id).await?;
        let encoding = encoding.ok_or(EncodeError::NotFound("encoding"))?;
        if !encoding.state.is_open() {
            return Ok(());
        }
        let state = service.storage.chip_state(encoding.uid).await?;
        if give_up(service, &state, encoding).await? {
            return Ok(());
        }
    }
    Err(EncodeError::Raced)
}

async fn give_up(
    service: &Service,
    state: &ChipState,
    mut encoding: StoredEncoding,
) -> Result<bool, EncodeError> {
    let expected = encoding.id.map(|id| (id, encoding.seq));
    encoding.state = encoding.state.abandon();
    encoding.seq += 1;
    let uid = encoding.uid;
    let journal = match &state.journal {
        Some(journal) => journal.clone(),
        None => journal::seal(service, &Journal::new(uid), &[])?,
    };
    let turn = EncodingTurn {
        encoding,
        expected,
        journal,
        exchanges: Vec::new(),
        ending: Ending::None,
        replaces: false,
        place: None,
    };
    Ok(service.storage.store_turn(turn).await?.is_some())
}
