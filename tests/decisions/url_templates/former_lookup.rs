//! A differential test against the former lookup, of which this is an independent implementation:
//! slugs of 6 to 32 lower-case letters, digits and `-`, found exactly; and URL templates of which no
//! URL matched two. Every URL that reached a tag by it still reaches the same tag.

use std::collections::HashMap;

use tapdesk_service::entropy::SeededEntropy;
use tapdesk_tests::length;

use super::*;

/// Templates that could be together: no URL matches two of them.
const TEMPLATES: [(&str, Technology); 9] = [
    (
        "https://one.example/go/{slug}?uid={uid}&ctr={counter}&cmac={mac}",
        Technology::Ntag424Dna,
    ),
    (
        "https://one.example/p-{slug}?uid={uid}&ctr={counter}&cmac={mac}",
        Technology::Ntag424Dna,
    ),
    (
        "https://one.example/a/b/{slug}/{uid}{counter}{mac}",
        Technology::Ntag424Dna,
    ),
    (
        "https://one.example/tag?uid={uid}&ctr={counter}&cmac={mac}",
        Technology::Ntag424Dna,
    ),
    (
        "https://two.example/tag?n=1&uid={uid}&ctr={counter}&cmac={mac}",
        Technology::Ntag424Dna,
    ),
    (
        "https://two.example/tag?n=2&uid={uid}&ctr={counter}&cmac={mac}",
        Technology::Ntag424Dna,
    ),
    (
        "https://two.example/q?t={slug}&uid={uid}&ctr={counter}&cmac={mac}",
        Technology::Ntag424Dna,
    ),
    (
        "https://{slug}.tags.example/v?uid={uid}&ctr={counter}&cmac={mac}",
        Technology::Ntag424Dna,
    ),
    ("https://two.example/s/{slug}", Technology::Ntag213),
];

/// Templates that were refused beside some of these.
const NEWER: [&str; 4] = [
    "https://one.example/{slug}?uid={uid}&ctr={counter}&cmac={mac}",
    "https://one.example/tag?picc_data={picc}&cmac={mac}",
    "https://two.example/TAG?uid={uid}&ctr={counter}&cmac={mac}",
    "https://two.example/tag?picc_data={picc}&cmac={mac}",
];

struct Draw(SeededEntropy);

impl Draw {
    fn below(&self, bound: usize) -> usize {
        usize::from(u16::from_le_bytes(entropy::bytes(&self.0))) % bound
    }

    fn one<T: Copy>(&self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A slug that is like many others.
    fn slug(&self) -> String {
        let part = || -> String { (0..3).map(|_| self.one(&['a', 'b', '1'])).collect() };
        format!("{}-{}", part(), part())
    }
}

/// The knowledge of the former lookup: tags by their slugs, present and former, and by their chips' UIDs.
#[derive(Default)]
struct Former {
    templates: Vec<&'static str>,
    slugs: HashMap<String, usize>,
    uids: HashMap<String, usize>,
}

/// Host, path and query of a request.
#[derive(Clone, Debug)]
struct Sent {
    host: String,
    path: String,
    query: String,
}

impl Former {
    /// The tag that a request reached.
    fn reached(&self, sent: &Sent) -> Option<usize> {
        let host = sent.host.split(':').next()?.to_lowercase();
        let (path, query) = forgiven(&sent.path, &sent.query);
        if let Some(slug) = path.strip_prefix("/t/") {
            return self.slugs.get(slug).copied();
        }
        self.at_template(&host, &sent.path, &sent.query)
            .or_else(|| self.at_template(&host, &path, &query))
    }

