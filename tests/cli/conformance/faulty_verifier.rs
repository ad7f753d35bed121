//! A verifier of rolling codes with one seeded fault at a time. The judge names each.

mod code;
mod counters;
mod server;

use futures_util::{StreamExt as _, stream};
use tempfile::TempDir;

use super::{Run, judge};
use code::{Kind, key_lines, used_url};

/// A broken rule of a verifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    NoSessionKey,
    SessionOfSv1,
    SessionWithoutUid,
    SessionWithoutCounter,
    SessionUidReversed,
    SessionCounterMsbFirst,
    EvenBytes,
    EvenBytesToo,
    FirstHalf,
    LastHalf,
    MacOverNothing,
    MacOverUrl,
    UidReversed,
    CounterReversed,
    SwappedKeys,
    MetaKeyAsFileKey,
    FileKeyAsMetaKey,
    MacIgnored,
    MacOfZeros,
    MacOfOnes,
    FirstFourBytes,
    LastByteSkipped,
    PartOfMac,
    LongMac,
    FullMac,
    EmptyMac,
    MissingMac,
    OfAnyRead,
    OfAnyChip,
    LongField,
    LowerCaseRefused,
    UidTrusted,
    CounterNotNeeded,
    FileDataByMetaKey,
    FileDataNotCovered,
    NoCounter,
    SameCounter,
    OnlyLastCounter,
    UrlsInsteadOfCounters,
    CounterOf16Bits,
    SmallGapsOnly,
    ForgedCounterStored,
    ForgedCounterSpent,
    OneCounterForAll,
    CounterNotKept,
    CheckThenStore,
}

use Fault::{
    CheckThenStore, CounterNotKept, CounterNotNeeded, CounterOf16Bits, CounterReversed, EmptyMac,
    EvenBytes, EvenBytesToo, FileDataByMetaKey, FileDataNotCovered, FileKeyAsMetaKey,
    FirstFourBytes, FirstHalf, ForgedCounterSpent, ForgedCounterStored, FullMac, LastByteSkipped,
    LastHalf, LongField, LongMac, LowerCaseRefused, MacIgnored, MacOfOnes, MacOfZeros,
    MacOverNothing, MacOverUrl, MetaKeyAsFileKey, MissingMac, NoCounter, NoSessionKey, OfAnyChip,
    OfAnyRead, OneCounterForAll, OnlyLastCounter, PartOfMac, SameCounter, SessionCounterMsbFirst,
    SessionOfSv1, SessionUidReversed, SessionWithoutCounter, SessionWithoutUid, SmallGapsOnly,
    SwappedKeys, UidReversed, UidTrusted, UrlsInsteadOfCounters,
};

