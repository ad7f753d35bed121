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
use crate::value::values;
use crate::{StorageError, TagFilter};
use domain::id::{GroupId, TagId};
use domain::tag::PropertyKey;

/// Fewest digits of a UID. Fewer are a number rather than a UID, and chips of one manufacturer have
/// the same first digits.
const UID_DIGITS: usize = 4;

/// Most digits of a UID, which has at most ten bytes.
const UID_DIGITS_MAX: usize = 20;

/// Most inlays whose tags are looked up before the tags are selected. If a UID begins with the word
/// in more of them, each tag is asked for its inlays instead.
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
    /// Those with an inlay whose UID is in this range, too many to list.
    Uids(Uids),
}

/// The UIDs that begin with some digits: a first and a last one, both included.
pub(super) type Uids = [Vec<u8>; 2];

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
            let elsewhere = match uids(&text) {
                Some(uids) => on_tags(db, uids).await?,
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
        search::pieces(&words.chain(values).collect::<Vec<_>>())
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

/// The UIDs that begin with a word; `None` if it is no beginning of a UID.
fn uids(word: &str) -> Option<Uids> {
    let digits = word.replace(':', "");
    let is_uid = (UID_DIGITS..=UID_DIGITS_MAX).contains(&digits.len());
    if !is_uid || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut first = digits.clone();
    if first.len() % 2 == 1 {
        first.push('0');
    }
    // Longer than any UID, so that it comes after all that begin with these digits.
    let last = format!("{digits:f<0$}", UID_DIGITS_MAX + 2);
    let bytes = |digits: &str| base16ct::mixed::decode_vec(digits).ok();
    Some([bytes(&first)?, bytes(&last)?])
}

/// The tags with these UIDs.
async fn on_tags(db: &mut dyn Query, uids: Uids) -> Result<Elsewhere, StorageError> {
    // The limit counts inlays without a tag, too, so that few rows are read however many there are.
    let sql = "SELECT i.tag_id, i.deleted_at IS NULL FROM inlays i
         WHERE i.uid BETWEEN ?1 AND ?2 LIMIT ?3";
    let [first, last] = &uids;
    let limit = INLAYS as u64 + 1;
    let found = db.query(sql, &values![first, last, limit]).await?;
    if found.len() > INLAYS {
        return Ok(Elsewhere::Uids(uids));
    }
    let mut tags = Vec::new();
    for mut row in found {
        if let (Some(tag), true) = (row.take::<Option<TagId>>()?, row.take()?) {
            tags.push(tag);
        }
    }
    tags.sort_unstable();
    tags.dedup();
    Ok(if tags.is_empty() {
        Elsewhere::Nowhere
    } else {
        Elsewhere::Tags(tags)
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

    #[test]
    fn a_uid_begins_with_four_hexadecimal_digits_or_more() {
        for word in ["04d", "04d:", "bottle", "04de5g", "04de5f1e:aabbccddeeff0"] {
            assert_eq!(uids(word), None, "{word}");
        }
        let bytes = |first: &[u8]| {
            let mut last = first.to_vec();
            last.resize(11, 0xff);
            Some([first.to_vec(), last])
        };
        assert_eq!(uids("04de"), bytes(&[0x04, 0xde]));
        assert_eq!(uids("04:de:5f:1e"), bytes(&[0x04, 0xde, 0x5f, 0x1e]));
        let [first, last] = uids("04de5").unwrap();
        assert_eq!(first, [0x04, 0xde, 0x50]);
        assert_eq!(last[..3], [0x04, 0xde, 0x5f]);
        let [first, last] = uids("ffffffffffffffffffff").unwrap();
        assert!(first < last);
    }
}
