//! The path of a group in a table: the names of the groups above it and its own, such as
//! `Wines / Grand Cru 2021 / L03`.

use std::fmt;
use std::str::FromStr;

use super::{GroupKind, LEVELS_MAX};

/// The names of a group and of the groups above it, the top first. In the text, ` / ` separates
/// them; a slash in a name is written `\/`, and a backslash `\\`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupPath(Vec<String>);

/// A text that is no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPath {
    /// A name is empty.
    #[error(
        "A path of groups has a name before and after each slash, as in Wines / L03. Write \\/ for a slash in a name."
    )]
    Empty,
    /// It has too many names.
    #[error("A path has at most {LEVELS_MAX} groups.")]
    TooDeep,
}

impl GroupPath {
    /// A path of these names, the top first.
    pub fn of(names: Vec<String>) -> Self {
        Self(names)
    }

    /// The names, the top first.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// The kind of a group that an import creates at this index of the path, under a group of the
    /// kind `above`. A path ends with a product and its batch; folders are above them.
    pub fn kind_at(&self, index: usize, above: Option<GroupKind>) -> GroupKind {
        let behind = self.0.len().saturating_sub(index + 1);
        match (above, behind) {
            (Some(GroupKind::Product | GroupKind::Batch), _) => GroupKind::Batch,
            (_, 0 | 1) => GroupKind::Product,
            _ => GroupKind::Folder,
        }
    }
}

impl FromStr for GroupPath {
    type Err = InvalidPath;

    fn from_str(text: &str) -> Result<Self, InvalidPath> {
        let mut names = vec![String::new()];
        let mut characters = text.chars().peekable();
        while let Some(c) = characters.next() {
            let name = names.last_mut().ok_or(InvalidPath::Empty)?;
            match c {
                '\\' if matches!(characters.peek(), Some('/' | '\\')) => {
                    name.extend(characters.next());
                }
                '/' => names.push(String::new()),
                c => name.push(c),
            }
        }
        let names: Vec<_> = names.iter().map(|name| name.trim().to_owned()).collect();
        if names.iter().any(String::is_empty) {
            return Err(InvalidPath::Empty);
        }
        if names.len() > LEVELS_MAX {
            return Err(InvalidPath::TooDeep);
        }
        Ok(Self(names))
    }
}

impl fmt::Display for GroupPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter();
        let names = names.map(|name| name.trim().replace('\\', "\\\\").replace('/', "\\/"));
        f.write_str(&names.collect::<Vec<_>>().join(" / "))
    }
}

#[cfg(test)]
mod tests {
    use super::GroupKind::{Batch, Folder, Product};
    use super::*;

    #[test]
    fn a_path_is_read_as_it_is_written() {
        for (text, names, written) in [
            ("Wines", &["Wines"][..], "Wines"),
            ("Wines/ L03", &["Wines", "L03"], "Wines / L03"),
            (
                r"A\/B / C\\D / E\F",
                &["A/B", r"C\D", r"E\F"],
                r"A\/B / C\\D / E\\F",
            ),
        ] {
            let path: GroupPath = text.parse().unwrap();
            assert_eq!(path.names(), names, "{text}");
            assert_eq!(path.to_string(), written, "{text}");
            assert_eq!(written.parse(), Ok(path), "{written}");
        }
        for text in ["", " ", "/", "a /", "a // b", "/a"] {
            assert_eq!(text.parse::<GroupPath>(), Err(InvalidPath::Empty), "{text}");
        }
        assert_eq!("a/b/c/d/e".parse::<GroupPath>(), Err(InvalidPath::TooDeep));
    }

    #[test]
    fn a_path_ends_with_a_product_and_its_batch() {
        let kinds = |text: &str, mut above: Option<GroupKind>| {
            let path: GroupPath = text.parse().unwrap();
            let kinds = (0..path.names().len()).map(|index| {
                let kind = path.kind_at(index, above);
                above = Some(kind);
                kind
            });
            kinds.collect::<Vec<_>>()
        };
        assert_eq!(kinds("a", None), [Product]);
        assert_eq!(kinds("a / b", None), [Product, Batch]);
        assert_eq!(kinds("a / b / c", None), [Folder, Product, Batch]);
        assert_eq!(
            kinds("a / b / c / d", None),
            [Folder, Folder, Product, Batch]
        );
        assert_eq!(kinds("a", Some(Folder)), [Product]);
        assert_eq!(kinds("a", Some(Product)), [Batch]);
        assert_eq!(kinds("a / b", Some(Batch)), [Batch, Batch]);
    }
}
