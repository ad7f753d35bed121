//! URLs that no chip writes into: only their text names the tag.

use std::borrow::Cow;

use super::{Format, forms, shapes};
use crate::technology::Technology;
use crate::template::{Field, Request, Template, TemplateSettings};

/// The host of Blue Bite's tags; the owners' hosts are below it.
const BLUE_BITE: &str = "mtag.io";

/// The template of the URLs with `{slug}` in the place of the tag's name. One URL does not show
/// which of its texts is the name, unless its host is that of a known service; two URLs that differ
/// in one segment, or in one parameter, do. Like a tap, the URLs are read as they are, or else
/// without the texts that apps append.
pub(super) fn all(urls: &[&str]) -> Vec<Format> {
    let settings = [false, true].into_iter().find_map(|forgives| {
        let addresses = urls.iter().map(|url| Address::of(url, forgives));
        named(&addresses.collect::<Option<Vec<_>>>()?)
    });
    let format = settings.map(|settings| Format {
        settings,
        source: None,
        reads: vec![(None, None); urls.len()],
        proved_by: 0,
        own_sources: Vec::new(),
    });
    format.into_iter().collect()
}

/// The parts of a URL that can name a tag.
struct Address<'a> {
    scheme: &'a str,
    host: &'a str,
    path: &'a str,
    query: Cow<'a, str>,
    /// Whether HID's code is in the query.
    has_hid_code: bool,
}

impl<'a> Address<'a> {
    fn of(url: &'a str, forgives: bool) -> Option<Self> {
        let (scheme, _) = url.split_once("://")?;
        let request = Request::of_url(url)?;
        let sent = (request.path, Cow::Borrowed(request.query));
        let meant = request.forgiven().filter(|_| forgives);
        let (path, query) = meant.unwrap_or(sent);
        Some(Self {
            scheme,
            host: request.host,
            path,
            query,
            has_hid_code: forms::has_hid_code(url),
        })
    }

    fn request(&self) -> Request<'_> {
        Request {
            host: self.host,
            path: self.path,
            query: &self.query,
        }
    }
}

/// The template that finds a name in each of the addresses.
fn named(addresses: &[Address<'_>]) -> Option<TemplateSettings> {
    let first = addresses.first()?;
    let (parts, host) = (segments(first.path), first.host.to_ascii_lowercase());
    let is_of_service = host == BLUE_BITE || host.ends_with(&format!(".{BLUE_BITE}"));
    let is_of_service = is_of_service || first.has_hid_code;
    let differs = |at: usize| {
        let mut others = addresses.iter().skip(1);
        others.any(|other| segments(other.path).get(at) != parts.get(at))
    };
    let mut places = (0..parts.len()).filter(|at| differs(*at));
    let path = |slug: Option<usize>| {
        let segments = parts.iter().enumerate().map(|(at, segment)| {
            if Some(at) == slug {
                Field::Slug.to_string()
            } else {
                shapes::escaped(segment)
            }
        });
        segments.collect::<Vec<_>>().join("/")
    };
    let place = match (places.next(), places.next()) {
        (Some(place), None) => path(Some(place)),
        (None, None)
            if is_of_service && parts.len() == 1 && !shapes::is_word_of_address(parts[0]) =>
        {
            path(Some(0))
        }
        (None, None) => format!("{}?{}", path(None), query(addresses)?),
        _ => return None,
    };
    let (scheme, host) = (first.scheme, shapes::escaped(first.host));
    let text = format!("{scheme}://{host}/{place}");
    let template = Template::new(TemplateSettings::new(text, Technology::Ntag213)).ok()?;
    let is_named = |address: &Address<'_>| {
        let found = template.read(&address.request());
        found.is_some_and(|found| found.slug.is_some())
    };
    let are_named = addresses.iter().all(is_named);
    are_named.then(|| template.settings().clone())
}

/// The one parameter in which the addresses differ, with `{slug}` as its value.
fn query(addresses: &[Address<'_>]) -> Option<String> {
    let (first, others) = addresses.split_first()?;
    let differs = |at: usize, parameter: &str| {
        let mut others = others.iter();
        others.any(|other| other.query.split('&').nth(at) != Some(parameter))
    };
    let parameters = first.query.split('&').enumerate();
    let mut differing = parameters.filter(|&(at, parameter)| differs(at, parameter));
    let (Some((_, parameter)), None) = (differing.next(), differing.next()) else {
        return None;
    };
    let (name, _) = parameter.split_once('=')?;
    Some(format!("{}={}", shapes::escaped(name), Field::Slug))
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
