//! Rich text: Markdown with macros, as HTML.
//!
//! Markdown is parsed with marks in place of macros, and values are inserted after parsing. So a
//! value can never begin an emphasis, a link or a heading. HTML in the text is shown as text. An
//! image of another site is replaced by its alternative text, because a page loads nothing from
//! other sites. Line breaks are kept.

use pulldown_cmark::{CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, html};

use super::{Link, LinkError};
use crate::macros::{Scope, Template};

/// The heading levels of a page. It begins at the first level and skips none, because screen reader
/// users navigate by headings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outline {
    last: u8,
}

impl Outline {
    /// The level of the next heading, if the text asks for `wanted`.
    pub fn next(&mut self, wanted: u8) -> u8 {
        self.last = match self.last {
            0 => 1,
            last => wanted.clamp(2, last + 1),
        };
        self.last
    }

    /// Whether the page has no heading yet.
    pub const fn is_empty(self) -> bool {
        self.last == 0
    }
}

/// The links of a text as they are written, each parsed.
pub fn links(markdown: &str) -> impl Iterator<Item = (String, Result<Link, LinkError>)> {
    let template = Template::parse(markdown);
    let marked = template.marked();
    let links: Vec<_> = parser(&marked)
        .filter_map(|event| match event {
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                ..
            }) => {
                let url = written(&template, link_type, &dest_url);
                let link = Link::parse(&url);
                Some((url, link))
            }
            _ => None,
        })
        .collect();
    links.into_iter()
}

/// The text as HTML, with the values of its macros. `rk` is the rolling key, if there is one.
pub fn to_html(
    markdown: &str,
    scope: &dyn Scope,
    rk: Option<&str>,
    outline: &mut Outline,
) -> String {
    let template = Template::parse(markdown);
    let marked = template.marked();
    let mut writer = Writer {
        template: &template,
        scope,
        rk,
        outline,
        headings: Vec::new(),
        links: Vec::new(),
        in_code: false,
        events: Vec::new(),
    };
    for event in parser(&marked) {
        writer.event(event);
    }
    let mut out = String::new();
    html::push_html(&mut out, writer.events.into_iter());
    out
}

fn parser(marked: &str) -> Parser<'_> {
    Parser::new_ext(marked, Options::ENABLE_STRIKETHROUGH)
}

/// A link's URL as the owner wrote it.
fn written(template: &Template, link_type: LinkType, url: &str) -> String {
    let url = template.unmark(url);
    match link_type {
        LinkType::Email => format!("mailto:{url}"),
        _ => url,
    }
}

/// Turns the events of the Markdown parser into output.
struct Writer<'a> {
    template: &'a Template,
    scope: &'a dyn Scope,
    rk: Option<&'a str>,
    outline: &'a mut Outline,
    /// The levels of the headings that are open.
    headings: Vec<HeadingLevel>,
    /// For each open link, whether it has a destination.
    links: Vec<bool>,
    in_code: bool,
    events: Vec<Event<'a>>,
}

