//! Sends events to the listeners of this node and of the others.
//!
//! Listeners of this node get an event right after the commit. Other nodes get the ids of events a
//! moment later, many at a time, and read the events if somebody listens there. Taps do not send
//! `NOTIFY` themselves, because transactions that do so commit one after the other. A node that
//! fails in that moment does not send its last events to other nodes, but the history contains
//! them.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex as AsyncMutex, Notify, broadcast, mpsc};
use tokio::time::sleep;
use tokio_postgres::Row;

use super::node::Node;
use super::row::{self, column};
use super::shared;
use crate::interactions::row::{COLUMNS, interaction};
use crate::shared::encodings::{COLUMNS as ENCODING, encoded, read as encoding};
use crate::{Event, SharedEvent, StorageError, StorageMetrics};
use domain::resource_kind::ResourceKind;

/// The channel on which nodes send each other events.
pub(super) const CHANNEL: &str = "tapdesk_events";
/// Events kept for a slow listener before it misses some.
const BACKLOG: usize = 4096;
/// Events that may wait to be sent to other nodes; further ones are not sent.
const UNSENT_MAX: usize = 20_000;
/// How long events are collected before they are sent together.
const GATHERED: Duration = Duration::from_millis(50);
/// Ids in one notification, which has room for 8,000 bytes.
const SENT_AT_ONCE: usize = 200;

/// The events of a node, and its listeners.
pub(super) struct Events {
    node: i64,
    listeners: broadcast::Sender<SharedEvent>,
    unsent: Mutex<Vec<Happened>>,
    more: Notify,
    metrics: StorageMetrics,
}

/// An event in the form in which other nodes get it: mostly its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happened {
    Interaction(i64),
    Update(i64),
    /// Identified by its interaction.
    Submission(i64),
    Encoded(i64),
    /// Complete, because there may be nothing left to read.
    Changed(ResourceKind, Option<i64>),
}

