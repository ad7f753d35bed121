//! Numbers of things in sentences for people.

/// `1 tag`, `2 tags`: a number and the counted thing, for words whose plural ends in `s`.
pub fn counted(number: u64, one: &str) -> String {
    let many = if number == 1 { "" } else { "s" };
    format!("{number} {one}{many}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural_and_none_is() {
        let said = [0, 1, 2].map(|number| counted(number, "row"));
        assert_eq!(said, ["0 rows", "1 row", "2 rows"]);
    }
}
