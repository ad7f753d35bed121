//! A network between the nodes and their database, which can be cut. Only the database is in a
//! network namespace; a pair of virtual interfaces leads there, and disappears with it. Needs root.

use std::net::Ipv4Addr;
use std::process::Command;

use tapdesk_tests::postgres::Cluster;

/// A kind of network failure.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    /// A blackhole route: requests arrive and are executed, but answers are lost.
    AnswersAreLost,
    /// The far interface is down: nothing arrives.
    LinkIsDown,
}

/// The route to a cluster in a separate network.
pub(super) struct Network {
    process: String,
    here: String,
}

/// Two addresses of the block for measurements between devices (RFC 2544), different for each test
/// process.
fn addresses() -> (Ipv4Addr, Ipv4Addr) {
    let [.., high, low] = std::process::id().to_be_bytes();
    let at = |last| Ipv4Addr::new(198, 18 + (high & 1), low, high & 0xfc | last);
    (at(1), at(2))
}

impl Network {
    /// The address of the cluster, or the reason why this machine cannot create networks.
    pub(super) fn possible() -> Result<Ipv4Addr, &'static str> {
        let tried = Command::new("unshare")
            .args([
                "--net", "ip", "link", "add", "one", "type", "veth", "peer", "name", "other",
            ])
            .output();
        match tried {
            Ok(tried) if tried.status.success() => Ok(addresses().1),
            Ok(_) => Err("only root may make a network, with interfaces of its own"),
            Err(_) => Err("unshare is missing"),
        }
    }

    /// Creates the route to `cluster`.
    pub(super) fn to(cluster: &Cluster) -> Self {
        let (here, there) = addresses();
        let network = Self {
            process: cluster.process().to_string(),
            here: here.to_string(),
        };
        let link = format!("tapdesk{}", std::process::id());
        run(
            "ip",
            &[
                "link",
                "add",
                &link,
                "type",
                "veth",
                "peer",
                "name",
                "nodes",
                "netns",
                &network.process,
            ],
        );
        run("ip", &["addr", "add", &format!("{here}/30"), "dev", &link]);
        run("ip", &["link", "set", &link, "up"]);
        network.there(&["addr", "add", &format!("{there}/30"), "dev", "nodes"]);
        network.there(&["link", "set", "nodes", "up"]);
        network
    }

    /// Breaks the network in this way.
    pub(super) fn fail(&self, how: Failure) {
        match how {
            Failure::AnswersAreLost => self.there(&["route", "add", "blackhole", &self.here]),
            Failure::LinkIsDown => self.there(&["link", "set", "nodes", "down"]),
        }
    }

    /// Ends the failure of this kind.
    pub(super) fn repair(&self, how: Failure) {
        match how {
            Failure::AnswersAreLost => self.there(&["route", "del", "blackhole", &self.here]),
            Failure::LinkIsDown => self.there(&["link", "set", "nodes", "up"]),
        }
    }

    /// Runs `ip` in the database's network.
    fn there(&self, arguments: &[&str]) {
        let enter = ["--target", &self.process, "--net", "ip"];
        run("nsenter", &[&enter, arguments].concat());
    }
}

fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "{program} {arguments:?}"
    );
}