impl Events {
    pub(super) fn new(node: i64, metrics: StorageMetrics) -> Self {
        Self {
            node,
            listeners: broadcast::channel(BACKLOG).0,
            unsent: Mutex::default(),
            more: Notify::new(),
            metrics,
        }
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<SharedEvent> {
        self.listeners.subscribe()
    }

    /// Sends a committed event to listeners on all nodes.
    pub(super) fn tell(&self, event: Event) {
        self.tell_elsewhere(&event);
        self.tell_here(event);
    }

    /// Sends a committed event only to listeners on other nodes.
    pub(super) fn tell_elsewhere(&self, event: &Event) {
        let happened = match event {
            // Each node raises alerts by itself, and a sample is for a developer's own listener.
            Event::Alert { .. } | Event::Sample { .. } => return,
            Event::Interaction { interaction_id, .. } => {
                Happened::Interaction(interaction_id.get())
            }
            Event::Update { interaction_id, .. } => Happened::Update(interaction_id.get()),
            Event::Submission { interaction_id, .. } => Happened::Submission(interaction_id.get()),
            Event::Encoded { encoding_id, .. } => Happened::Encoded(encoding_id.get()),
            Event::Changed { kind, id } => Happened::Changed(*kind, *id),
        };
        let mut unsent = self.unsent.lock().unwrap_or_else(PoisonError::into_inner);
        if unsent.len() < UNSENT_MAX {
            unsent.push(happened);
            self.more.notify_one();
        } else {
            self.metrics.lost_events(1);
        }
    }

    /// Sends an event to the listeners of this node.
    pub(super) fn tell_here(&self, event: Event) {
        if self.listeners.receiver_count() > 0 {
            let _ = self.listeners.send(event.into());
        }
    }

    fn take_unsent(&self) -> Vec<Happened> {
        std::mem::take(&mut *self.unsent.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Sends this node's events to other nodes, until it is dropped.
pub(super) async fn tell_others(node: Arc<Node>) -> Infallible {
    loop {
        node.events.more.notified().await;
        sleep(GATHERED).await;
        for happened in node.events.take_unsent().chunks(SENT_AT_ONCE) {
            let message = message(node.events.node, happened);
            let sent = match node.session().await {
                Ok(session) => {
                    session
                        .run("SELECT pg_notify($1, $2)", &[&CHANNEL, &message])
                        .await
                }
                Err(error) => Err(error),
            };
            if let Err(error) = sent {
                node.metrics.lost_events(happened.len() as u64);
                tracing::debug!("events are not sent to other nodes: {error}");
            }
        }
    }
}

/// Sends other nodes' events to the listeners here, until the channel closes.
pub(super) async fn tell_from_others(
    node: Arc<Node>,
    messages: Arc<AsyncMutex<mpsc::Receiver<String>>>,
) {
    let mut messages = messages.lock().await;
    while let Some(message) = messages.recv().await {
        let Some((from, happened)) = parse(&message) else {
            continue;
        };
        if from == node.events.node || node.events.listeners.receiver_count() == 0 {
            continue;
        }
        match read(&node, &happened).await {
            Ok(events) => events
                .into_iter()
                .for_each(|event| node.events.tell_here(event)),
            Err(error) => {
                node.metrics.lost_events(happened.len() as u64);
                tracing::debug!("events of another node are not sent here: {error}");
            }
        }
    }
}

/// A notification: the node's number and the ids of its events, such as `7 i412 u398`.
fn message(node: i64, happened: &[Happened]) -> String {
    let mut message = node.to_string();
    for one in happened {
        let _ = match one {
            Happened::Interaction(id) => write!(message, " i{id}"),
            Happened::Update(id) => write!(message, " u{id}"),
            Happened::Submission(id) => write!(message, " s{id}"),
            Happened::Encoded(id) => write!(message, " e{id}"),
            Happened::Changed(kind, None) => write!(message, " c{}", kind.as_str()),
            Happened::Changed(kind, Some(id)) => write!(message, " c{}/{id}", kind.as_str()),
        };
    }
    message
}

fn parse(message: &str) -> Option<(i64, Vec<Happened>)> {
    let mut words = message.split(' ');
    let node = words.next()?.parse().ok()?;
    let happened = words.map(|word| match word.split_at_checked(1)? {
        ("i", id) => Some(Happened::Interaction(id.parse().ok()?)),
        ("u", id) => Some(Happened::Update(id.parse().ok()?)),
        ("s", id) => Some(Happened::Submission(id.parse().ok()?)),
        ("e", id) => Some(Happened::Encoded(id.parse().ok()?)),
        ("c", path) => ResourceKind::of_path(path).map(|(kind, id)| Happened::Changed(kind, id)),
        _ => None,
    });
    Some((node, happened.collect::<Option<_>>()?))
}

/// Reads the events by their ids: changes, taps, updates, submissions, then encodings.
async fn read(node: &Node, happened: &[Happened]) -> Result<Vec<Event>, StorageError> {
    let ids = |which: fn(&Happened) -> Option<i64>| -> Vec<i64> {
        happened.iter().filter_map(which).collect()
    };
    let interactions = ids(|one| match one {
        Happened::Interaction(id) => Some(*id),
        _ => None,
    });
    let updates = ids(|one| match one {
        Happened::Update(id) => Some(*id),
        _ => None,
    });
    let submissions = ids(|one| match one {
        Happened::Submission(id) => Some(*id),
        _ => None,
    });
    let encodings = ids(|one| match one {
        Happened::Encoded(id) => Some(*id),
        _ => None,
    });
    let mut events = Vec::with_capacity(happened.len());
    events.extend(happened.iter().filter_map(|one| match one {
        Happened::Changed(kind, id) => Some(Event::Changed {
            kind: *kind,
            id: *id,
        }),
        _ => None,
    }));
    if events.len() == happened.len() {
        return Ok(events);
    }
    let session = node.session().await?;
    if !interactions.is_empty() {
        let sql =
            format!("SELECT {COLUMNS} FROM interactions i WHERE i.id = ANY ($1) ORDER BY i.id");
        let rows = session.rows(&sql, &[&interactions]).await?;
        for row in &rows {
            let interaction = interaction(row)?;
            events.push(Event::Interaction {
                interaction_id: interaction.id,
                tag_id: interaction.tag_id,
                at: interaction.at,
                tag_verified: interaction.verdict.tag_verified(),
                reason: interaction.verdict.reason(),
                simulated: interaction.simulated,
                origin: interaction.origin,
            });
        }
    }
    if !updates.is_empty() {
        let rows = session
            .rows(
                "SELECT u.interaction_id, u.at, u.changes, i.tag_id, i.simulated
                 FROM updates u JOIN interactions i ON i.id = u.interaction_id
                 WHERE u.interaction_id = ANY ($1) ORDER BY u.at",
                &[&updates],
            )
            .await?;
        for row in &rows {
            events.push(update(row)?);
        }
    }
    if !submissions.is_empty() {
        let rows = session
            .rows(
                "SELECT interaction_id, tag_id, experience_id, at, simulated FROM submissions
                 WHERE interaction_id = ANY ($1) ORDER BY id",
                &[&submissions],
            )
            .await?;
        for row in &rows {
            events.push(Event::Submission {
                interaction_id: row::id(row, 0)?,
                tag_id: row::id(row, 1)?,
                experience_id: row::id(row, 2)?,
                at: row::time(row, 3)?,
                simulated: column(row, 4)?,
            });
        }
    }
    if !encodings.is_empty() {
        let sql = format!("SELECT {ENCODING} FROM encodings WHERE id = ANY ($1) ORDER BY id");
        let found = session.rows(&sql, &[&encodings]).await?;
        for row in shared::rows(&found)? {
            events.extend(encoded(&encoding(row)?));
        }
    }
    Ok(events)
}

fn update(row: &Row) -> Result<Event, StorageError> {
    Ok(Event::Update {
        interaction_id: row::id(row, 0)?,
        tag_id: row::id(row, 3)?,
        at: row::time(row, 1)?,
        changes: serde_json::from_str(column(row, 2)?).map_err(|_| row::unreadable("change"))?,
        simulated: column(row, 4)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_for_other_nodes_is_not_sent_to_listeners_here() {
        let events = Events::new(7, StorageMetrics::default());
        let mut listener = events.subscribe();
        let change = Event::Changed {
            kind: ResourceKind::Interactions,
            id: None,
        };
        events.tell_elsewhere(&change);
        assert!(listener.try_recv().is_err());
        let happened = Happened::Changed(ResourceKind::Interactions, None);
        assert_eq!(events.take_unsent(), [happened]);
        events.tell(change);
        assert_eq!(listener.try_recv().unwrap().name(), "changed");
        assert_eq!(events.take_unsent(), [happened]);
    }

    #[test]
    fn what_one_node_tells_another_reads() {
        let happened = vec![
            Happened::Interaction(412),
            Happened::Update(398),
            Happened::Submission(398),
            Happened::Encoded(12),
            Happened::Changed(ResourceKind::Tags, Some(41)),
            Happened::Changed(ResourceKind::TagUrl, None),
        ];
        let text = "7 i412 u398 s398 e12 ctags/41 ctag-url";
        assert_eq!(message(7, &happened), text);
        assert_eq!(parse(text), Some((7, happened)));
        for nonsense in ["", "x", "7 ", "7 412", "7 i412 é9", "7 ccars/1"] {
            assert_eq!(parse(nonsense), None, "{nonsense}");
        }
        let longest = Happened::Changed(ResourceKind::UnlistedChips, Some(i64::MAX >> 10));
        let longest = vec![longest; SENT_AT_ONCE];
        assert!(message(i64::MAX, &longest).len() < 8_000);
    }
}
