//! Records taps: one statement for a whole group.

use std::collections::HashMap;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::Event;
use crate::StorageError;
use crate::interactions::row::reason;
use crate::interactions::row_of;
use crate::postgres::node::{Attempts, Node};
use crate::postgres::row::{self, column};
use crate::postgres::session::{Parameters, Session};
use crate::value::Columns as _;
use domain::id::{GroupId, InlayId, InteractionId, UrlTemplateId};
use domain::interaction::{
    Claim, CounterRule, NewInteraction, Reason, Recorded, Returning, Verdict,
};
use domain::visitor::OperatingSystem;
use inlay::Uid;
use inlay::assessment::Tamper;

/// Decides the taps' verdicts and stores them, all or none, and sends their events. Returns the
/// results in the order of `taps`.
pub(in crate::postgres) async fn taps(
    node: &Node,
    writer: i16,
    taps: &[(InteractionId, NewInteraction)],
) -> Result<Vec<Recorded>, StorageError> {
    // Ids are reserved before a tap enters the lane, so they may be out of order. A tag's history
    // contains the taps of a group in the order of their ids.
    let mut in_order: Vec<_> = taps.iter().collect();
    in_order.sort_unstable_by_key(|(id, _)| *id);
    let columns = Columns::of(&in_order);
    let mut attempts = Attempts::new();
    let rows = loop {
        let session = attempts.session(node).await?;
        match columns.record(&session, attempts.again(), writer).await {
            Ok(rows) => break rows,
            Err(error) => attempts.pause(error).await?,
        }
    };
    let mut found = HashMap::with_capacity(rows.len());
    for row in &rows {
        found.insert(column::<i64>(row, 0)?, row);
    }
    let outcomes = taps.iter().map(|(id, tap)| {
        let row = found.get(&id.get()).ok_or_else(|| row::unreadable("tap"))?;
        recorded(row, *id, tap)
    });
    let outcomes = outcomes.collect::<Result<Vec<_>, _>>()?;
    for ((_, tap), recorded) in taps.iter().zip(&outcomes) {
        node.events.tell(event(tap, recorded));
    }
    Ok(outcomes)
}

/// The number under which transactions of several statements count their taps. Lanes have others,
/// so that neither waits for the rows of the other.
const NO_LANE: i16 = -1;

/// Records a tap in a transaction of several statements. The event must be sent after its commit.
pub(in crate::postgres) async fn within(
    session: &Session,
    id: InteractionId,
    tap: &NewInteraction,
) -> Result<(Recorded, Event), StorageError> {
    let tap = (id, tap.clone());
    let rows = Columns::of(&[&tap]).record(session, false, NO_LANE).await?;
    let row = rows.first().ok_or_else(|| row::unreadable("tap"))?;
    let recorded = recorded(row, id, &tap.1)?;
    Ok((recorded, event(&tap.1, &recorded)))
}

fn event(tap: &NewInteraction, recorded: &Recorded) -> Event {
    Event::Interaction {
        interaction_id: recorded.id,
        tag_id: tap.tag_id,
        at: recorded.at,
        tag_verified: recorded.verdict.tag_verified(),
        reason: recorded.verdict.reason(),
        simulated: tap.simulated,
        origin: tap.made_by(),
    }
}

fn recorded(row: &Row, id: InteractionId, tap: &NewInteraction) -> Result<Recorded, StorageError> {
    let verdict = Verdict::from_parts(
        reason(row, 2)?,
        row.column(3)?,
        row.column(4)?,
        unknown_uid(tap),
    );
    Ok(Recorded {
        id,
        at: row::time(row, 1)?,
        verdict: verdict.ok_or_else(|| row::unreadable("verdict"))?,
        returning: Returning {
            month: column(row, 5)?,
            day: column(row, 6)?,
        },
    })
}

