//! Links of a document. Those that leave the folder of the documents lead to files of the
//! repository, which the service does not have: their text stays, with the path of the file.

use std::fmt::Write as _;

use super::embedded::DOCUMENTS;

/// The folder of the documents in the repository.
const FOLDER: &str = "service/docs";
/// The file beside that folder which the service serves, too.
const DESCRIPTION: &str = "service/openapi.json";

/// The place that a link of a document leads to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A path of the service, with its anchor.
    Served(String),
    /// A file of the repository.
    Outside(String),
    /// Another site, or a place in the same document.
    Kept,
}

/// The target of a link in the document at `path`.
pub(super) fn target(path: &str, link: &str) -> Target {
    if link.contains("://") || link.starts_with('#') || link.starts_with("mailto:") {
        return Target::Kept;
    }
    let (file, anchor) = match link.find('#') {
        Some(at) => link.split_at(at),
        None => (link, ""),
    };
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let parts = FOLDER.split('/').chain(folder.split('/'));
    let mut place: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        if part == ".." {
            place.pop();
        } else {
            place.push(part);
        }
    }
    let place = place.join("/");
    let document = place.strip_prefix(FOLDER).and_then(|rest| {
        let path = rest.strip_prefix('/')?;
        DOCUMENTS.iter().find(|document| document.path == path)
    });
    match document {
        Some(document) => Target::Served(format!("/docs/{}{anchor}", document.path)),
        None if place == DESCRIPTION => Target::Served("/openapi.json".to_owned()),
        None => Target::Outside(place),
    }
}

/// A document as it is served: a link out of the folder is its text and the path of the file, and a
/// picture is its description. Relative links to other documents stay as they are.
pub(super) fn served(path: &str, text: &str) -> String {
    let mut served = String::with_capacity(text.len());
    let mut rest = 0;
    for link in links(text) {
        let Target::Outside(file) = target(path, &text[link.target.0..link.target.1]) else {
            continue;
        };
        served.push_str(&text[rest..link.begin]);
        served.push_str(&text[link.text.0..link.text.1]);
        if !link.is_picture {
            // Writing to a text never fails.
            let _ = write!(served, " (`{file}`)");
        }
        rest = link.target.1 + 1;
    }
    served.push_str(&text[rest..]);
    served
}

/// The places of a link in a text, in bytes.
struct Link {
    begin: usize,
    text: (usize, usize),
    /// The target without its brackets.
    target: (usize, usize),
    is_picture: bool,
}

/// The inline links of a text, outside of code. Our documents have no other kind, and no link in a
/// link.
fn links(text: &str) -> Vec<Link> {
    let bytes = text.as_bytes();
    let mut links = Vec::new();
    let mut opened = None;
    let mut code = Code::default();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'`' {
            let end = end_of_ticks(bytes, at);
            code.ticks(end - at);
            at = end;
            continue;
        }
        if !code.is_open() {
            match bytes[at] {
                b'[' => opened = Some(at),
                b']' => {
                    if let Some(link) = opened.take().and_then(|begin| link(text, begin, at)) {
                        at = link.target.1;
                        links.push(link);
                    }
                }
                _ => {}
            }
        }
        at += 1;
    }
    links
}

/// The link whose text is between these brackets; `None` if no target follows.
fn link(text: &str, begin: usize, end: usize) -> Option<Link> {
    let rest = text[end + 1..].strip_prefix('(')?;
    let target = (end + 2, end + 2 + rest.find(')')?);
    let is_picture = text[..begin].ends_with('!');
    Some(Link {
        begin: begin - usize::from(is_picture),
        text: (begin + 1, end),
        target,
        is_picture,
    })
}

/// The end of the backticks that begin here.
fn end_of_ticks(bytes: &[u8], begin: usize) -> usize {
    let ticks = bytes[begin..].iter().take_while(|byte| **byte == b'`');
    begin + ticks.count()
}

/// Whether a place is in code: backticks open it, and as many close it. So do the fences of a
/// block.
#[derive(Default)]
struct Code(Option<usize>);

impl Code {
    fn ticks(&mut self, count: usize) {
        self.0 = match self.0 {
            None => Some(count),
            Some(open) if open == count => None,
            open => open,
        };
    }

    const fn is_open(&self) -> bool {
        self.0.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_served_or_a_file_or_another_site() {
        for (link, expected) in [
            (
                "desktop.md",
                Target::Served("/docs/guides/desktop.md".into()),
            ),
            (
                "../reference/specification.md#7-errors",
                Target::Served("/docs/reference/specification.md#7-errors".into()),
            ),
            ("../../openapi.json", Target::Served("/openapi.json".into())),
            (
                "../../kit/tapdesk.mjs",
                Target::Outside("service/kit/tapdesk.mjs".into()),
            ),
            (
                "../../../ui/README.md",
                Target::Outside("ui/README.md".into()),
            ),
            (
                "nowhere.md",
                Target::Outside("service/docs/guides/nowhere.md".into()),
            ),
            ("#on-your-server", Target::Kept),
            ("https://example.com/a.md", Target::Kept),
        ] {
            assert_eq!(target("guides/page-kit.md", link), expected, "{link}");
        }
        let served = Target::Served("/docs/start/tour.md".into());
        assert_eq!(target("README.md", "start/tour.md"), served);
    }

    #[test]
    fn a_link_out_of_the_folder_is_its_text_and_the_path_of_the_file() {
        let text = "See [the\nkit](../../kit) and [`listen`](api/local.md), `[no](../../link)`.\n\
            ![The list](../../../ui/x.webp)\n[a] b [c](https://example.com)\n\
            ```js\nlist[0](../../call);\n```\n[d](../../../d.md#e)\n";
        assert_eq!(
            served("guides/page-kit.md", text),
            "See the\nkit (`service/kit`) and [`listen`](api/local.md), `[no](../../link)`.\n\
             The list\n[a] b [c](https://example.com)\n\
             ```js\nlist[0](../../call);\n```\nd (`d.md`)\n"
        );
    }
}
