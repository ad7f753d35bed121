//! Reports of random taps, compared with an oracle that counts each tap by itself.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tapdesk_tests::{TestService, length};

use super::{PHONE, ROBOT, fold, tap};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// The end of March and of October 2026, when clocks change in Berlin: 01:00 UTC.
const SPRING: i64 = 1_774_746_000_000;
const AUTUMN: i64 = 1_792_890_000_000;

/// Numbers that look random and are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        // The constants are those of Knuth's MMIX.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        let number = self.below(all.len() as u64);
        all[usize::try_from(number).expect("small")]
    }
}

/// A tap as the oracle remembers it.
struct Tap {
    at: i64,
    tag: usize,
    agent: usize,
    verified: bool,
}

/// Local milliseconds of an hour, by the law of each zone.
fn local(zone: &str, hour: i64) -> i64 {
    let at = hour * HOUR;
    let minutes = match zone {
        "Europe/Berlin" if (SPRING..AUTUMN).contains(&at) => 120,
        "Europe/Berlin" => 60,
        "Asia/Kolkata" => 330,
        _ => 0,
    };
    at + minutes * 60_000
}

/// The bucket in which a local time is: days, weeks from Monday and months since 2026 began.
fn bucket(step: &str, local: i64) -> i64 {
    let days = local.div_euclid(DAY);
    match step {
        "hour" => local.div_euclid(HOUR),
        "day" => days,
        // The Unix epoch was on a Thursday.
        "week" => (days + 3).div_euclid(7),
        _ => {
            let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            let (mut month, mut left) = (0, days - 20_454);
            while left < 0 || left >= lengths[usize::try_from(month).expect("a month") % 12] {
                assert!(left >= 0, "the oracle begins with 2026");
                left -= lengths[usize::try_from(month).expect("a month") % 12];
                month += 1;
            }
            month
        }
    }
}

fn millis(at: &Value) -> i64 {
    let at: tapdesk_service::clock::Timestamp = serde_json::from_value(at.clone()).expect("a time");
    at.millis()
}

fn moment(at: i64) -> String {
    tapdesk_service::clock::Timestamp::from_millis(at).to_string()
}

/// One service with taps of three tags, of which the first is in no group, the second in a batch and
/// the third in its product.
struct World {
    service: TestService,
    tags: [i64; 3],
    batch: i64,
    product: i64,
    taps: Vec<Tap>,
}

const AGENTS: [&str; 3] = [PHONE, ROBOT, "curl/8.5.0"];

impl World {
    async fn new(dice: &mut Dice) -> Self {
        let service = TestService::start().await;
        let create = async |group: Value| {
            let group = service.admin_create("/groups", group).await;
            group["id"].as_i64().expect("an id")
        };
        let product = create(json!({"kind": "product", "name": "Wine", "parent_id": null})).await;
        let batch = create(json!({"kind": "batch", "name": "L03", "parent_id": product})).await;
        let (bottle, mut inlay) = service.bottle().await;
        let of_batch = service.redirecting_tag(json!({"group_id": batch})).await;
        let of_product = service.redirecting_tag(json!({"group_id": product})).await;
        let mut taps = Vec::new();
        for number in 0..length(90, 400) {
            let step = dice.below(36 * 60) + 6;
            service.advance(i64::try_from(step).expect("small") * 60_000);
            let tag = dice.one_of(&[0, 1, 2]);
            let agent = dice.one_of(&[0, 1, 2]);
            let path = match tag {
                0 => inlay.url(&bottle),
                1 => of_batch.path(),
                _ => of_product.path(),
            };
            taps.push(Tap {
                at: service.now(),
                tag,
                agent,
                verified: tag == 0,
            });
            tap(&service, &path, AGENTS[agent], "en").await;
            if number % 20 == 0 {
                fold(&service).await;
            }
        }
        service.advance(1);
        Self {
            service,
            tags: [bottle.id, of_batch.id, of_product.id],
            batch,
            product,
            taps,
        }
    }