/// The UID in a code, if no inlay of the tag has it.
fn unknown_uid(tap: &NewInteraction) -> Option<Uid> {
    match tap.claim {
        Claim::Decided(verdict) => verdict.other_uid(),
        _ => None,
    }
}

/// The columns of taps, as parameters of `record_taps`.
struct Columns<'a> {
    ids: Vec<i64>,
    tags: Vec<i64>,
    inlays: Vec<Option<i64>>,
    key_versions: Vec<Option<i32>>,
    counters: Vec<Option<i64>>,
    mirrors: Vec<bool>,
    reasons: Vec<Option<&'static str>>,
    lasts: Vec<Option<i64>>,
    uids: Vec<Option<Vec<u8>>>,
    techs: Vec<&'static str>,
    experiences: Vec<Option<i64>>,
    versions: Vec<Option<i32>>,
    clients: Vec<&'a [u8]>,
    countries: Vec<&'a str>,
    hashes: Vec<Option<&'a [u8]>>,
    url_digests: Vec<Option<&'a [u8]>>,
    simulations: Vec<bool>,
    offsets: Vec<i64>,
    tampers: Vec<Option<&'static str>>,
    file_data: Vec<Option<&'a [u8]>>,
    systems: Vec<Option<&'static str>>,
    languages: Vec<Option<&'a str>>,
    groups: Vec<Option<i32>>,
    recalls: Vec<Option<i64>>,
    /// For taps that are, as far as known, the first at a URL template's address: the template's
    /// id.
    first_at_template: Vec<Option<i64>>,
    /// For test taps of the real world: the reader that made them.
    test_origins: Vec<Option<&'static str>>,
}

