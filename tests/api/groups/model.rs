//! Random trees, moves, recalls and edits: what the service answers and what taps get is compared
//! with an oracle that walks the tree by itself.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Map, Value, json};
use tapdesk_tests::{TestService, TestTag, length};

/// A small generator (`SplitMix64`), so that a failure is repeated by its seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

/// The values that groups and tags have in the model, as the API sends them.
type Members = Map<String, Value>;

struct Model {
    groups: BTreeMap<i64, Members>,
    tags: BTreeMap<i64, (TestTag, Members)>,
    experiences: Vec<i64>,
}

fn text<'v>(of: &'v Members, member: &str) -> &'v str {
    of.get(member).and_then(Value::as_str).unwrap_or_default()
}

fn id(of: &Members, member: &str) -> Option<i64> {
    of.get(member).and_then(Value::as_i64)
}

impl Model {
    /// A group and the groups above it, nearest first.
    fn chain(&self, group: Option<i64>) -> Vec<(i64, &Members)> {
        let mut chain = Vec::new();
        let mut next = group;
        while let Some(group) = next {
            assert!(chain.len() < 4, "the service let the tree become too deep");
            let members = &self.groups[&group];
            chain.push((group, members));
            next = id(members, "parent_id");
        }
        chain
    }

    fn is_below(&self, group: i64, above: i64) -> bool {
        let mut chain = self.chain(Some(group)).into_iter();
        chain.any(|(one, _)| one == above)
    }

    /// Whether the tree keeps its rules if `group` has these members.
    fn fits(&self, group: Option<i64>, members: &Members) -> bool {
        let parent = id(members, "parent_id");
        if let (Some(group), Some(parent)) = (group, parent)
            && self.is_below(parent, group)
        {
            return false;
        }
        let mut changed = Self {
            groups: self.groups.clone(),
            tags: BTreeMap::new(),
            experiences: Vec::new(),
        };
        changed.groups.insert(group.unwrap_or(0), members.clone());
        changed.groups.keys().all(|one| {
            let mut kinds = Vec::new();
            let mut next = Some(*one);
            while let Some(one) = next {
                let members = &changed.groups[&one];
                kinds.push(text(members, "kind").to_owned());
                next = id(members, "parent_id");
            }
            let product = kinds.iter().position(|kind| kind == "product");
            let batch = kinds.iter().rposition(|kind| kind == "batch");
            let in_batch = product
                .zip(batch)
                .is_some_and(|(product, batch)| product < batch);
            kinds.len() <= 4 && !in_batch
        })
    }

    /// The effective values of a tag, as the API answers them.
    fn effective(&self, tag: i64) -> Value {
        let tag = &self.tags[&tag].1;
        let chain = self.chain(id(tag, "group_id"));
        let text_of = |member: &str, default: &str| {
            let own = text(tag, member);
            let given = chain
                .iter()
                .find(|(_, group)| !text(group, member).is_empty());
            match given {
                _ if !own.is_empty() => json!({"value": own, "group_id": null}),
                Some((group, members)) => {
                    json!({"value": text(members, member), "group_id": group})
                }
                None => json!({"value": default, "group_id": null}),
            }
        };
        let properties = |member: &str| {
            let mut all = Map::new();
            for (group, members) in chain.iter().rev() {
                for (key, value) in members
                    .get(member)
                    .and_then(Value::as_object)
                    .into_iter()
                    .flatten()
                {
                    all.insert(key.clone(), json!({"value": value, "group_id": group}));
                }
            }
            for (key, value) in tag
                .get(member)
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                all.insert(key.clone(), json!({"value": value, "group_id": null}));
            }
            Value::Object(all)
        };
        let experience = if let Some(own) = id(tag, "experience_id") {
            json!({"value": own, "group_id": null})
        } else {
            let given = chain.iter().find_map(|(group, members)| {
                let experience = id(members, "experience_id")?;
                Some(json!({"value": experience, "group_id": group}))
            });
            given.unwrap_or(json!({"value": null, "group_id": null}))
        };
        let recalled: Vec<_> = chain
            .iter()
            .filter(|(_, group)| text(group, "status") == "recalled")
            .collect();
        let with_page = recalled
            .iter()
            .find(|(_, group)| id(group, "recall_experience_id").is_some());
        let recall = match (with_page, recalled.first()) {
            (Some((group, members)), _) => {
                json!({"group_id": group, "experience_id": id(members, "recall_experience_id")})
            }
            (None, Some((group, _))) => json!({"group_id": group, "experience_id": null}),
            (None, None) => Value::Null,
        };
        json!({
            "experience_id": experience,
            "title": text_of("title", ""),
            "description": text_of("description", ""),
            "language_code": text_of("language_code", "en_US"),
            "attributes": properties("attributes"),
            "data": properties("data"),
            "recall": recall,
        })
    }

    /// How many real tags are in a group and below it.
    fn tag_count(&self, group: i64) -> usize {
        let tags = self.tags.values();
        tags.filter(|(_, tag)| id(tag, "group_id").is_some_and(|of| self.is_below(of, group)))
            .count()
    }
}

