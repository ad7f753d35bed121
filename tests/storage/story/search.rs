//! Searches of tags, compared with an oracle that reads every tag.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use tapdesk_service::id::{InlayId, TagId};
use tapdesk_service::inlay::Uid;
use tapdesk_service::inventory::NewInlay;
use tapdesk_service::storage::{
    InlayEdit, StorageError, TagChange, TagEdit, TagFilter, TagList, TagOrder, TagSelect,
};
use tapdesk_service::tag::{PropertyClass, PropertyKey, Slug, TagFields};
use tapdesk_tests::length;

use crate::storage::backend::{Backend, Database, inlay};

/// Letters as they are written, and as they are compared.
const LETTERS: [(&str, &str); 27] = [
    ("a", "a"),
    ("B", "b"),
    ("é", "e"),
    ("E\u{301}", "e"),
    ("ß", "ss"),
    ("ﬁ", "fi"),
    ("Ø", "o"),
    ("Æ", "ae"),
    ("İ", "i"),
    ("Σ", "σ"),
    ("ς", "σ"),
    ("Ａ", "a"),
    ("日", "日"),
    ("🍾", "🍾"),
    ("%", "%"),
    ("_", "_"),
    ("\\", "\\"),
    ("\"", "\""),
    ("'", "'"),
    ("*", "*"),
    (":", ":"),
    ("0", "0"),
    ("0000", "0000"),
    ("4", "4"),
    ("d", "d"),
    ("-", "-"),
    (" ", " "),
];

/// Numbers that look random, and are the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A text as it is written, and as it is compared.
    fn text(&mut self, most: usize) -> (String, String) {
        let letters = (0..self.below(most + 1)).map(|_| *self.of(&LETTERS));
        letters.unzip()
    }

    fn slug(&mut self, number: usize) -> Slug {
        let beginning = *self.of(&["Aa", "ab-d", "04d0", "dd_", "D00000"]);
        Slug::parse(&format!("{beginning}{number}-slug")).unwrap()
    }

    /// A word: letters, a piece of a tag's text, or a piece of a UID.
    fn word(&mut self, tags: &[Model]) -> String {
        let piece = |chance: &mut Self, text: &str, most: usize| {
            let letters: Vec<char> = text.chars().collect();
            let begin = chance.below(letters.len());
            let end = begin + 1 + chance.below(letters.len() - begin).min(most - 1);
            letters[begin..end].iter().collect::<String>()
        };
        match self.below(4) {
            0 => self.text(4).0,
            1 => {
                let uid = self.of(tags).uids.keys().next().cloned();
                let uid = uid.unwrap_or_else(|| "04000000000000".to_owned());
                let uid = if self.below(3) == 0 {
                    backwards(&uid)
                } else {
                    uid
                };
                let mut word = piece(self, &uid, uid.len());
                if self.below(2) == 0 {
                    word = word.to_lowercase();
                }
                if self.below(3) == 0 && word.len() > 2 {
                    word.insert(2, *self.of(&[':', '-']));
                }
                word
            }
            _ => {
                let texts = self.of(tags).texts();
                let text = self.of(&texts).clone();
                if text.is_empty() {
                    return text;
                }
                piece(self, &text, 8)
            }
        }
    }
}

/// A tag as the oracle knows it; texts are folded.
#[derive(Default)]
struct Model {
    id: Option<TagId>,
    name: String,
    title: String,
    slug: String,
    former: BTreeSet<String>,
    /// Each value as it is written, and folded.
    attributes: BTreeMap<String, (String, String)>,
    /// Each UID, and its inlay.
    uids: BTreeMap<String, InlayId>,
    deleted: bool,
}

impl Model {
    fn texts(&self) -> Vec<String> {
        let own = [&self.name, &self.title, &self.slug].into_iter();
        let own = own.chain(self.attributes.values().map(|(_, folded)| folded));
        let codes = own.clone().flat_map(|text| codes(text));
        let former = self.former.iter().cloned();
        own.cloned().chain(codes).chain(former).collect()
    }