impl<'a> Columns<'a> {
    fn of(taps: &[&'a (InteractionId, NewInteraction)]) -> Self {
        fn column<'a, T>(
            taps: &[&'a (InteractionId, NewInteraction)],
            value: impl Fn(&'a NewInteraction) -> T,
        ) -> Vec<T> {
            taps.iter().map(|(_, tap)| value(tap)).collect()
        }
        let code = |tap: &NewInteraction| match tap.claim {
            Claim::Decided(_) | Claim::Known { .. } => None,
            Claim::Counter {
                key_version,
                counter,
                rule,
                ..
            } => Some((key_version.cast_signed(), i64::from(counter), rule)),
        };
        let decided = |tap: &NewInteraction| tap.claim.decided();
        let signed = |number: Option<u32>| number.map(u32::cast_signed);
        let wide = |number: Option<u32>| number.map(i64::from);
        Self {
            ids: taps.iter().map(|(id, _)| id.get()).collect(),
            tags: column(taps, |tap| row_of(tap.tag_id)),
            inlays: column(taps, |tap| tap.claim.inlay_id().map(InlayId::get)),
            key_versions: column(taps, |tap| code(tap).map(|(version, ..)| version)),
            counters: column(taps, |tap| match code(tap) {
                Some((_, counter, _)) => Some(counter),
                None => wide(decided(tap).and_then(|verdict| verdict.counters().0)),
            }),
            mirrors: column(taps, |tap| {
                matches!(code(tap), Some((.., CounterRule::Mirror)))
            }),
            reasons: column(taps, |tap| match code(tap) {
                // A blocked code has a key version, so its counter moves, but it verifies nothing.
                Some((.., CounterRule::Blocked)) => Some(Reason::Blocked.as_str()),
                _ => decided(tap).map(|verdict| verdict.reason().as_str()),
            }),
            lasts: column(taps, |tap| {
                wide(decided(tap).and_then(|verdict| verdict.counters().1))
            }),
            uids: column(taps, |tap| unknown_uid(tap).map(|uid| uid.bytes().to_vec())),
            techs: column(taps, |tap| tap.tech.value()),
            experiences: column(taps, |tap| tap.experience.map(|to| to.experience_id.get())),
            versions: column(taps, |tap| signed(tap.experience.map(|to| to.version))),
            clients: column(taps, |tap| tap.client.0.as_slice()),
            countries: column(taps, |tap| tap.country.as_str()),
            hashes: column(taps, |tap| {
                tap.key.as_ref().map(|key| key.hash.0.as_slice())
            }),
            url_digests: column(taps, |tap| {
                tap.key.as_ref().map(|key| key.url_digest.as_slice())
            }),
            simulations: column(taps, |tap| tap.simulated),
            offsets: column(taps, |tap| tap.time_offset.get()),
            tampers: column(taps, |tap| tap.tamper.map(Tamper::as_str)),
            file_data: column(taps, |tap| tap.file_data.as_deref()),
            systems: column(taps, |tap| tap.traits.system.map(OperatingSystem::as_str)),
            languages: column(taps, |tap| tap.traits.language.as_deref()),
            groups: column(taps, |tap| tap.traits.group.map(i32::from)),
            recalls: column(taps, |tap| tap.recalled_by.map(GroupId::get)),
            first_at_template: column(taps, |tap| tap.first_at_template.map(UrlTemplateId::get)),
            test_origins: column(taps, NewInteraction::test_origin),
        }
    }

    async fn record(
        &self,
        session: &Session,
        again: bool,
        writer: i16,
    ) -> Result<Vec<Row>, StorageError> {
        let taps: Parameters<'_> = &[
            &again,
            &writer,
            &self.ids,
            &self.tags,
            &self.inlays,
            &self.key_versions,
            &self.counters,
            &self.mirrors,
            &self.reasons,
            &self.lasts,
            &self.uids,
            &self.techs,
            &self.experiences,
            &self.versions,
            &self.clients,
            &self.countries,
            &self.hashes,
            &self.url_digests,
            &self.simulations,
            &self.offsets,
            &self.tampers,
            &self.file_data,
            &self.systems,
            &self.languages,
            &self.groups,
            &self.recalls,
        ];
        let is_ordinary = self.first_at_template.iter().all(Option::is_none)
            && self.test_origins.iter().all(Option::is_none);
        if is_ordinary {
            return session.rows(RECORD, taps).await;
        }
        let mut noted: Vec<&(dyn ToSql + Sync)> = taps.to_vec();
        noted.push(&self.first_at_template);
        noted.push(&self.test_origins);
        session.rows(RECORD_AND_NOTE, &noted).await
    }
}

/// Like `RECORD`, if some taps are test taps, or the first at a URL template's address. The same
/// commit notes that.
const RECORD_AND_NOTE: &str = "WITH tap AS MATERIALIZED (
        SELECT * FROM record_taps($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, \
        $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)
    ), first AS (
        SELECT template, min(recorded_at) AS at
        FROM unnest($3::BIGINT[], $27::BIGINT[]) AS t (interaction, template) JOIN tap USING (interaction)
        WHERE template IS NOT NULL GROUP BY template
    ), untapped AS MATERIALIZED (
        SELECT id, first.at FROM url_templates JOIN first ON id = template
        WHERE first_tap_at IS NULL ORDER BY id FOR NO KEY UPDATE OF url_templates
    ), noted AS (
        UPDATE url_templates SET first_tap_at = untapped.at FROM untapped
        WHERE url_templates.id = untapped.id
    ), tests AS (
        INSERT INTO test_taps (tap_id, tag_id, experience_id, hour, reason, origin)
        SELECT interaction, tag, experience, recorded_at / 3600000, why, origin
        FROM unnest($3::BIGINT[], $4::BIGINT[], $13::BIGINT[], $28::TEXT[]) AS t (interaction, tag, experience, origin)
            JOIN tap USING (interaction)
        WHERE origin IS NOT NULL
        -- They are there if the answer was lost and the taps are sent again.
        ON CONFLICT (tap_id) DO NOTHING
    )
    SELECT * FROM tap";

const RECORD: &str = "SELECT * FROM record_taps($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, \
    $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)";