    /// Asks for one report, and counts it again.
    #[expect(
        clippy::too_many_lines,
        reason = "each number of a report, one after the other"
    )]
    async fn compare(&self, dice: &mut Dice) {
        let zone = dice.one_of(&["UTC", "Europe/Berlin", "Asia/Kolkata"]);
        let step = dice.one_of(&["hour", "day", "week", "month"]);
        let now = self.service.now();
        let begin = self.taps[0].at;
        let longest = if step == "hour" {
            40 * DAY
        } else {
            now - begin
        };
        let length = i64::try_from(dice.below(longest.unsigned_abs())).expect("small") + 1;
        let since = (now - length - i64::try_from(dice.below(20)).expect("small") * DAY).max(begin);
        let until = (since + length).min(now);
        let (filter, chosen): (String, &[usize]) = match dice.below(5) {
            0 => (format!("&tag_id={}", self.tags[0]), &[0]),
            1 => (format!("&tag_id={}", self.tags[2]), &[2]),
            2 => (format!("&group_id={}", self.batch), &[1]),
            3 => (format!("&group_id={}", self.product), &[1, 2]),
            _ => (String::new(), &[0, 1, 2]),
        };
        let path = format!(
            "/reports?step={step}&time_zone={zone}&since={}&until={}{filter}",
            moment(since),
            moment(until)
        );
        let report = self.service.admin_get(&path).await;
        let of = |tap: &&Tap| chosen.contains(&tap.tag);
        let place = |at: i64| bucket(step, local(zone, at.div_euclid(HOUR)));
        let zoned = |at: i64| {
            if step == "hour" {
                at.div_euclid(HOUR)
            } else {
                place(at)
            }
        };
        let first = zoned(since);
        let mut counts = BTreeMap::<i64, u64>::new();
        let mut seen = BTreeMap::<i64, BTreeSet<(usize, usize)>>::new();
        for tap in self.taps.iter().filter(of) {
            *counts.entry(zoned(tap.at)).or_default() += 1;
            seen.entry(zoned(tap.at))
                .or_default()
                .insert((tap.tag, tap.agent));
        }
        let buckets = report["buckets"].as_array().expect("buckets");
        let (mut sum, mut everybody) = (0, BTreeSet::new());
        let mut last = None;
        for found in buckets {
            let at = millis(&found["at"]);
            let number = zoned(at);
            assert!(
                last.is_none_or(|last| number == last + 1),
                "{path}: {found}"
            );
            last = Some(number);
            let taps = counts.get(&number).copied().unwrap_or_default();
            assert_eq!(found["taps"], taps, "{path}: {found}");
            sum += taps;
            let visitors = seen.remove(&number).unwrap_or_default();
            let known = at >= now - 30 * DAY;
            let expected = known.then_some(visitors.len());
            assert_eq!(found["visitors"], json!(expected), "{path}: {found}");
            everybody.extend(visitors);
        }
        // India's days begin half an hour late, so that a moment can be before them.
        let starts = millis(&report["since"]);
        assert!(
            starts <= since + HOUR / 2 && zoned(starts) >= first,
            "{path}"
        );
        assert!(millis(&report["until"]) >= until, "{path}");
        let second = buckets.get(1).map(|bucket| millis(&bucket["at"]));
        assert!(second.is_none_or(|second| second > since), "{path}");
        let last = buckets.last().map(|bucket| millis(&bucket["at"]));
        assert!(last.is_some_and(|last| last < until + HOUR / 2), "{path}");
        assert_eq!(report["totals"]["taps"], sum, "{path}");
        let known = (starts >= now - 30 * DAY).then_some(everybody.len());
        assert_eq!(report["totals"]["visitors"], json!(known), "{path}");
        let within = |from: &Value, to: &Value| {
            let (from, to) = (millis(from), millis(to));
            let taps = self.taps.iter().filter(of);
            taps.filter(move |tap| (from..to).contains(&tap.at))
                .collect::<Vec<_>>()
        };
        let before = within(&report["before_since"], &report["since"]);
        assert_eq!(report["totals"]["before"]["taps"], before.len(), "{path}");
        let inside = within(&report["since"], &report["until"]);
        let verified = inside.iter().filter(|tap| tap.verified).count();
        assert_eq!(report["verdicts"][0]["taps"], verified, "{path}");
        let mut of_week = BTreeMap::<i64, u64>::new();
        for tap in &inside {
            let local = local(zone, tap.at.div_euclid(HOUR)).div_euclid(HOUR);
            *of_week
                .entry((local + 3 * 24).rem_euclid(7 * 24))
                .or_default() += 1;
        }
        let hours = report["hours"].as_array().expect("hours").iter();
        let hours = hours.filter(|hour| hour["taps"] != 0).map(|hour| {
            let number = |name: &str| hour[name].as_i64().expect("a number");
            (
                (number("weekday") - 1) * 24 + number("hour"),
                hour["taps"].as_u64().expect("a number"),
            )
        });
        assert_eq!(hours.collect::<BTreeMap<_, _>>(), of_week, "{path}");
        let listed = report["tags"].as_array().expect("tags").iter();
        let listed: u64 = listed.filter_map(|tag| tag["taps"].as_u64()).sum();
        assert_eq!(listed, sum, "{path}");
    }
}

#[tokio::test]
async fn reports_of_random_taps_are_those_of_an_independent_count() {
    let mut dice = Dice(20_260_101);
    let world = World::new(&mut dice).await;
    for round in 0..length(60, 1_000) {
        world.compare(&mut dice).await;
        if round == 30 {
            fold(&world.service).await;
        }
    }
}