    fn at_template(&self, host: &str, path: &str, query: &str) -> Option<usize> {
        let mut templates = self.templates.iter();
        let (slug, uid) = templates.find_map(|form| values(form, host, path, query))?;
        if slug.is_empty() {
            self.uids.get(&uid?).copied()
        } else {
            self.slugs.get(&slug).copied()
        }
    }
}

/// The path without a closing slash, and the query with what follows the first `&` in the path.
fn forgiven(path: &str, query: &str) -> (String, String) {
    let path = path.strip_suffix('/').unwrap_or(path);
    let last = path.rfind('/').unwrap_or(0);
    match path[last..].split_once('&') {
        Some((segment, more)) => (
            format!("{}{segment}", &path[..last]),
            format!("{more}&{query}"),
        ),
        None => (path.to_owned(), query.to_owned()),
    }
}

/// The slug and the UID in a request, if it has the form of the template. Without `{slug}` the slug
/// is empty.
fn values(form: &str, host: &str, path: &str, query: &str) -> Option<(String, Option<String>)> {
    let (_, form) = form.split_once("://")?;
    let (address, parameters) = form.split_once('?').unwrap_or((form, ""));
    let mut forms = address.split('/');
    let mut slug = piece(forms.next()?, host)?;
    let mut segments = path.strip_prefix('/')?.split('/');
    for form in forms {
        let segment = segments.next()?.replace("%61", "a");
        slug += &piece(form, &segment)?;
    }
    if segments.next().is_some() {
        return None;
    }
    let mut uid = None;
    for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
        let (name, form) = parameter.split_once('=')?;
        let sent = query.split('&').filter_map(|sent| sent.split_once('='));
        let sent: Vec<&str> = sent
            .filter_map(|(sent, value)| (sent == name).then_some(value))
            .collect();
        match (form, &*sent) {
            ("{uid}", [value]) => uid = Some(value.to_uppercase()),
            ("{uid}" | "{counter}" | "{mac}", _) => {}
            (form, [value]) => slug += &piece(form, value)?,
            _ => return None,
        }
    }
    Some((slug, uid))
}

/// The slug in a part of a URL, if the part has this form; empty if the form has none.
fn piece(form: &str, text: &str) -> Option<String> {
    let Some((before, behind)) = form.split_once("{slug}") else {
        // UID, counter and MAC in one segment.
        let is_code = form.starts_with("{uid}") && text.len() == 14 + 6 + 16;
        return (is_code || form == text).then(String::new);
    };
    let slug = text.strip_prefix(before)?.strip_suffix(behind)?;
    let is_legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    let is_slug = (6..=32).contains(&slug.len()) && slug.bytes().all(is_legal);
    is_slug.then(|| slug.to_owned())
}

/// A request as phones, people and apps change it.
fn changed(draw: &Draw, mut sent: Sent) -> Sent {
    match draw.below(9) {
        0 => sent.path.push('/'),
        1 => sent.path += "&brid=1",
        2 => sent.query += "&utm_source=x",
        3 => sent.host = sent.host.to_uppercase(),
        4 => sent.host += ":8443",
        5 => {
            let parameters = sent.query.split('&').rev();
            sent.query = parameters.collect::<Vec<_>>().join("&");
        }
        6 => sent.query = sent.query.to_lowercase(),
        7 => sent.path = sent.path.replacen('a', "%61", 1),
        _ => {}
    }
    sent
}

/// A service with tags and templates, all that the former lookup knew of them, and their chips.
struct World {
    service: TestService,
    former: Former,
    tags: Vec<TestTag>,
    /// The chips of each template, one for each tag.
    chips: Vec<Vec<Chip>>,
}

fn target(tag: usize) -> String {
    format!("https://owner.example/tag-{tag}")
}