/// Random values of a group or a tag.
fn values(random: &mut Random, experiences: &[i64]) -> Members {
    let mut members = Members::new();
    let texts = ["", "One", "Two"];
    for _ in 0..=random.below(3) {
        let (member, value) = match random.below(6) {
            0 => ("title", json!(random.one(&texts))),
            1 => ("description", json!(random.one(&texts))),
            2 => ("language_code", json!(random.one(&["de_DE", "fr_FR"]))),
            3 => (
                "attributes",
                random.one(&[json!({}), json!({"a": "1"}), json!({"a": "", "b": "2"})]),
            ),
            4 => (
                "data",
                random.one(&[json!({}), json!({"c": "x"}), json!({"c": "y", "d": "z"})]),
            ),
            _ => {
                let mut some: Vec<_> = experiences.iter().map(|id| json!(id)).collect();
                some.push(Value::Null);
                ("experience_id", random.one(&some))
            }
        };
        members.insert(member.to_owned(), value);
    }
    members
}

/// The members after a merge patch (RFC 7396) of one level, and of the keys in its objects.
fn patched(before: &Members, patch: &Members) -> Members {
    let mut after = before.clone();
    for (name, value) in patch {
        match (after.get_mut(name), value) {
            (_, Value::Null) => {
                after.remove(name);
            }
            (Some(Value::Object(present)), Value::Object(new)) => present.extend(new.clone()),
            _ => {
                after.insert(name.clone(), value.clone());
            }
        }
    }
    after
}

#[expect(clippy::too_many_lines, reason = "a change of each kind")]
async fn step(service: &TestService, model: &mut Model, random: &mut Random) {
    let groups: Vec<i64> = model.groups.keys().copied().collect();
    let tags: Vec<i64> = model.tags.keys().copied().collect();
    let mut some_group: Vec<Option<i64>> = groups.iter().copied().map(Some).collect();
    some_group.push(None);
    match random.below(10) {
        0 | 1 => {
            let mut members = values(random, &model.experiences);
            members.insert(
                "kind".to_owned(),
                json!(random.one(&["folder", "product", "batch"])),
            );
            members.insert("name".to_owned(), json!(format!("Group {}", groups.len())));
            members.insert("parent_id".to_owned(), json!(random.one(&some_group)));
            let answer = service
                .admin(Method::POST, "/groups", Value::Object(members.clone()))
                .await;
            let expected = if model.fits(None, &members) { 201 } else { 409 };
            assert_eq!(answer.status, expected, "{members:?}: {}", answer.body);
            if expected == 201 {
                let created = answer.json()["id"].as_i64().unwrap();
                model.groups.insert(created, members);
            }
        }
        2..=4 if !groups.is_empty() => {
            let group = random.one(&groups);
            let mut patch = match random.below(4) {
                0 => Members::from_iter([("parent_id".to_owned(), json!(random.one(&some_group)))]),
                1 => Members::from_iter([(
                    "status".to_owned(),
                    json!(random.one(&["active", "recalled"])),
                )]),
                2 => Members::from_iter([(
                    "kind".to_owned(),
                    json!(random.one(&["folder", "product", "batch"])),
                )]),
                _ => values(random, &model.experiences),
            };
            if random.below(4) == 0 {
                let recall = random.one(&model.experiences);
                patch.insert(
                    "recall_experience_id".to_owned(),
                    random.one(&[json!(recall), Value::Null]),
                );
            }
            let after = patched(&model.groups[&group], &patch);
            let expected = if model.fits(Some(group), &after) {
                200
            } else {
                409
            };
            let url = format!("/groups/{group}");
            let answer = service
                .admin(Method::PATCH, &url, Value::Object(patch.clone()))
                .await;
            assert_eq!(
                answer.status, expected,
                "{group} {patch:?}: {}",
                answer.body
            );
            if expected == 200 {
                model.groups.insert(group, after);
            }
        }
        5 if !groups.is_empty() => {
            let group = random.one(&groups);
            let holds = |of: &Members, member: &str| id(of, member) == Some(group);
            let is_empty = !model.groups.values().any(|of| holds(of, "parent_id"))
                && !model.tags.values().any(|(_, of)| holds(of, "group_id"));
            let path = format!("/groups/{group}");
            let answer = service.admin(Method::DELETE, &path, Value::Null).await;
            assert_eq!(answer.status, if is_empty { 204 } else { 409 }, "{group}");
            if is_empty {
                model.groups.remove(&group);
            }
        }
        6 | 7 if !tags.is_empty() => {
            let tag = random.one(&tags);
            let mut patch = values(random, &model.experiences);
            if random.below(2) == 0 {
                patch.insert("group_id".to_owned(), json!(random.one(&some_group)));
            }
            service
                .admin_patch(&format!("/tags/{tag}"), Value::Object(patch.clone()))
                .await;
            let (_, members) = model.tags.get_mut(&tag).unwrap();
            *members = patched(members, &patch);
        }
        8 if !tags.is_empty() => {
            let group = random.one(&some_group);
            let some: Vec<i64> = tags
                .iter()
                .copied()
                .filter(|_| random.below(3) == 0)
                .collect();
            let request = json!({"select": {"ids": some}, "action": "group", "group_id": group});
            service
                .admin(Method::POST, "/tags/bulk", request)
                .await
                .expect(200);
            for tag in some {
                let (_, members) = model.tags.get_mut(&tag).unwrap();
                members.insert("group_id".to_owned(), json!(group));
            }
        }
        _ => {
            let mut members = values(random, &model.experiences);
            members.insert("name".to_owned(), json!(format!("Tag {}", tags.len())));
            members.insert("group_id".to_owned(), json!(random.one(&some_group)));
            let tag = service.tag(Value::Object(members.clone())).await;
            model.tags.insert(tag.id, (tag, members));
        }
    }
}