impl Writer<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) => {
                let text = self.filled(&text);
                self.events.push(Event::Code(text));
            }
            Event::SoftBreak | Event::HardBreak => self.events.push(Event::HardBreak),
            Event::Rule => self.events.push(Event::Rule),
            // Events of extensions that are off.
            Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let start = match tag {
            Tag::Heading { level, .. } => {
                let wanted = level as u8 + 1;
                let level = self.outline.next(wanted);
                let level = HeadingLevel::try_from(usize::from(level)).unwrap_or(HeadingLevel::H6);
                self.headings.push(level);
                Tag::Heading {
                    level,
                    id: None,
                    classes: Vec::new(),
                    attrs: Vec::new(),
                }
            }
            Tag::Link {
                link_type,
                dest_url,
                title,
                ..
            } => {
                let link = Link::parse(&written(self.template, link_type, &dest_url)).ok();
                let href = link.and_then(|link| link.href(self.scope, self.rk));
                self.links.push(href.is_some());
                let Some(href) = href else { return };
                Tag::Link {
                    link_type: LinkType::Inline,
                    dest_url: href.into(),
                    title: self.filled(&title),
                    id: CowStr::Borrowed(""),
                }
            }
            Tag::CodeBlock(_) => {
                self.in_code = true;
                Tag::CodeBlock(pulldown_cmark::CodeBlockKind::Indented)
            }
            Tag::Paragraph | Tag::HtmlBlock => Tag::Paragraph,
            Tag::BlockQuote(_) => Tag::BlockQuote(None),
            Tag::List(first) => Tag::List(first),
            Tag::Item => Tag::Item,
            Tag::Emphasis => Tag::Emphasis,
            Tag::Strong => Tag::Strong,
            Tag::Strikethrough => Tag::Strikethrough,
            // Images of other sites, and extensions that are off: only their inner text is kept.
            _ => return,
        };
        self.events.push(Event::Start(start));
    }

    fn end(&mut self, tag: TagEnd) {
        let end = match tag {
            TagEnd::Heading(_) => match self.headings.pop() {
                Some(level) => TagEnd::Heading(level),
                None => return,
            },
            TagEnd::Link => match self.links.pop() {
                Some(true) => TagEnd::Link,
                _ => return,
            },
            TagEnd::CodeBlock => {
                self.in_code = false;
                TagEnd::CodeBlock
            }
            TagEnd::Paragraph | TagEnd::HtmlBlock => TagEnd::Paragraph,
            TagEnd::BlockQuote(_) => TagEnd::BlockQuote(None),
            TagEnd::List(_)
            | TagEnd::Item
            | TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough => tag,
            _ => return,
        };
        self.events.push(Event::End(end));
    }

    fn text(&mut self, text: &str) {
        let text = self.template.fill_marks(text, self.scope);
        if self.in_code {
            self.events.push(Event::Text(text.into()));
            return;
        }
        for (number, line) in text.trim_end_matches('\n').lines().enumerate() {
            if number > 0 {
                self.events.push(Event::HardBreak);
            }
            self.events.push(Event::Text(line.to_owned().into()));
        }
    }

    fn filled(&self, text: &str) -> CowStr<'static> {
        self.template.fill_marks(text, self.scope).into()
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::macros::Macro;

    struct Says(&'static str);

    impl Scope for Says {
        fn value(&self, _: &Macro) -> Option<Cow<'_, str>> {
            Some(self.0.into())
        }
    }

    fn html(markdown: &str, value: &'static str) -> String {
        let mut outline = Outline::default();
        to_html(markdown, &Says(value), Some("KEY"), &mut outline)
    }

    #[test]
    fn markdown_becomes_html_and_html_stays_text() {
        for (markdown, expected) in [
            (
                "**a** *b* `c`",
                "<p><strong>a</strong> <em>b</em> <code>c</code></p>\n",
            ),
            ("a\nb", "<p>a<br />\nb</p>\n"),
            ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"),
            ("<b>a</b>", "<p>&lt;b&gt;a&lt;/b&gt;</p>\n"),
            (
                "<script>a</script>",
                "<p>&lt;script&gt;a&lt;/script&gt;</p>\n",
            ),
            (
                "![a bottle](https://evil.example/x.png)",
                "<p>a bottle</p>\n",
            ),
            ("[a](javascript:alert(1))", "<p>a</p>\n"),
            (
                "[a](https://owner.example/?b&c)",
                "<p><a href=\"https://owner.example/?b&amp;c\">a</a></p>\n",
            ),
            (
                "<info@owner.example>",
                "<p><a href=\"mailto:info@owner.example\">info@owner.example</a></p>\n",
            ),
            ("\u{FDD0}0\u{FDD1}", "<p>0</p>\n"),
        ] {
            assert_eq!(html(markdown, "x"), expected, "{markdown}");
        }
    }

    #[test]
    fn values_are_text_whatever_they_are() {
        for (markdown, value, expected) in [
            (
                "{{tag:name}}",
                "**a** [b](https://evil.example)",
                "<p>**a** [b](https://evil.example)</p>\n",
            ),
            ("{{tag:name}}", "# a", "<p># a</p>\n"),
            (
                "**{{tag:name}}**",
                "a** <b>",
                "<p><strong>a** &lt;b&gt;</strong></p>\n",
            ),
            ("{{tag:name}}", "a\nb", "<p>a<br />\nb</p>\n"),
            (
                "{{tag:name}}",
                "<https://evil.example>",
                "<p>&lt;https://evil.example&gt;</p>\n",
            ),
            ("`{{tag:name}}`", "a`b", "<p><code>a`b</code></p>\n"),
            ("\\{{tag:name}}", "a", "<p>{{tag:name}}</p>\n"),
            (
                "[{{tag:name}}](https://owner.example/{{tag:name}}?k={{interaction:rk}} \"{{tag:name}}\")",
                "\"a/b\"",
                "<p><a href=\"https://owner.example/%22a%2Fb%22?k=KEY\" title=\"&quot;a/b&quot;\">\"a/b\"</a></p>\n",
            ),
            (
                "[a]({{tag:variable:x}})",
                "https://evil.example",
                "<p>a</p>\n",
            ),
            (
                "[a]({{tag:data:x}})",
                "https://owner.example/x",
                "<p><a href=\"https://owner.example/x\">a</a></p>\n",
            ),
            ("[a]({{tag:data:x}})", "javascript:alert(1)", "<p>a</p>\n"),
            (
                "[a](mailto:me@owner.example?subject={{tag:name}})",
                "a\r\nBcc: b",
                "<p><a href=\"mailto:me@owner.example?subject=a%20%20Bcc%3A%20b\">a</a></p>\n",
            ),
        ] {
            assert_eq!(html(markdown, value), expected, "{markdown} with {value}");
        }
    }

    #[test]
    fn links_are_told_as_they_are_written() {
        let markdown =
            "[a](https://owner.example/{{ tag:id }}) <b@owner.example> [c](d) [e](\\{{x}})";
        let found: Vec<_> = links(markdown)
            .map(|(url, link)| (url, link.is_ok()))
            .collect();
        let expected = [
            ("https://owner.example/{{ tag:id }}", true),
            ("mailto:b@owner.example", true),
            ("d", false),
            ("\\{{x}}", false),
        ];
        assert_eq!(found, expected.map(|(url, ok)| (url.to_owned(), ok)));
    }

    #[test]
    fn headings_skip_no_level() {
        assert_eq!(
            html("### a\n\n# b\n\n#### c", "x"),
            "<h1>a</h1>\n<h2>b</h2>\n<h3>c</h3>\n"
        );
    }
}
