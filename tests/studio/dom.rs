//! A page as a browser's parser sees it.

use scraper::{ElementRef, Html, Selector};

/// All elements that match `selector`.
pub(super) fn all<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    let selector = Selector::parse(selector).expect("a selector");
    page.select(&selector).collect()
}

/// The only element that matches `selector`.
#[track_caller]
pub(super) fn one<'a>(page: &'a Html, selector: &str) -> ElementRef<'a> {
    let found = all(page, selector);
    assert_eq!(found.len(), 1, "{selector} in {}", page.html());
    found[0]
}

/// The text of all elements that match `selector`, one line each.
pub(super) fn text(page: &Html, selector: &str) -> Vec<String> {
    let texts = all(page, selector).into_iter();
    texts
        .map(|element| element.text().collect::<String>().trim().to_owned())
        .collect()
}

/// The rolling key in a page's first form, as it is sent.
#[track_caller]
pub(super) fn key(page: &Html) -> String {
    let fields = all(page, "[name=rolling_key]");
    let field = fields.first().expect("the page has a form");
    field.attr("value").expect("a key").to_owned()
}
