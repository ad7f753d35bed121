//! Reports of a long history that is not counted yet, as after an upgrade.

use std::time::Duration;

use rusqlite::Connection;
use tapdesk_service::clock::{Clock as _, Millis, Stopwatch, SystemClock, Timestamp};
use tapdesk_tests::{eventually_within, length};

use super::launch;

/// Taps of the last 30 days, of several countries, systems and languages.
const HISTORY: &str = "WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < ?1)
    INSERT INTO interactions (id, at, tag_id, reason, tech, client, country, returning_month, returning_day,
        key_issued, simulated, experience_id, experience_version, system, language)
    SELECT id, ?2 - id % 720 * 3600000, 1, 'static', iif(id % 3 = 0, 'q', 'u'), randomblob(16),
        substr('DEATCHFRITUSGB', id % 7 * 2 + 1, 2), 0, 0, 0, 0, id % 10 + 1, 1,
        iif(id % 2 = 0, 'ios', 'android'), substr('deenfr', id % 3 * 2 + 1, 2)
    FROM n";

#[tokio::test]
async fn a_long_history_is_counted_behind_and_its_report_stays_quick() {
    let taps: i64 = length(20_000, 1_000_000);
    let service = launch().start().await;
    let launch = service.launch().clone();
    assert!(service.terminate().await.success());
    let file = Connection::open(launch.database()).expect("the database is there");
    let now = SystemClock::start().now().millis();
    file.execute(HISTORY, (taps, now)).expect("a history");
    file.execute("UPDATE folded SET up_to = ?1", [taps])
        .expect("nothing is to be folded");
    let service = launch.start().await;
    let counted = "SELECT seq FROM report_mark";
    let look = || file.query_row(counted, [], |row| row.get::<_, i64>(0));
    // Housekeeping counts some thousand taps at a time, and lets new taps in between.
    let waited = Stopwatch::start();
    eventually_within(
        Duration::from_mins(10),
        "all taps are counted",
        async || (look().expect("a mark") >= taps).then_some(()),
    )
    .await;
    println!("{taps} taps were counted in {:?}", waited.elapsed());
    let since = Timestamp::from_millis(now).minus(Millis::days(31));
    for bucket in ["hour", "day"] {
        let asked = Stopwatch::start();
        let path = format!("/reports?step={bucket}&since={since}");
        let report = service.admin_get(&path).await;
        println!("a report by the {bucket}: {:?}", asked.elapsed());
        assert_eq!(report["complete"], true);
        assert_eq!(report["totals"]["taps"], taps);
        for (list, values) in [("countries", 7), ("systems", 2), ("experiences", 10)] {
            let items = report[list].as_array().expect("a list");
            assert_eq!(items.len(), values, "{list}");
            let sum: i64 = items.iter().filter_map(|item| item["taps"].as_i64()).sum();
            assert_eq!(sum, taps, "{list}");
        }
    }
}
