//! Errors of ACME in words, each with a way out.

use instant_acme::{Error, Problem};

/// Prefix of the types of ACME's problems: RFC 8555, section 6.7.
const PREFIX: &str = "urn:ietf:params:acme:error:";
/// Most characters of an authority's own words. They are enough for a URL and a reason.
const DETAIL_MAX: usize = 300;

/// Whether a problem has this type.
pub(super) fn is(problem: &Problem, name: &str) -> bool {
    let kind = problem.r#type.as_deref();
    kind.and_then(|kind| kind.strip_prefix(PREFIX)) == Some(name)
}

/// Why no certificate was obtained, and the way out.
pub(super) fn words(error: &Error) -> String {
    match error {
        Error::Api(problem) => of_problem(problem),
        Error::Timeout(_) => "The authority did not decide in time.".to_owned(),
        Error::Json(_) => {
            "The authority's answer is not of ACME. Is the directory's URL right?".to_owned()
        }
        Error::Other(why) => why.to_string(),
        error => format!("The authority's answer is not usable: {error}."),
    }
}

fn of_problem(problem: &Problem) -> String {
    let way_out = [
        (
            "dns",
            "The name has no address. Set an A or AAAA record that leads to this service.",
        ),
        (
            "connection",
            "The authority could not reach it. Let port 80 of its address lead to this service.",
        ),
        (
            "unauthorized",
            "Another server answered. Let port 80 of its address lead to this service.",
        ),
        (
            "caa",
            "A CAA record of the name allows other authorities only. Add this one.",
        ),
        (
            "rateLimited",
            "The authority takes no more orders for now. Nothing has to be done.",
        ),
        (
            "rejectedIdentifier",
            "The authority gives out no certificate for this name. Remove it from --acme, or use another authority.",
        ),
        (
            "externalAccountRequired",
            "The authority needs the id and the key of an account that you have there. Put both into a file, and name it with --acme-account.",
        ),
        (
            "invalidContact",
            "The authority does not take the mail address. Correct --acme-mail.",
        ),
    ];
    let known = way_out.iter().find(|(name, _)| is(problem, name));
    let known = known.map_or("The authority refused it.", |(_, text)| *text);
    let detail = problem.detail.as_deref().unwrap_or_default();
    // The words come from another server: drop characters that move a cursor.
    let detail = detail.chars().filter(|c| !c.is_control()).take(DETAIL_MAX);
    let detail: String = detail.collect();
    if detail.is_empty() {
        known.to_owned()
    } else {
        format!("{known} (\"{detail}\")")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn problem(kind: &str, detail: &str) -> Error {
        let problem = json!({"type": format!("{PREFIX}{kind}"), "detail": detail, "status": 400});
        Error::Api(serde_json::from_value(problem).unwrap())
    }

    #[test]
    fn an_error_names_the_way_out_and_a_part_of_the_authoritys_words() {
        let said = words(&problem("dns", "NXDOMAIN\r\nlooking up A"));
        assert_eq!(
            said,
            "The name has no address. Set an A or AAAA record that leads to this service. \
             (\"NXDOMAINlooking up A\")"
        );
        let said = words(&problem("other", ""));
        assert_eq!(said, "The authority refused it.");
        let long = words(&problem("caa", &"x".repeat(10_000)));
        assert!(long.len() < 500, "{long}");
    }
}