async fn world(draw: &Draw) -> World {
    let service = TestService::start().await;
    let mut former = Former::default();
    let mut tags = Vec::new();
    for index in 0..5 {
        let slugs: Vec<String> = std::iter::repeat_with(|| draw.slug())
            .filter(|slug| !former.slugs.contains_key(slug))
            .take(2)
            .collect();
        if slugs[0] == slugs[1] {
            continue;
        }
        let slug = json!({"slug": slugs[0]});
        let tag = service.tag_to(&target(index), slug).await;
        for slug in slugs {
            service
                .admin_patch(&tag.admin_path(), json!({"slug": slug}))
                .await;
            former.slugs.insert(slug, index);
        }
        // A tag that could not be before. It is no other tag's, whatever comes first.
        let capitals = tag.slug.to_uppercase();
        if capitals != tag.slug {
            service.redirecting_tag(json!({"slug": capitals})).await;
        }
        tags.push(tag);
    }
    let mut chips = Vec::new();
    for (form, technology) in TEMPLATES {
        if draw.below(4) == 0 {
            continue;
        }
        let settings = TemplateSettings::new(form, technology);
        let id = template(&service, &settings, &[]).await;
        former.templates.push(form);
        let mut of_tags = Vec::new();
        for tag in &tags {
            let keys = match technology {
                Technology::Ntag213 => InlayKeys::None,
                _ => InlayKeys::Aes(Keys {
                    meta: None,
                    file: key("22"),
                }),
            };
            let chip = Chip::new(settings.clone(), keys);
            service.inlay(inlay_json(&chip, id, Some(tag))).await;
            let index = former.slugs[&tag.slug];
            former.uids.insert(chip.uid.to_string(), index);
            of_tags.push(chip);
        }
        chips.push(of_tags);
    }
    for form in NEWER {
        let keys: &[&str] = if form.contains("{picc}") {
            &["11"]
        } else {
            &[]
        };
        let newer = template_json(&settings(form), keys);
        let answer = service.admin(Method::POST, "/url-templates", newer).await;
        assert!(matches!(answer.status, 201 | 409), "{form}: {answer:?}");
    }
    World {
        service,
        former,
        tags,
        chips,
    }
}

impl World {
    /// A request with a tag's slug, or with another one, at any place.
    fn request(&self, draw: &Draw) -> Sent {
        let mut known: Vec<&String> = self.former.slugs.keys().collect();
        known.sort();
        let slug = match draw.below(8) {
            0 => draw.slug(),
            _ => draw.one(&known).clone(),
        };
        if self.chips.is_empty() || draw.below(4) == 0 {
            return Sent {
                host: draw.one(&["127.0.0.1", "one.example"]).to_owned(),
                path: format!("/t/{slug}"),
                query: String::new(),
            };
        }
        let chip = &self.chips[draw.below(self.chips.len())][draw.below(self.tags.len())];
        let url = if draw.below(3) == 0 || !chip.template.has_code() {
            chip.template.address(&slug)
        } else {
            let counter = u32::try_from(1 + draw.below(1_000)).unwrap();
            chip.whole_url_at(counter, Some(&slug))
        };
        let (_, rest) = url.split_once("://").unwrap();
        let (address, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = address.split_once('/').unwrap();
        Sent {
            host: host.to_owned(),
            path: format!("/{path}"),
            query: query.to_owned(),
        }
    }
}

#[tokio::test]
async fn every_url_that_worked_before_still_reaches_the_same_tag() {
    let mut compared = 0;
    for seed in 0..length(2, 40) {
        let draw = Draw(SeededEntropy::new(seed));
        let world = world(&draw).await;
        for _ in 0..200 {
            let sent = changed(&draw, world.request(&draw));
            let Some(tag) = world.former.reached(&sent) else {
                continue;
            };
            let Sent { host, path, query } = &sent;
            let mark = if query.is_empty() { "" } else { "?" };
            let url = format!("{path}{mark}{query}");
            let request = world.service.request(Method::GET, &url);
            let answer = TapResult::of(request.header("host", host).answer().await);
            let place = answer
                .location
                .as_deref()
                .and_then(|to| to.split('?').next());
            assert_eq!(place, Some(&*target(tag)), "{seed}: {sent:?}");
            compared += 1;
        }
    }
    assert!(compared > 100, "only {compared} URLs worked before");
}
