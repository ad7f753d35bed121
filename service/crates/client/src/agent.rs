//! How HTTP requests to a service are made.

use std::time::Duration;

use ureq::Agent;
use ureq::config::ConfigBuilder;
use ureq::typestate::AgentScope;
use url::Url;

use crate::address;

/// The time limits of a request. The body of an answer has none.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The time to connect.
    pub connect: Duration,
    /// The time from a sent request to the beginning of its answer.
    pub answer: Duration,
}

/// Settings for requests to the URL `base`. An answer of any status is no error. Redirects are not
/// followed, because one could send the token to another address. Requests inside this computer use
/// no proxy.
pub fn agent(base: &str, limits: Limits) -> ConfigBuilder<AgentScope> {
    let agent = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_connect(Some(limits.connect))
        .timeout_recv_response(Some(limits.answer));
    match Url::parse(base) {
        Ok(url) if address::is_loopback(&url) => agent.proxy(None),
        _ => agent,
    }
}
