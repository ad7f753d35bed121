//! Which tag a slug names: the same one at each form of address, for generated slugs.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use tapdesk_tests::cases;

use super::chips::of;
use super::*;

/// Templates of chips without a code, so that nothing but the slug names the tag.
const TEMPLATES: [&str; 3] = [
    "https://tags.example/{slug}",
    "https://tags.example/b/{slug}",
    "https://tags.example/open/here?s={slug}",
];

/// Addresses of a slug, as chips have them, and as apps and campaigns change them.
const ADDRESSES: [&str; 16] = [
    "/t/{slug}",
    "/t/{slug}/",
    "/t/{slug}&utm_source=poster",
    "/t/{slug}?utm_source=poster",
    "/{slug}",
    "/{slug}/",
    "/{slug}&utm_source=poster",
    "/{slug}?utm_source=poster",
    "/b/{slug}",
    "/b/{slug}/",
    "/b/{slug}&utm_source=poster",
    "/b/{slug}?utm_source=poster",
    "/open/here?s={slug}",
    "/open/here/?s={slug}",
    "/open/here?s={slug}&utm_source=poster",
    "/open/here?utm_source=poster&s={slug}",
];

/// The rule: the tag with exactly this slug, or else the only one whose slug differs in case.
fn named(tags: &[TestTag], text: &str) -> Option<i64> {
    let exact = tags.iter().find(|tag| tag.slug == text);
    let alike = |tag: &&TestTag| tag.slug.eq_ignore_ascii_case(text);
    let mut alike = tags.iter().filter(alike);
    let only = match (alike.next(), alike.next()) {
        (only, None) => only,
        (_, Some(_)) => None,
    };
    exact.or(only).map(|tag| tag.id)
}

/// The tag that an address leads to; `None` for the page of an unknown tag.
async fn found(service: &TestService, path: &str) -> Option<Value> {
    let answer = tap(service, path).await;
    match answer.status {
        302 => Some(service.payload(answer.key()).await["metadata"]["tag_id"].clone()),
        404 => None,
        status => panic!("{path}: {status}"),
    }
}

#[tokio::test]
async fn a_slug_names_the_same_tag_at_each_form_of_address() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..cases(2) {
        // Few letters, so that slugs are often alike, and each one with or without a twin.
        let slugs = vec(("[abXY01._~-]{6,9}", any::<bool>()), 2..4);
        let slugs = slugs.new_tree(&mut runner).unwrap().current();
        let mut texts = BTreeSet::new();
        for (slug, has_twin) in slugs {
            if has_twin {
                texts.insert(slug.to_uppercase());
            }
            texts.insert(slug);
        }
        let service = TestService::start().await;
        for text in TEMPLATES {
            template(&service, &of(Technology::Ntag213, text), &[]).await;
        }
        let mut tags = Vec::new();
        for slug in &texts {
            tags.push(service.redirecting_tag(json!({"slug": slug})).await);
        }
        for slug in &texts {
            for text in [
                slug.clone(),
                slug.to_uppercase(),
                slug.to_lowercase(),
                format!("{slug}x"),
            ] {
                let expected = named(&tags, &text).map(|id| json!(id));
                for address in ADDRESSES {
                    let path = address.replace("{slug}", &text);
                    assert_eq!(
                        found(&service, &path).await,
                        expected,
                        "{path} of {texts:?}"
                    );
                }
            }
        }
    }
}
