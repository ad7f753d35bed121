//! Many simultaneous connections, while the service gets no processor time.

use tapdesk_tests::raw::statuses;
use tapdesk_tests::{PATIENCE, RawClient, at_once};

use crate::faults::launch;

/// More than the runtime's own listeners queue. The system resets the others after several attempts
/// to have them accepted.
const VISITORS: usize = 1_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_1000_who_connect_while_the_service_has_no_time_each_is_answered() {
    let service = launch().start().await;
    service.send("STOP");
    let authority = service.authority().to_owned();
    let connecting = at_once(VISITORS, |_| {
        let authority = authority.clone();
        async move {
            let mut visitor = RawClient::connect(&authority).await;
            let request = "GET /health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
            visitor.send(request).await;
            visitor
        }
    });
    let connected = tokio::time::timeout(PATIENCE, connecting).await;
    service.send("CONT");
    let visitors = connected.expect("the system keeps a place for each of them");
    for visitor in visitors {
        assert_eq!(statuses(&visitor.read_to_end().await), [200]);
    }
}
