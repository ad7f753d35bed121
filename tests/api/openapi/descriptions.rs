//! Descriptions agree with each other, and with what they describe.

use super::parsed;

/// The parameters of the list repeat the members of the filter, with their descriptions.
#[test]
fn a_search_of_tags_is_described_with_the_same_words_everywhere() {
    let document = parsed();
    let filter = &document["components"]["schemas"]["TagFilter"]["properties"]["q"];
    for path in ["/admin/v1/tags", "/admin/v1/tags/export"] {
        let parameters = &document["paths"][path]["get"]["parameters"];
        let mut parameters = parameters.as_array().expect("parameters").iter();
        let q = parameters.find(|parameter| parameter["name"] == "q");
        let q = q.expect("a search");
        assert!(q["description"].is_string(), "{path}");
        assert_eq!(q["description"], filter["description"], "{path}");
    }
}
