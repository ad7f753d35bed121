//! The words of a search and the values of attributes that a tag must have.
//!
//! A word also finds tags by other data than their texts: by the UID of an inlay, and by the
//! groups above a tag, which also give it values. That data is not copied into the texts, but looked
//! up before the tags are selected.

use std::iter;

use super::in_groups::InGroups;
use super::search::{BETWEEN, VALUE_SEARCHED, searched};
use crate::search;
use crate::shared::Query;
use crate::shared::inlays::UidPart;
use crate::{StorageError, TagFilter};
use domain::id::{GroupId, TagId};
use domain::tag::PropertyKey;

/// Most inlays whose tags are looked up before the tags are selected. If the word is a part of more
/// UIDs, each tag is asked for its inlays instead.
const INLAYS: usize = 1_000;

/// Most tags in groups that are worth sorting. A walk along all tags soon finds some of more.
const IN_GROUPS: u64 = 50_000;

/// The conditions of a filter on the texts of a tag.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    pub(super) words: Vec<Word>,
    pub(super) attributes: Vec<Attribute>,
}

/// A word that must be found in the tag's text or elsewhere.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// The word in the form in which texts are compared.
    pub(super) text: String,
    /// The tags that the word finds without their text. Further data that is searched joins here.
    pub(super) elsewhere: Elsewhere,
    /// The groups whose tags it finds without their text.
    pub(super) groups: InGroups,
}

/// All tags that words and attributes find without the texts of the tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Others {
    pub(super) tags: Vec<TagId>,
    /// Groups with all their tags.
    pub(super) groups: Vec<GroupId>,
}

/// The tags that a word finds without their text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Elsewhere {
    /// The word finds no further tags.
    Nowhere,
    /// Few enough tags to list them.
    Tags(Vec<TagId>),
    /// Those with an inlay whose UID has this part, too many to list.
    Uids(UidPart),
}

/// An attribute that must have one of some values.
#[derive(Clone, Debug)]
pub(super) struct Attribute {
    pub(super) key: PropertyKey,
    pub(super) values: Vec<String>,
    /// The values as they are in the text of a tag. A long one is cut.
    pub(super) texts: Vec<String>,
    /// The groups that give one of the values to tags without a value of their own.
    pub(super) groups: InGroups,
}

impl Wanted {
    /// The conditions of `filter`, with the tags that its words find by UID.
    pub(super) async fn of(db: &mut dyn Query, filter: &TagFilter) -> Result<Self, StorageError> {
        let mut words = Vec::new();
        for text in search::words(filter.q.as_deref().unwrap_or_default()) {
            let elsewhere = match UidPart::of(&text) {
                Some(part) => on_tags(db, part).await?,
                None => Elsewhere::Nowhere,
            };
            let groups = InGroups::named(db, &text).await?;
            words.push(Word {
                text,
                elsewhere,
                groups,
            });
        }
        let mut attributes = Vec::new();
        for (key, values) in &filter.attributes {
            attributes.push(Attribute {
                key: key.clone(),
                values: values.clone(),
                texts: values.iter().map(|value| whole(value)).collect(),
                groups: InGroups::giving(db, key, values).await?,
            });
        }
        Ok(Self { words, attributes })
    }

    /// The query for SQLite's index that finds the tags whose texts have all of it; `None` if the
    /// index knows no such query.
    pub(super) fn pieces(&self) -> Option<String> {
        self.pieces_with(|_| true, |_| true)
    }

    /// The same without the words and values that can be found elsewhere, too: it finds all tags
    /// that match, and more.
    pub(super) fn pieces_of_texts(&self) -> Option<String> {
        self.pieces_with(
            |word| word.elsewhere == Elsewhere::Nowhere && word.groups.is_empty(),
            |attribute| attribute.groups.is_empty(),
        )
    }

    fn pieces_with(
        &self,
        word: impl Fn(&Word) -> bool,
        attribute: impl Fn(&Attribute) -> bool,
    ) -> Option<String> {
        let words = self.words.iter().filter(|one| word(one));
        let words = words.map(|word| vec![word.text.as_str()]);
        let attributes = self.attributes.iter().filter(|one| attribute(one));
        let values = attributes.map(|one| one.texts.iter().map(String::as_str).collect());
        let all: Vec<_> = words.chain(values).collect();
        search::pieces(&all, search::of_text)
    }

    /// All tags that words and attributes find without the texts of the tags; `None` if they are
    /// too many.
    pub(super) fn others(&self) -> Option<Others> {
        let mut others = Others::default();
        for word in &self.words {
            match &word.elsewhere {
                Elsewhere::Nowhere => {}
                Elsewhere::Tags(some) => others.tags.extend(some),
                Elsewhere::Uids(_) => return None,
            }
        }
        let of_words = self.words.iter().map(|word| &word.groups);
        let of_attributes = self.attributes.iter().map(|attribute| &attribute.groups);
        let mut in_groups = 0;
        for groups in of_words.chain(of_attributes) {
            in_groups += groups.tags;
            others.groups.extend(&groups.ids);
        }
        (in_groups <= IN_GROUPS).then_some(others)
    }
}

/// A whole value of an attribute, as it is in the text of a tag. Even a value of one character has
/// a piece of three characters there.
fn whole(value: &str) -> String {
    let searched = searched(value);
    let is_whole = searched.chars().count() < VALUE_SEARCHED;
    let end = is_whole.then_some(BETWEEN);
    iter::once(BETWEEN)
        .chain(searched.chars())
        .chain(end)
        .collect()
}

/// The tags with a part of a UID.
async fn on_tags(db: &mut dyn Query, part: UidPart) -> Result<Elsewhere, StorageError> {
    Ok(match part.tags(db, INLAYS).await? {
        None => Elsewhere::Uids(part),
        Some(tags) if tags.is_empty() => Elsewhere::Nowhere,
        Some(tags) => Elsewhere::Tags(tags),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_between_separators_and_a_long_one_has_no_end() {
        assert_eq!(whole("É"), "\u{1f}e\u{1f}");
        assert_eq!(whole(""), "\u{1f}\u{1f}");
        let long = "x".repeat(VALUE_SEARCHED + 1);
        assert_eq!(whole(&long), format!("\u{1f}{}", &long[1..]));
    }
}
