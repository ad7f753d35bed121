//! How a process ends under load, and the state that the next process finds.

use tapdesk_service::entropy::{self, SeededEntropy};
use tapdesk_tests::{ServiceProcess, length};

use crate::faults::launch;
use crate::faults::load::Load;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_under_load_it_has_lost_nothing_that_it_acknowledged() {
    let entropy = SeededEntropy::new(25);
    let mut service = launch().start().await;
    let mut load = Load::new(&service, 4).await;
    for _ in 0..length(1, 100) {
        let [random] = entropy::bytes::<1>(&entropy);
        let acknowledged = 50 + usize::from(random);
        let client = service.another();
        let launch = load
            .work_until(&client, acknowledged, || ServiceProcess::kill(service))
            .await;
        service = launch.start().await;
        load.check(&service).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn asked_to_end_under_load_it_drains_commits_and_exits_0() {
    let launch = launch();
    let service = launch.start().await;
    let mut load = Load::new(&service, 4).await;
    let client = service.another();
    let status = load
        .work_until(&client, 100, || ServiceProcess::terminate(service))
        .await;
    assert!(status.success(), "{status}: {}", launch.log());
    let service = launch.start().await;
    load.check(&service).await;
}
