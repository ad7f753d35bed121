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

#[test]
fn the_description_of_a_format_names_each_format() {
    let document = parsed();
    let paths = document["paths"].as_object().expect("paths");
    let mut seen = 0;
    for (path, item) in paths {
        let parameters = item["get"]["parameters"].as_array().into_iter().flatten();
        for format in parameters.filter(|parameter| parameter["name"] == "format") {
            let description = format["description"].as_str().expect("a description");
            for name in format["schema"]["enum"].as_array().expect("an enum") {
                let name = name.as_str().expect("a name");
                let named = description.contains(&format!("`{name}`"));
                assert!(named, "{path}: {name}: {description}");
            }
            seen += 1;
        }
    }
    assert!(seen >= 8, "{seen}");
}