    fn is_found(&self, words: &[String]) -> bool {
        words.iter().all(|word| {
            let digits = word.replace([':', '-', ' '], "").to_uppercase();
            let is_uid = (4..=14).contains(&digits.len())
                && digits.chars().all(|digit| digit.is_ascii_hexdigit());
            let is_whole_bytes = digits.len() >= 8 && digits.len().is_multiple_of(2);
            let is_number = digits.len() < 6 && word.chars().all(|digit| digit.is_ascii_digit());
            let has_uid = |uid: &String| {
                if is_number {
                    return uid.ends_with(&digits);
                }
                uid.contains(&digits) || is_whole_bytes && uid.contains(&backwards(&digits))
            };
            self.texts().iter().any(|text| text.contains(word.as_str()))
                || is_uid && self.uids.keys().any(has_uid)
        })
    }
}

/// Words with a digit, without what is between their letters and digits.
fn codes(text: &str) -> Vec<String> {
    let words = text.split_whitespace();
    let codes = words.map(|word| word.replace(|one: char| !one.is_alphanumeric(), ""));
    let has_digit = |code: &String| code.contains(|one: char| one.is_ascii_digit());
    codes.filter(has_digit).collect()
}

/// Hexadecimal digits in the opposite order of bytes.
fn backwards(digits: &str) -> String {
    let letters: Vec<char> = digits.chars().collect();
    letters.rchunks(2).flatten().collect()
}

/// The words of a query as they are compared, by the table of this test.
fn words(query: &str) -> Vec<String> {
    let mut query = query.to_owned();
    // Longer spellings first: one begins with a letter of its own.
    let mut letters = LETTERS;
    letters.sort_by_key(|(written, _)| std::cmp::Reverse(written.chars().count()));
    for (written, folded) in letters {
        query = query.replace(written, folded);
    }
    let query = query.to_lowercase();
    let mut words: Vec<String> = Vec::new();
    let mut bytes: Vec<&str> = Vec::new();
    // A word that is no byte ends the last run of them.
    for word in query.split_whitespace().chain([""]) {
        if word.len() == 2 && word.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            bytes.push(word);
            continue;
        }
        if (4..=7).contains(&bytes.len()) {
            words.push(bytes.join(" "));
        } else {
            words.extend(bytes.iter().map(|byte| (*byte).to_owned()));
        }
        bytes.clear();
        words.extend((!word.is_empty()).then(|| word.to_owned()));
    }
    words
}

fn edited(change: impl Fn(&mut TagFields) + Send + Sync + 'static) -> TagEdit {
    Box::new(move |mut fields| {
        change(&mut fields);
        Ok(fields)
    })
}

/// Changes one of the tags, and the oracle's.
async fn change<B: Backend>(db: &Database<B>, tag: &mut Model, number: usize, chance: &mut Chance) {
    let id = tag.id.unwrap();
    let key = *chance.of(&["sku", "lot", "Note"]);
    let class = PropertyClass::Attribute;
    match chance.below(7) {
        0 => {
            let (text, folded) = chance.text(6);
            let key = PropertyKey::parse(key).unwrap();
            tag.attributes
                .insert(key.to_string(), (text.clone(), folded));
            db.put_property(id, class, key, text).await.unwrap();
        }
        1 => {
            tag.attributes.remove(key);
            let key = PropertyKey::parse(key).unwrap();
            db.delete_property(id, class, key).await.unwrap();
        }
        2 => {
            let ((name, folded), slug) = (chance.text(8), chance.slug(number));
            tag.former.insert(std::mem::take(&mut tag.slug));
            tag.slug = slug.as_str().to_lowercase();
            tag.former.remove(&tag.slug);
            tag.name = folded;
            let edit = edited(move |fields| {
                fields.name.clone_from(&name);
                fields.slug = slug.clone();
            });
            db.edit_tag(id, edit).await.unwrap();
        }
        3 => {
            let ((title, folded), (text, value)) = (chance.text(8), chance.text(5));
            tag.title = folded;
            tag.attributes = BTreeMap::from([("lot".to_owned(), (text.clone(), value))]);
            let edit = edited(move |fields| {
                fields.title.clone_from(&title);
                let lot = PropertyKey::parse("lot").unwrap();
                fields.attributes.0 = [(lot, text.clone())].into();
            });
            db.edit_tag(id, edit).await.unwrap();
        }
        4 => {
            let stored = db.tags_by_id(vec![id]).await.unwrap();
            if let Some(slug) = stored.first().and_then(|tag| tag.former_slugs.first()) {
                tag.former.remove(&slug.as_str().to_lowercase());
                db.release_slug(id, slug.clone()).await.unwrap().unwrap();
            }
        }
        5 => {
            let last = u8::try_from(number % 256).unwrap();
            let uid = [4, *chance.of(&[0, 0x40, 0xd0]), 0xd4, 0, 0, 0, last];
            let uid = Uid::from_bytes(uid);
            if let Some((_, inlay)) = tag.uids.pop_first() {
                db.delete_inlay(inlay).await.unwrap().unwrap();
            } else if let Ok(inlay) = on_tag(db, id, uid).await {
                tag.uids.insert(uid.to_string(), inlay);
            }
        }
        _ => {
            tag.deleted = !tag.deleted;
            let existence = if tag.deleted {
                TagChange::Delete
            } else {
                TagChange::Restore
            };
            db.change_tags(vec![id], existence).await.unwrap();
        }
    }
}

