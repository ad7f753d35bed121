//! Metrics for operators. Labels are routes, methods, statuses and reasons: never a value that a
//! client chooses.

mod kiosk;
mod labels;

use std::sync::OnceLock;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use domain::clock::Timestamp;
use storage::{Backlog, BackupResult, NotificationBacklog, Queue, StorageMetrics, Swept};

use crate::kiosk::KioskState;
use kiosk::KioskMetrics;
use labels::{
    DerivationLabels, QueueLabels, RequestLabels, RowLabels, TapLabels, TimeLabels, UnlistedLabels,
    known, outcome,
};

/// Bounds of the time of a request, in seconds. A tap takes 1 to 5 ms on a quiet machine
/// (docs/explanation/speed.md), so the first bounds separate a good tap from a slow one; from 250 ms on a visitor
/// notices; beyond 10 s browsers and proxies give up.
const REQUEST_SECONDS: [f64; 11] = [
    0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0,
];

/// Route, method and status of the most frequent answer: a tap that is redirected.
const REDIRECT: (&str, &str, u16) = ("/t/{slug}", "GET", 302);

/// The metrics of a service, and the registry that shows them.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Family<TimeLabels, Histogram, fn() -> Histogram>,
    /// The metrics of [`REDIRECT`], which are in the two families, too. There they are found by a
    /// lock and a hash of their labels.
    redirects: OnceLock<Answers>,
    taps: Family<TapLabels, Counter>,
    unknown_codes: Counter,
    unlisted_taps: Family<UnlistedLabels, Counter>,
    slow_derivations: Family<DerivationLabels, Counter>,
    previews: Counter,
    request_panics: Counter,
    task_panics: Counter,
    housekeeping_rows: Family<RowLabels, Counter>,
    housekeeping_failures: Counter,
    backup_failures: Counter,
    backup_good: Gauge,
    backup_at: Gauge,
    certificate_expiry: Gauge,
    certificate_failures: Counter,
    kiosk: KioskMetrics,
    webhook_failures: Counter,
    webhooks_given_up: Counter,
    webhooks_waiting: Gauge,
    webhooks_late: Gauge,
    notification_failures: Counter,
    notifications_waiting: Gauge,
    notifications_late: Gauge,
    notifications_given_up: Gauge,
    database_up: Gauge,
    queue: Family<QueueLabels, Gauge>,
    queue_limit: Family<QueueLabels, Gauge>,
}

/// The metrics of equal answers to equal requests.
struct Answers {
    count: Counter,
    times: Histogram,
}

impl Answers {
    fn add(&self, time: Duration) {
        self.count.inc();
        self.times.observe(time.as_secs_f64());
    }
}

/// The hits and misses of the tag cache.
#[derive(Clone, Debug, Default)]
pub struct CacheMetrics {
    /// Tags that were found in the cache and current.
    pub hits: Counter,
    /// Tags that were read from the database.
    pub misses: Counter,
}

