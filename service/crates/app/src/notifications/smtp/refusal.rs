//! Whether a refusal is about the recipient or the mail for good, or about settings that somebody
//! may put right.

/// Whether a refusal with 5xx of a recipient or a mail stays as it is, whatever happens to the
/// settings of the server and of its domain. Servers refuse with 5xx also a client that may not
/// relay, a sender without SPF, or a quota that is used up.
pub(super) fn is_final(code: u16, answer: &str) -> bool {
    match enhanced(answer) {
        // RFC 3463: 5.1 is about addresses, of which 7 and 8 are those of the sender. 5.2.1 is a
        // mailbox that is switched off, and 5.6 the content.
        Some((1, detail)) => !matches!(detail, 7 | 8),
        Some((2, 1) | (6, _)) => true,
        Some(_) => false,
        None => match code {
            551 | 553 => true,
            550 => {
                let answer = answer.to_ascii_lowercase();
                !answer.contains("relay") && !answer.contains("sender")
            }
            _ => false,
        },
    }
}

/// Subject and detail of the enhanced status code of an answer (RFC 2034): `5.1.1` is `(1, 1)`. It is
/// the first word; qmail writes it at the end, as `(#5.1.1)`.
fn enhanced(answer: &str) -> Option<(u16, u16)> {
    let first = answer.split_whitespace().next();
    let marked = answer.rsplit_once("(#").map(|(_, code)| code);
    let marked = marked.and_then(|code| code.split(')').next());
    [first, marked].into_iter().flatten().find_map(|word| {
        let mut parts = word.trim_start_matches('#').split('.');
        let code = (parts.next()?, parts.next()?, parts.next()?);
        let is_whole = code.0 == "5" && parts.next().is_none();
        let (subject, detail) = (code.1.parse().ok()?, code.2.parse().ok()?);
        is_whole.then_some((subject, detail))
    })
}

#[cfg(test)]
mod tests {
    use super::is_final;

    #[test]
    fn only_a_refusal_of_the_recipient_or_of_the_content_is_final() {
        for (code, answer, expected) in [
            // Postfix
            (
                550,
                "5.1.1 <a@b.example>: Recipient address rejected: User unknown in virtual mailbox table",
                true,
            ),
            (554, "5.7.1 <a@b.example>: Relay access denied", false),
            (
                550,
                "5.1.8 <t@b.example>: Sender address rejected: Domain not found",
                false,
            ),
            (550, "5.1.7 <t@b.example>: Sender address rejected", false),
            (552, "5.3.4 Message size exceeds fixed limit", false),
            // Gmail
            (
                550,
                "5.1.1 The email account that you tried to reach does not exist.",
                true,
            ),
            (
                550,
                "5.2.1 The email account that you tried to reach is inactive.",
                true,
            ),
            (550, "5.4.5 Daily user sending limit exceeded.", false),
            (
                550,
                "5.7.26 This mail has been blocked because the sender is unauthenticated.",
                false,
            ),
            (
                552,
                "5.2.2 The email account that you tried to reach is over quota.",
                false,
            ),
            // Exchange
            (
                550,
                "5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup",
                true,
            ),
            (
                550,
                "5.7.60 SMTP; Client does not have permissions to send as this sender",
                false,
            ),
            (554, "5.6.0 Corrupt message content", true),
            // Exim
            (550, "Unrouteable address", true),
            (550, "relay not permitted", false),
            (550, "Sender verify failed", false),
            // qmail
            (550, "sorry, no mailbox here by that name. (#5.1.1)", true),
            (
                553,
                "sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
                false,
            ),
            // Others, without an enhanced code
            (551, "User not local; please try another path", true),
            (
                553,
                "Requested action not taken: mailbox name not allowed",
                true,
            ),
            (554, "Transaction failed", false),
            (
                552,
                "Requested mail action aborted: exceeded storage allocation",
                false,
            ),
            (550, "", true),
            // A version or an address is no code.
            (554, "5.1.1.1 is listed", false),
            (554, "5.x.1", false),
        ] {
            assert_eq!(is_final(code, answer), expected, "{code} {answer}");
        }
    }
}
