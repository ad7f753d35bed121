//! URLs that no chip writes into: only their text names the tag.

use super::{Format, forms, shapes};
use crate::technology::Technology;
use crate::template::{Field, Request, Template, TemplateSettings};

/// The host of Blue Bite's tags; the owners' hosts are below it.
const BLUE_BITE: &str = "mtag.io";

/// The template of the URLs with `{slug}` in the place of the tag's name. One URL does not show
/// which of its texts is the name, unless its host is that of a known service; two URLs that differ
/// in one segment do.
pub(super) fn all(urls: &[&str]) -> Vec<Format> {
    let requests = urls.iter().map(|url| Some((Request::of_url(url)?, *url)));
    let Some(requests) = requests.collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let Some((first, url)) = requests.first() else {
        return Vec::new();
    };
    let (parts, host) = (segments(first.path), first.host.to_ascii_lowercase());
    let is_of_service = host == BLUE_BITE || host.ends_with(&format!(".{BLUE_BITE}"));
    let is_of_service = is_of_service || forms::has_hid_code(url);
    let differs = |at: usize| {
        let mut others = requests.iter().skip(1);
        others.any(|(request, _)| segments(request.path).get(at) != parts.get(at))
    };
    let mut places = (0..parts.len()).filter(|at| differs(*at));
    let place = match (places.next(), places.next()) {
        (Some(place), None) => place,
        (None, None)
            if is_of_service && parts.len() == 1 && !shapes::is_word_of_address(parts[0]) =>
        {
            0
        }
        _ => return Vec::new(),
    };
    let (scheme, _) = url.split_once("://").unwrap_or_default();
    let path = parts.iter().enumerate().map(|(at, segment)| {
        if at == place {
            Field::Slug.to_string()
        } else {
            shapes::escaped(segment)
        }
    });
    let path: Vec<_> = path.collect();
    let host = shapes::escaped(first.host);
    let text = format!("{scheme}://{host}/{}", path.join("/"));
    let settings = TemplateSettings::new(text, Technology::Ntag213);
    let Ok(template) = Template::new(settings) else {
        return Vec::new();
    };
    let names = |(request, _): &(Request<'_>, &str)| {
        let found = template.read(request);
        found.is_some_and(|found| found.slug.is_some())
    };
    if !requests.iter().all(names) {
        return Vec::new();
    }
    vec![Format {
        settings: template.settings().clone(),
        source: None,
        reads: vec![(None, None); urls.len()],
        proved_by: 0,
        own_sources: Vec::new(),
    }]
}

/// The segments of a path that begins with `/`.
fn segments(path: &str) -> Vec<&str> {
    path.split('/').skip(1).collect()
}

/// Whether the format has no placeholder that a chip writes.
pub(super) fn is(format: &Format) -> bool {
    let template = Template::new(format.settings.clone());
    template.is_ok_and(|template| !template.has_code())
}