/// Compares a tag with the oracle: what the API says, and what a tap gets from the cache.
async fn compare(service: &TestService, model: &Model, tag: i64) {
    let expected = model.effective(tag);
    let (tapped, members) = &model.tags[&tag];
    let shown = service.admin_get(&format!("/tags/{tag}/effective")).await;
    assert_eq!(shown, expected, "tag {tag}: {members:?}");
    let tap = service.tap(&tapped.path()).await;
    let experience = match &expected["recall"] {
        Value::Null => &expected["experience_id"]["value"],
        recall => &recall["experience_id"],
    };
    if experience.is_null() {
        assert_eq!((tap.status, &tap.rk), (200, &None), "{expected}");
        let words = ["recalled", "zurückgerufen", "rappelé"];
        let recalled = words.iter().any(|word| tap.answer.body.contains(word));
        assert_eq!(
            recalled,
            !expected["recall"].is_null(),
            "{}",
            tap.answer.body
        );
        return;
    }
    let value = |class: &str, key: &str| {
        let value = expected[class][key]["value"].as_str().unwrap_or_default();
        if value.is_empty() {
            "none".to_owned()
        } else {
            value.to_owned()
        }
    };
    let location = format!(
        "https://owner.example/{experience}/{}/{}?rk={}",
        value("attributes", "a"),
        value("data", "c"),
        tap.key()
    );
    assert_eq!(tap.location, Some(location), "{expected}");
    let payload = service.payload(tap.key()).await;
    for member in ["title", "description", "language_code"] {
        assert_eq!(
            payload["metadata"][member], expected[member]["value"],
            "{member}"
        );
    }
}

#[tokio::test]
async fn effective_values_agree_with_an_oracle_over_random_trees() {
    for seed in 0..length(3, 30) {
        let service = TestService::start().await;
        let mut random = Random(seed);
        let mut model = Model {
            groups: BTreeMap::new(),
            tags: BTreeMap::new(),
            experiences: Vec::new(),
        };
        for _ in 0..3 {
            // The first part of the path is the id, which is known once it is created.
            let draft = service.redirect("https://owner.example/").await;
            let target = format!(
                "https://owner.example/{draft}/{{{{tag:attribute:a || \"none\"}}}}/{{{{tag:data:c || \"none\"}}}}"
            );
            let path = format!("/experiences/{draft}?publish=true");
            service
                .admin_patch(&path, json!({"target_url": target}))
                .await;
            model.experiences.push(draft);
        }
        for _ in 0..length(120, 600) {
            step(&service, &mut model, &mut random).await;
            let tags: Vec<i64> = model.tags.keys().copied().collect();
            for _ in 0..2.min(tags.len()) {
                let tag = random.one(&tags);
                compare(&service, &model, tag).await;
            }
        }
        for tag in model.tags.keys() {
            compare(&service, &model, *tag).await;
        }
        for group in model.groups.keys() {
            let shown = service.admin_get(&format!("/groups/{group}")).await;
            assert_eq!(
                shown["tag_count"],
                model.tag_count(*group),
                "seed {seed}: group {group}"
            );
        }
    }
}
