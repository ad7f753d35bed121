//! The settings as options of `serve`: an argument goes before its variable.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::Error;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use tapdesk_service::settings::{Fixed, Overrides, RateLimit, SimulatedTargets};

/// The settings that arguments and the environment fix.
#[derive(Clone, Debug, Default)]
pub(crate) struct FixedSettings(pub Fixed);

/// A setting for each, of the same name.
#[derive(Args)]
struct Options {
    /// The public base of all tag URLs, as printed and encoded: `http` or `https`, without a query. Default: the listener's address and `/t`.
    #[arg(long, env = "TAPDESK_TAG_URL", value_name = "URL")]
    tag_url: Option<String>,

    /// The `app_id` of every payload. Default: `1`.
    #[arg(long, env = "TAPDESK_APP_ID", value_name = "NUMBER")]
    app_id: Option<i64>,

    /// Two-letter code used if a visitor's country is unknown. Default: empty.
    #[arg(long, env = "TAPDESK_DEFAULT_COUNTRY", value_name = "CODE")]
    default_country: Option<String>,

    /// The header in which a trusted proxy names the visitor's country.
    #[arg(long, env = "TAPDESK_COUNTRY_HEADER", value_name = "NAME")]
    country_header: Option<String>,

    /// Addresses or address blocks of the proxies whose forwarding headers are trusted.
    #[arg(
        long,
        env = "TAPDESK_TRUSTED_PROXIES",
        value_name = "NETWORK",
        value_delimiter = ','
    )]
    trusted_proxies: Option<Vec<String>>,

    /// How many months interactions are kept. Default: `13`.
    #[arg(long, env = "TAPDESK_RETENTION_MONTHS", value_name = "MONTHS")]
    retention_months: Option<u32>,

    /// How many months rows of the audit log are kept. Default: `24`.
    #[arg(long, env = "TAPDESK_AUDIT_MONTHS", value_name = "MONTHS")]
    audit_months: Option<u32>,

    /// How many months submissions are kept. Default: `120`.
    #[arg(long, env = "TAPDESK_SUBMISSION_MONTHS", value_name = "MONTHS")]
    submission_months: Option<u32>,

    /// How many mebibytes of room on the disk of a SQLite database raise an alert when there is less: `alert.disk_low`. `0` raises none. Default: `1024`.
    #[arg(long, env = "TAPDESK_DISK_LOW_MEBIBYTES", value_name = "NUMBER")]
    disk_low_mebibytes: Option<u32>,

    /// The redirect target of simulated tags: the built-in stand-in (`stand_in`), or the experience's own (`real`). Default: `stand_in`.
    #[arg(long, env = "TAPDESK_SIMULATED_TARGETS", value_name = "WHERE", value_parser = simulated_targets())]
    simulated_targets: Option<SimulatedTargets>,

    /// How many calls of one client may be refused in a minute before it gets 429, or `off`. Each node counts on its own. Default: `60`.
    #[arg(long, env = "TAPDESK_RATE_LIMIT", value_name = "NUMBER|off")]
    rate_limit: Option<RateLimit>,

    /// More host names and addresses that the admin API answers, beside loopback names, the listener's address and the tag URL's host.
    #[arg(
        long,
        env = "TAPDESK_HOSTS",
        value_name = "NAME",
        value_delimiter = ','
    )]
    hosts: Option<Vec<String>>,
}

fn simulated_targets() -> impl TypedValueParser<Value = SimulatedTargets> {
    PossibleValuesParser::new(["stand_in", "real"]).map(|name| match name.as_str() {
        "real" => SimulatedTargets::Real,
        _ => SimulatedTargets::StandIn,
    })
}

impl From<Options> for Overrides {
    fn from(options: Options) -> Self {
        let Options {
            tag_url,
            app_id,
            default_country,
            country_header,
            trusted_proxies,
            retention_months,
            audit_months,
            submission_months,
            disk_low_mebibytes,
            simulated_targets,
            rate_limit,
            hosts,
        } = options;
        Self {
            audit_months,
            submission_months,
            disk_low_mebibytes,
            tag_url,
            app_id,
            default_country,
            country_header,
            trusted_proxies,
            retention_months,
            simulated_targets,
            rate_limit,
            hosts,
            // Lists of objects, which only the admin API takes.
            app_links: None,
            pages: None,
        }
    }
}

impl Args for FixedSettings {
    fn augment_args(command: Command) -> Command {
        Options::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Options::augment_args_for_update(command)
    }
}

impl FromArgMatches for FixedSettings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut fixed = Self::default();
        fixed.update_from_arg_matches(matches)?;
        Ok(fixed)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        let all = Overrides::from(Options::from_arg_matches(matches)?);
        let from = |source| move |name: &str| matches.value_source(name) == Some(source);
        self.0.argument = all.only(from(ValueSource::CommandLine));
        self.0.environment = all.only(from(ValueSource::EnvVariable));
        Ok(())
    }
}
