//! The common part of all pages, and the plain pages.

use askama::Template;

use super::style;
use domain::experience::{Colour, Theme};
use domain::visitor::is_right_to_left;

/// The frame around the content of a page.
#[derive(Clone, Copy)]
pub struct Shell<'a> {
    /// A language tag such as `pt-BR`.
    pub language: &'a str,
    /// Title of the page.
    pub title: &'a str,
    /// Appearance of the page.
    pub theme: &'a Theme,
    /// The address of the image at its top.
    pub logo: Option<&'a str>,
    /// Marks style and script as its own.
    pub nonce: Option<&'a str>,
}

impl Shell<'_> {
    pub(crate) fn right_to_left(&self) -> bool {
        is_right_to_left(self.language)
    }

    /// The content of its style element.
    pub fn style(&self) -> String {
        style::css(self.theme)
    }

    pub(crate) fn frame(&self) -> (Colour, Colour) {
        style::frame(self.theme)
    }
}

#[derive(Template)]
#[template(path = "page.html")]
struct Plain<'a> {
    shell: Shell<'a>,
    name: Option<&'a str>,
    texts: &'a [&'a str],
}

/// A page with only a title and some texts, below the name of its owner.
pub fn plain(
    shell: Shell<'_>,
    name: Option<&str>,
    texts: &[&str],
) -> Result<String, askama::Error> {
    Plain { shell, name, texts }.render()
}
