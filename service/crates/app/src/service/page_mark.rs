//! The mark by which a page's own script says that its browser comes back.

/// The mark that a page's script appends to the query of the page's own address. A browser that
/// goes back or restores a tab requests that address. Without the mark, the request would look like
/// a new scan of a static URL.
const MARK: &str = "again";

/// A query without the mark, and whether it had it.
pub(crate) fn unmarked(query: &str) -> (&str, bool) {
    let unmarked = match query.strip_suffix(MARK) {
        Some("") => Some(""),
        Some(before) => before.strip_suffix('&'),
        None => None,
    };
    (unmarked.unwrap_or(query), unmarked.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_of_a_page_is_no_part_of_its_url() {
        for (query, unmarked_query, marked) in [
            ("", "", false),
            ("again", "", true),
            ("utm=1", "utm=1", false),
            ("utm=1&again", "utm=1", true),
            ("x=again", "x=again", false),
            ("again&x", "again&x", false),
        ] {
            assert_eq!(unmarked(query), (unmarked_query, marked), "{query}");
        }
    }
}