impl Metrics {
    /// Metrics without any counts. They also show the metrics that storage and the cache collect
    /// themselves.
    pub fn new(storage: &StorageMetrics, cache: &CacheMetrics) -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("tapdesk"),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(|| Histogram::new(REQUEST_SECONDS)),
            redirects: OnceLock::new(),
            taps: Family::default(),
            unknown_codes: Counter::default(),
            unlisted_taps: Family::default(),
            slow_derivations: Family::default(),
            previews: Counter::default(),
            request_panics: Counter::default(),
            task_panics: Counter::default(),
            housekeeping_rows: Family::default(),
            housekeeping_failures: Counter::default(),
            backup_failures: Counter::default(),
            backup_good: Gauge::default(),
            backup_at: Gauge::default(),
            certificate_expiry: Gauge::default(),
            certificate_failures: Counter::default(),
            kiosk: KioskMetrics::default(),
            webhook_failures: Counter::default(),
            webhooks_given_up: Counter::default(),
            webhooks_waiting: Gauge::default(),
            webhooks_late: Gauge::default(),
            notification_failures: Counter::default(),
            notifications_waiting: Gauge::default(),
            notifications_late: Gauge::default(),
            notifications_given_up: Gauge::default(),
            database_up: Gauge::default(),
            queue: Family::default(),
            queue_limit: Family::default(),
        };
        // A counter that exists from the start also shows its first increment.
        metrics.swept(&Swept::default());
        metrics.register_requests();
        metrics.register_work();
        metrics.register_backups();
        metrics.register_certificates();
        metrics.kiosk.register(&mut metrics.registry);
        metrics.register_webhooks();
        metrics.register_notifications();
        storage.register(&mut metrics.registry);
        for (name, help, counter) in [
            (
                "tag_cache_hits",
                "Tags whose configuration was in memory",
                &cache.hits,
            ),
            (
                "tag_cache_misses",
                "Tags whose configuration was read from the database",
                &cache.misses,
            ),
        ] {
            metrics.registry.register(name, help, counter.clone());
        }
        metrics
    }

    fn register_requests(&mut self) {
        let registry = &mut self.registry;
        registry.register("http_requests", "Answered requests", self.requests.clone());
        registry.register_with_unit(
            "http_request",
            "Time from a request's head to the head of its answer",
            Unit::Seconds,
            self.request_seconds.clone(),
        );
        registry.register(
            "taps",
            "Recorded taps by reason of their verdict",
            self.taps.clone(),
        );
        registry.register(
            "unknown_codes",
            "Requests at a URL template without a slug whose code names no inlay",
            self.unknown_codes.clone(),
        );
        registry.register(
            "unlisted_taps",
            "Authentic taps of chips that were no inlays, by outcome",
            self.unlisted_taps.clone(),
        );
        // An alert sees the first tap only if there was a zero before it.
        for outcome in ["refused", "page", "created", "limited"] {
            drop(
                self.unlisted_taps
                    .get_or_create(&UnlistedLabels { outcome }),
            );
        }
        registry.register(
            "slow_derivations",
            "Codes that needed keys that are slow to derive, by outcome",
            self.slow_derivations.clone(),
        );
        for outcome in ["done", "refused", "failed"] {
            let labels = DerivationLabels { outcome };
            drop(self.slow_derivations.get_or_create(&labels));
        }
        registry.register(
            "previews",
            "Previews of tags that programs got, which are no taps",
            self.previews.clone(),
        );
        registry.register(
            "request_panics",
            "Requests whose handler panicked",
            self.request_panics.clone(),
        );
    }

    fn register_work(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "task_panics",
            "Background tasks that panicked and were started again",
            self.task_panics.clone(),
        );
        registry.register(
            "housekeeping_rows",
            "Rows that housekeeping removed, by kind",
            self.housekeeping_rows.clone(),
        );
        registry.register(
            "housekeeping_failures",
            "Rounds of housekeeping that failed",
            self.housekeeping_failures.clone(),
        );
        registry.register(
            "database_up",
            "1 if the database answers and takes writes, as GET /ready says",
            self.database_up.clone(),
        );
        registry.register(
            "write_queue",
            "Writes that wait for their commit",
            self.queue.clone(),
        );
        registry.register(
            "write_queue_limit",
            "Writes that may wait; beyond it requests wait to enqueue theirs",
            self.queue_limit.clone(),
        );
    }

    fn register_backups(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "backup_failures",
            "Scheduled backups that failed, or that could not be restored",
            self.backup_failures.clone(),
        );
        registry.register(
            "backup_good",
            "1 if the last scheduled backup was restored and compared, 0 if it failed or there is none",
            self.backup_good.clone(),
        );
        registry.register_with_unit(
            "backup_last",
            "When the last scheduled backup was made that is good, since the Unix epoch",
            Unit::Seconds,
            self.backup_at.clone(),
        );
    }

    fn register_certificates(&mut self) {
        let registry = &mut self.registry;
        registry.register_with_unit(
            "certificate_expiry",
            "When the first certificate of this node expires, since the Unix epoch; 0 if it has none",
            Unit::Seconds,
            self.certificate_expiry.clone(),
        );
        registry.register(
            "certificate_failures",
            "Attempts of this node to obtain a certificate that failed",
            self.certificate_failures.clone(),
        );
    }

    fn register_webhooks(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "webhook_failures",
            "Rounds of webhook delivery that failed inside of the service",
            self.webhook_failures.clone(),
        );
        registry.register(
            "webhook_deliveries_given_up",
            "Deliveries that an endpoint refused for three days while it took others",
            self.webhooks_given_up.clone(),
        );
        registry.register(
            "webhook_deliveries_waiting",
            "Deliveries that wait for their next attempt",
            self.webhooks_waiting.clone(),
        );
        registry.register_with_unit(
            "webhook_late",
            "For how long an endpoint that answers well has waited for an event, at most",
            Unit::Seconds,
            self.webhooks_late.clone(),
        );
    }

    fn register_notifications(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "notification_failures",
            "Rounds of notifications that failed inside of the service",
            self.notification_failures.clone(),
        );
        registry.register(
            "notification_deliveries_waiting",
            "Messages to recipients that wait for their next attempt",
            self.notifications_waiting.clone(),
        );
        registry.register_with_unit(
            "notification_late",
            "Age of the oldest message that waits for a recipient",
            Unit::Seconds,
            self.notifications_late.clone(),
        );
        registry.register(
            "notification_deliveries_given_up",
            "Messages to recipients that were given up within seven days",
            self.notifications_given_up.clone(),
        );
    }

    /// Counts a round of notifications that failed: of making messages, or of sending them.
    pub(crate) fn notification_failure(&self) {
        self.notification_failures.inc();
    }

    /// The messages that recipients have not received yet.
    pub fn notification_backlog(&self, backlog: NotificationBacklog) {
        let number = |count| i64::try_from(count).unwrap_or(i64::MAX);
        self.notifications_waiting.set(number(backlog.waiting));
        self.notifications_late.set(backlog.late.whole_seconds());
        self.notifications_given_up.set(number(backlog.given_up));
    }

    /// Counts a round of webhook delivery that failed.
    pub(crate) fn webhook_failure(&self) {
        self.webhook_failures.inc();
    }

    /// Counts deliveries that were given up.
    pub(crate) fn webhooks_given_up(&self, many: u64) {
        self.webhooks_given_up.inc_by(many);
    }

    /// The number of events that endpoints have not received yet.
    pub fn webhook_backlog(&self, backlog: Backlog) {
        let waiting = i64::try_from(backlog.waiting).unwrap_or(i64::MAX);
        self.webhooks_waiting.set(waiting);
        self.webhooks_late.set(backlog.late.whole_seconds());
    }

    /// Counts a scheduled backup that failed.
    pub(crate) fn backup_failure(&self) {
        self.backup_failures.inc();
    }

    /// The result of the last scheduled backup.
    pub fn backup(&self, last: Option<&BackupResult>) {
        let good = last.filter(|last| last.error.is_none());
        self.backup_good.set(good.is_some().into());
        if let Some(good) = good {
            self.backup_at.set(good.at.unix_seconds());
        }
    }

    /// The first certificate of this node expires then.
    pub(crate) fn certificate_expires(&self, at: Timestamp) {
        self.certificate_expiry.set(at.unix_seconds());
    }

    /// The state of the kiosk in this process; `None` if none is shown. The time of the last visit
    /// stays.
    pub(crate) fn kiosk(&self, state: Option<KioskState>) {
        self.kiosk.set(state);
    }

    /// Counts a failed attempt to obtain a certificate.
    pub(crate) fn certificate_failure(&self) {
        self.certificate_failures.inc();
    }

    /// Counts an answered request. `route` is the matched one, or empty.
    pub fn request(&self, route: &str, method: &str, status: u16, time: Duration) {
        let find = || self.of_answer(route, method, status);
        if (route, method, status) == REDIRECT {
            self.redirects.get_or_init(find).add(time);
        } else {
            find().add(time);
        }
    }

    /// The metrics of the answers with this status to such requests.
    fn of_answer(&self, route: &str, method: &str, status: u16) -> Answers {
        let labels = RequestLabels {
            route: route.to_owned(),
            method: known(method),
            status,
        };
        let count = self.requests.get_or_create(&labels).clone();
        let labels = TimeLabels {
            route: labels.route,
            outcome: outcome(status),
        };
        let times = self.request_seconds.get_or_create(&labels).clone();
        Answers { count, times }
    }

    /// Counts a recorded tap.
    pub fn tap(&self, reason: &'static str, origin: &'static str) {
        let labels = TapLabels { reason, origin };
        self.taps.get_or_create(&labels).inc();
    }

    /// Counts a preview of a tag that a program requested.
    pub fn preview(&self) {
        self.previews.inc();
    }

    /// Counts a code that should name an inlay, but names none.
    pub(crate) fn unknown_code(&self) {
        self.unknown_codes.inc();
    }

    /// Counts an authentic tap of a chip that was no inlay.
    pub(crate) fn unlisted_tap(&self, outcome: &'static str) {
        let labels = UnlistedLabels { outcome };
        self.unlisted_taps.get_or_create(&labels).inc();
    }

    /// Counts a code that needed keys that are slow to derive.
    pub(crate) fn slow_derivation(&self, outcome: &'static str) {
        let labels = DerivationLabels { outcome };
        self.slow_derivations.get_or_create(&labels).inc();
    }

    /// Counts a request whose handler panicked.
    pub fn request_panic(&self) {
        self.request_panics.inc();
    }

    /// Counts a background task that panicked.
    pub(crate) fn task_panic(&self) {
        self.task_panics.inc();
    }

    /// Counts the rows that a round of housekeeping removed.
    pub fn swept(&self, swept: &Swept) {
        for (kind, rows) in [
            ("interactions", swept.interactions),
            ("visits", swept.visits),
        ] {
            self.housekeeping_rows
                .get_or_create(&RowLabels { kind })
                .inc_by(rows);
        }
    }

    /// Counts a round of housekeeping that failed.
    pub(crate) fn housekeeping_failure(&self) {
        self.housekeeping_failures.inc();
    }

    /// The metrics in the text format of `OpenMetrics`, with the present state: whether the
    /// database is up, and the lengths of its queues.
    pub fn render(&self, database_up: bool, queues: &[Queue]) -> String {
        self.database_up.set(database_up.into());
        for queue in queues {
            let labels = QueueLabels { queue: queue.name };
            let number = |count| i64::try_from(count).unwrap_or(i64::MAX);
            let waiting = self.queue.get_or_create(&labels);
            waiting.set(number(queue.waiting));
            let limit = self.queue_limit.get_or_create(&labels);
            limit.set(number(queue.limit));
        }
        let mut text = String::new();
        // Writing into a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
