//! A service of the contract with one seeded fault at a time. The judge names each.

mod server;

use futures_util::{StreamExt as _, stream};

use super::{Run, judge, judge_with};

/// A broken rule of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    PermanentRedirect,
    KeyUnderAnotherName,
    OneKeyForAll,
    ReplayVerifies,
    ReplayIsNull,
    NullIsFalse,
    VerifiedIsText,
    InvalidKeyIs404,
    RawKeyTaken,
    RawKeyTakenToo,
    PayloadConsumesKey,
    OldKeyTaken,
    KeyNotConsumed,
    CheckThenConsume,
    RefusalIs200,
    OtherMessage,
    VariableCreated,
    UnknownLeftOut,
    RkEncoded,
    IdsAreTexts,
    NoLocation,
    NoPost,
    TextTaken,
    NoCors,
    NoCorsForUpdates,
    Cached,
    PayloadCached,
    AnyVersion,
    GetUpdates,
    RefusalConsumes,
    UpdateEndsPayload,
    SameAgainSucceeds,
    ShortLife,
    KeyEndsEarly,
}

use Fault::{
    AnyVersion, Cached, CheckThenConsume, GetUpdates, IdsAreTexts, InvalidKeyIs404, KeyEndsEarly,
    KeyNotConsumed, KeyUnderAnotherName, NoCors, NoCorsForUpdates, NoLocation, NoPost, NullIsFalse,
    OldKeyTaken, OneKeyForAll, OtherMessage, PayloadCached, PayloadConsumesKey, PermanentRedirect,
    RawKeyTaken, RawKeyTakenToo, RefusalConsumes, RefusalIs200, ReplayIsNull, ReplayVerifies,
    RkEncoded, SameAgainSucceeds, ShortLife, TextTaken, UnknownLeftOut, UpdateEndsPayload,
    VariableCreated, VerifiedIsText,
};

/// Each fault, and the check that fails because of it.
const FAULTS: [(Fault, &str); 34] = [
    (PermanentRedirect, "tap-redirects"),
    (KeyUnderAnotherName, "tap-key"),
    (OneKeyForAll, "tap-keys-differ"),
    (ReplayVerifies, "tap-replay"),
    (ReplayIsNull, "tap-replay"),
    (NullIsFalse, "tap-static-not-checked"),
    (VerifiedIsText, "payload-tag-verified"),
    (InvalidKeyIs404, "payload-invalid-key"),
    (RawKeyTaken, "payload-valid-key"),
    (RawKeyTakenToo, "payload-raw-key"),
    (PayloadConsumesKey, "payload-twice"),
    (OldKeyTaken, "payload-expired-key"),
    (KeyNotConsumed, "update-once"),
    (CheckThenConsume, "update-at-once"),
    (RefusalIs200, "update-invalid-key"),
    (OtherMessage, "update-unknown-variable"),
    (VariableCreated, "update-creates-nothing"),
    (UnknownLeftOut, "update-partly-unknown"),
    (RkEncoded, "payload-rk"),
    (IdsAreTexts, "payload-interaction-ids"),
    (NoLocation, "payload-location"),
    (NoPost, "payload-post"),
    (TextTaken, "update-content-type"),
    (NoCors, "cors-payload"),
    (NoCorsForUpdates, "cors-update"),
    (Cached, "answers-are-not-cached"),
    (PayloadCached, "answers-are-not-cached"),
    (AnyVersion, "version-prefix"),
    (GetUpdates, "update-method"),
    (RefusalConsumes, "update-after-refusal"),
    (UpdateEndsPayload, "payload-after-update"),
    (SameAgainSucceeds, "update-once"),
    (ShortLife, "payload-expires-in"),
    (KeyEndsEarly, "payload-late-key"),
];

/// Services that are judged at the same time.
const AT_ONCE: usize = 4;

/// Judges a service with this fault, or the right one: by taps of one-time URLs, or of a static one.
async fn judged(fault: Option<Fault>) -> Run {
    let server = server::start(fault).await;
    let base = &*server.base;
    if fault == Some(KeyEndsEarly) {
        return judged_in_simulated_time(base).await;
    }
    let urls: Vec<String> = (0..3)
        .map(|number| match fault {
            Some(NullIsFalse) => format!("{base}/t/poster"),
            _ => format!("{base}/t/bottle?code={number}"),
        })
        .collect();
    let old = format!("https://owner.example/?rk={}", server::OLD_KEY);
    let mut arguments = vec!["--service", base, "--old-landing", &*old];
    for url in &urls {
        arguments.extend(["--tap-url", url]);
    }
    judge(&arguments).await
}

/// Judges the service at `base` by taps of its virtual inlay.
async fn judged_in_simulated_time(base: &str) -> Run {
    let token = [(
        "TAPDESK_ADMIN_TOKEN",
        "tapdesk_0123456789abcdef0123456789abcdef",
    )];
    judge_with(&token, &["--service", base, "--simulated", "bottle"]).await
}

#[tokio::test]
async fn a_right_service_passes_in_simulated_time() {
    let server = server::start(None).await;
    let run = judged_in_simulated_time(&server.base).await;
    run.passes();
    assert_eq!(
        run.with("skipped"),
        ["payload-expires-in", "tap-static-not-checked"]
    );
}

#[tokio::test]
async fn a_right_service_passes_every_check_but_that_of_a_static_url() {
    let run = judged(None).await;
    run.passes();
    assert_eq!(
        run.with("skipped"),
        [
            "payload-expires-in",
            "payload-late-key",
            "tap-static-not-checked"
        ]
    );
}

#[tokio::test]
async fn each_seeded_fault_of_a_service_is_caught_by_name() {
    let runs = stream::iter(FAULTS).map(|(fault, name)| async move {
        let run = judged(Some(fault)).await;
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