async fn on_tag<B: Backend>(
    db: &Database<B>,
    tag: TagId,
    uid: Uid,
) -> Result<InlayId, StorageError> {
    let inlay = NewInlay {
        uid,
        ..inlay(1, Some(tag))
    };
    Ok(db.insert_inlay(inlay).await?.id)
}

/// The ids of all tags that a filter selects, in each order and by each way to them.
async fn found<B: Backend>(db: &Database<B>, filter: &TagFilter) -> Vec<TagId> {
    let select = TagSelect::Filter(filter.clone());
    let ids = db.tag_ids(select).await.unwrap();
    let count = db.count_tags(filter.clone()).await.unwrap();
    let estimate = db.estimate_tags(filter.clone()).await.unwrap();
    assert_eq!((count, estimate.tags), (ids.len() as u64, count));
    for order in [
        TagOrder::CreatedDescending,
        TagOrder::Name,
        TagOrder::ScansDescending,
    ] {
        let mut list = TagList {
            filter: filter.clone(),
            order,
            after: None,
            limit: 5,
        };
        let mut listed = Vec::new();
        loop {
            let page = db.tags(list.clone()).await.unwrap();
            listed.extend(page.iter().map(|(tag, _)| tag.id));
            match page.last() {
                Some((_, place)) => list.after = Some(place.clone()),
                None => break,
            }
        }
        listed.sort_unstable();
        assert_eq!(listed, ids, "{filter:?} {order:?}");
    }
    ids
}