/// Each fault, the template that shows it, and the check that fails because of it.
const FAULTS: [(Fault, Kind, &str); 46] = [
    (NoSessionKey, Kind::Picc, "session-key"),
    (SessionOfSv1, Kind::Picc, "session-label"),
    (SessionWithoutUid, Kind::Picc, "session-uid"),
    (SessionWithoutCounter, Kind::Picc, "session-counter"),
    (SessionUidReversed, Kind::Picc, "session-uid-order"),
    (SessionCounterMsbFirst, Kind::Plain, "session-counter-order"),
    (EvenBytes, Kind::Picc, "mac-odd-bytes"),
    (EvenBytesToo, Kind::Picc, "mac-odd-bytes"),
    (FirstHalf, Kind::Picc, "mac-not-first-half"),
    (LastHalf, Kind::Plain, "mac-not-last-half"),
    (MacOverNothing, Kind::Enc, "mac-input-not-empty"),
    (MacOverUrl, Kind::Picc, "mac-input-not-url"),
    (UidReversed, Kind::Picc, "uid-order"),
    // It accepts the codes of a session key with the counter MSB first, and no others.
    (CounterReversed, Kind::Picc, "session-counter-order"),
    (SwappedKeys, Kind::Picc, "keys-not-swapped"),
    (MetaKeyAsFileKey, Kind::Picc, "file-key"),
    (FileKeyAsMetaKey, Kind::Picc, "meta-key"),
    (MacIgnored, Kind::Picc, "mac-inverted"),
    (MacOfZeros, Kind::Picc, "mac-zero"),
    (MacOfOnes, Kind::Picc, "mac-ones"),
    (FirstFourBytes, Kind::Picc, "mac-each-byte"),
    (LastByteSkipped, Kind::Plain, "mac-each-byte"),
    (PartOfMac, Kind::Picc, "mac-truncated"),
    (LongMac, Kind::Picc, "mac-overlong"),
    (FullMac, Kind::Picc, "mac-full"),
    (EmptyMac, Kind::Picc, "mac-empty"),
    (MissingMac, Kind::Picc, "mac-missing"),
    (OfAnyRead, Kind::Picc, "mac-of-another-read"),
    (OfAnyChip, Kind::Picc, "mac-of-another-chip"),
    (LongField, Kind::Picc, "field-overlong"),
    (LowerCaseRefused, Kind::Picc, "hex-lower-case"),
    (UidTrusted, Kind::Plain, "uid-of-another-chip"),
    (CounterNotNeeded, Kind::Picc, "picc-needs-counter"),
    (FileDataByMetaKey, Kind::Enc, "file-data-decrypted"),
    (FileDataNotCovered, Kind::Enc, "file-data-of-another-read"),
    (NoCounter, Kind::Picc, "replay"),
    (SameCounter, Kind::Plain, "replay"),
    (OnlyLastCounter, Kind::Picc, "counter-backwards"),
    (UrlsInsteadOfCounters, Kind::Picc, "replay-other-picc"),
    (CounterOf16Bits, Kind::Picc, "counter-third-byte-backwards"),
    (SmallGapsOnly, Kind::Picc, "counter-gap"),
    (
        ForgedCounterStored,
        Kind::Picc,
        "forgery-ahead-keeps-counter",
    ),
    (ForgedCounterSpent, Kind::Plain, "forgery-keeps-counter"),
    (OneCounterForAll, Kind::Picc, "other-chip-own-counter"),
    (CounterNotKept, Kind::Picc, "replay-after-restart"),
    (CheckThenStore, Kind::Picc, "replay-at-once"),
];

/// Verifiers that are judged at the same time.
const AT_ONCE: usize = 4;

/// Judges a verifier with this fault, or the right one.
async fn judged(fault: Option<Fault>, kind: Kind) -> Run {
    let server = server::start(fault, kind).await;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("keys");
    std::fs::write(&file, key_lines()).unwrap();
    let template = format!("{}{}", server.base, kind.path());
    let used = format!("{}{}", server.base, used_url(kind));
    let mut arguments = vec!["--verifier", &*template, "--used-url", &*used];
    arguments.extend(["--keys", file.to_str().unwrap()]);
    arguments.extend(["--other-uid", code::OTHER_UID]);
    if kind == Kind::Enc {
        arguments.extend(["--mac-from", "enc", "--shows-file-data"]);
    }
    judge(&arguments).await
}

#[tokio::test]
async fn a_right_verifier_passes_whatever_its_template_is() {
    for kind in [Kind::Picc, Kind::Plain, Kind::Enc] {
        let run = judged(None, kind).await;
        run.passes();
        let checked = ["replay-after-restart", "other-chip-own-counter"];
        assert!(checked.iter().all(|name| run.with("passed").contains(name)));
    }
}

#[tokio::test]
async fn each_seeded_fault_of_a_verifier_is_caught_by_name() {
    let runs = stream::iter(FAULTS).map(|(fault, kind, name)| async move {
        let run = judged(Some(fault), kind).await;
        (fault, name, run)
    });
    let runs: Vec<_> = runs.buffer_unordered(AT_ONCE).collect().await;
    assert_eq!(runs.len(), FAULTS.len());
    for (fault, name, run) in runs {
        let caught = run.failed().contains(&name) && run.ran.code == Some(1);
        assert!(
            caught,
            "{fault:?} must fail {name}:\n{}{}",
            run.ran.stdout, run.ran.stderr
        );
    }
}