pub(crate) async fn a_search_finds_the_tags_that_contain_all_of_its_words<B: Backend>(
    db: Database<B>,
) {
    let mut chance = Chance(41);
    let mut tags = Vec::new();
    for number in 0..30 {
        let slug = chance.slug(number);
        let [(name, of_name), (title, of_title), (sku, of_sku)] =
            [8, 8, 5].map(|most| chance.text(most));
        let fields = json!({
            "slug": slug.as_str(), "name": name, "title": title, "attributes": {"sku": sku.clone()},
            "data": {"note": "ab-d 04d0"}, "variables": {"owner": "fi"},
        });
        tags.push(Model {
            id: Some(db.tag(fields).await),
            name: of_name,
            title: of_title,
            slug: slug.as_str().to_lowercase(),
            attributes: BTreeMap::from([("sku".to_owned(), (sku, of_sku))]),
            ..Model::default()
        });
    }
    for round in 0..length(12, 120) {
        for step in 0..10 {
            let number = 30 + round * 10 + step;
            let which = chance.below(tags.len());
            // A deleted tag can only be restored.
            if tags[which].deleted {
                let id = tags[which].id.unwrap();
                db.change_tags(vec![id], TagChange::Restore).await.unwrap();
                tags[which].deleted = false;
            }
            change(&db, &mut tags[which], number, &mut chance).await;
        }
        for _ in 0..length(4, 20) {
            let key = *chance.of(&["sku", "lot"]);
            let values = (0..=chance.below(2)).map(|_| {
                let of = chance.of(&tags).attributes.get(key).cloned();
                of.unwrap_or_else(|| chance.text(2)).0
            });
            let values: Vec<_> = values.collect();
            let word = chance.word(&tags);
            let filter = TagFilter {
                q: (chance.below(2) == 0).then_some(word.clone()),
                attributes: [(PropertyKey::parse(key).unwrap(), values.clone())].into(),
                ..TagFilter::default()
            };
            let wanted = words(filter.q.as_deref().unwrap_or_default());
            let expected = tags.iter().filter(|tag| {
                let value = tag.attributes.get(key);
                let fits = value.is_some_and(|(value, _)| values.contains(value));
                !tag.deleted && fits && tag.is_found(&wanted)
            });
            let expected: Vec<_> = expected.map(|tag| tag.id.unwrap()).collect();
            assert_eq!(found(&db, &filter).await, expected, "{filter:?}");
        }
        for _ in 0..length(12, 40) {
            let query: Vec<_> = (0..=chance.below(3)).map(|_| chance.word(&tags)).collect();
            let query = query.join(" ");
            let wanted = words(&query);
            for deleted in [false, true] {
                let filter = TagFilter {
                    q: Some(query.clone()),
                    deleted,
                    ..TagFilter::default()
                };
                let expected = tags.iter().filter(|tag| tag.deleted == deleted);
                let expected = expected.filter(|tag| tag.is_found(&wanted));
                let expected: Vec<_> = expected.map(|tag| tag.id.unwrap()).collect();
                assert_eq!(found(&db, &filter).await, expected, "{query:?} {wanted:?}");
            }
        }
    }
}

pub(crate) async fn a_search_for_a_uid_finds_the_tags_of_however_many_inlays<B: Backend>(
    db: Database<B>,
) {
    let mut tags = Vec::new();
    for number in 0..6 {
        tags.push(db.tag(json!({"slug": format!("bottle-{number}")})).await);
    }
    let elsewhere = db.tag(json!({"slug": "x04dd"})).await;
    let rest = db.tag(json!({"slug": "rest"})).await;
    let moved = Uid::from_bytes([4, 0xde, 0, 0, 0, 0, 0]);
    let moved = on_tag(&db, rest, moved).await.unwrap();
    let search = |q: &str| TagFilter {
        q: Some(q.to_owned()),
        ..TagFilter::default()
    };
    let mut with_uids = tags.clone();
    with_uids.push(elsewhere);
    // More than are listed before the tags are selected, and fewer.
    for number in 0..1_100_u16 {
        let [high, low] = number.to_be_bytes();
        let tag = tags[usize::from(number) % tags.len()];
        let uid = Uid::from_bytes([4, 0xdd, 0, 0, 0, high, low]);
        on_tag(&db, tag, uid).await.unwrap();
        if number == 5 || number == 1_099 {
            assert_eq!(found(&db, &search("04dd")).await, with_uids, "{number}");
        }
    }
    assert_eq!(found(&db, &search("04:DD:00")).await, tags);
    assert_eq!(found(&db, &search("04dd bottle-4")).await, [tags[4]]);
    assert_eq!(found(&db, &search("04dd0000000004")).await, [tags[4]]);
    assert_eq!(found(&db, &search("044b")).await, [tags[1_099 % 6]]);
    assert_eq!(found(&db, &search("4b040000 00dd04")).await, []);
    assert_eq!(found(&db, &search("4b0400")).await, []);
    assert_eq!(found(&db, &search("4b0400000 bottle")).await, []);
    assert_eq!(
        found(&db, &search("4B04000000DD04")).await,
        [tags[1_099 % 6]]
    );
    assert_eq!(found(&db, &search("04de")).await, [rest]);
    let edit: InlayEdit = Box::new(move |mut fields| {
        fields.tag_id = Some(elsewhere);
        Ok(fields)
    });
    db.edit_inlay(moved, edit).await.unwrap();
    assert_eq!(found(&db, &search("04de")).await, [elsewhere]);
    let gone = db.change_tags(vec![elsewhere], TagChange::Delete).await;
    gone.unwrap();
    assert!(found(&db, &search("04de")).await.is_empty());
}
