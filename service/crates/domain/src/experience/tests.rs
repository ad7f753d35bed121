mod rules;

use serde_json::json;

use super::*;

fn studio(blocks: &Value) -> Result<Content, String> {
    let json = json!({"kind": "studio", "blocks": blocks}).to_string();
    Content::from_json(&json).map_err(|error| error.to_string())
}

fn refusal(blocks: &Value) -> String {
    studio(blocks).expect_err(&blocks.to_string())
}

/// `{"type": "form"}` with one field that has these members in addition to a label and a kind.
fn form(field: &Value) -> Value {
    let mut whole = json!({"label": "Name", "kind": "text", "variable": "name"});
    for (name, value) in field.as_object().unwrap() {
        whole[name] = value.clone();
    }
    json!({"type": "form", "fields": [whole], "submit_label": "Send"})
}

fn condition(when: &Value) -> Value {
    json!({"type": "condition", "when": when, "blocks": []})
}

/// A divider inside so many conditions.
fn nested(conditions: usize) -> Value {
    let when = json!({"type": "variable_empty", "variable": "a"});
    (0..conditions).fold(
        json!({"type": "divider"}),
        |inner, _| json!({"type": "condition", "when": when, "blocks": [inner]}),
    )
}

#[test]
fn a_redirect_is_kept_as_it_was_written() {
    let json =
        r#"{"kind":"redirect","target_url":"https://example.com/?sn={{tag:attribute:sku}}"}"#;
    let content = Content::from_json(json).unwrap();
    assert_eq!(content.kind(), ExperienceKind::Redirect);
    assert_eq!(content.to_json(), json);
}

#[test]
fn a_page_of_every_block_is_kept_as_it_was_written() {
    let blocks = json!([
        {"type": "heading", "text": "Hello {{ tag:name }}"},
        {"type": "text", "text": "**Yes**, <b>text</b>"},
        {"type": "button", "label": "Shop", "url": "https://example.com/?a={{tag:id}}"},
        {"type": "button", "label": "Mail", "url": "mailto:info@example.com?subject=Hello%20there"},
        {"type": "button", "label": "Call", "url": "tel:+49-30-1234567"},
        {"type": "button", "label": "Ask", "url": "mailto:info@example.com?subject={{tag:name}}", "look": "outlined"},
        {"type": "video", "label": "How it is made", "url": "https://video.example/{{tag:data:film}}"},
        {"type": "notice", "tone": "good", "title": "Authentic", "text": "Made by us."},
        {"type": "notice", "tone": "caution", "title": "Not verified"},
        {"type": "progress", "label": "Stamps", "value": "{{tag:variable:stamps}}", "of": 10},
        {"type": "image", "image_id": 3, "alt": "A bottle"},
        {"type": "divider"},
        {"type": "table", "rows": [{"key": "Colour", "value": "{{tag:data:colour}}"}]},
        {"type": "form", "fields": [
            {"label": "Name", "kind": "text", "variable": "name", "required": true},
            {"label": "More", "kind": "multiline", "variable": "more", "required": false},
            {"label": "Mail", "kind": "email", "variable": "mail", "required": false},
            {"label": "Age", "kind": "number", "variable": "age", "required": false},
            {"label": "Size", "kind": "choice", "variable": "size", "choices": ["S", "M"], "required": false},
            {"label": "News", "kind": "checkbox", "variable": "news", "required": false},
        ], "submit_label": "Register"},
        {"type": "variable_button", "label": "Mine", "variable": "registered", "value": "true"},
        {"type": "condition", "when": {"type": "variable_equals", "variable": "registered", "value": "true"}, "blocks": [
            {"type": "condition", "when": {"type": "verification", "any_of": ["verified", "not_verified", "not_checked"]}, "blocks": []},
            {"type": "condition", "when": {"type": "variable_differs", "variable": "a", "value": ""}, "blocks": []},
            {"type": "condition", "when": {"type": "variable_empty", "variable": "a"}, "blocks": []},
            {"type": "condition", "when": {"type": "variable_filled", "variable": "a"}, "blocks": []},
            {"type": "condition", "when": {"type": "scan_count", "at_least": 2}, "blocks": []},
            {"type": "condition", "when": {"type": "scan_count", "at_least": 2, "at_most": 2}, "blocks": []},
            {"type": "condition", "when": {"type": "language", "any_of": ["de", "pt-BR", "zh-Hant-TW"]}, "blocks": []},
            {"type": "condition", "when": {"type": "country", "any_of": ["DE", "at"]}, "blocks": []},
            {"type": "condition", "when": {"type": "operating_system", "any_of": ["ios", "android"]}, "blocks": []},
            {"type": "condition", "when": {"type": "time", "from": "2026-01-01T00:00:00Z"}, "blocks": [], "otherwise": [{"type": "divider"}]},
        ]},
    ]);
    let content = studio(&blocks).unwrap();
    assert_eq!(content.kind(), ExperienceKind::Studio);
    let json: Value = serde_json::from_str(&content.to_json()).unwrap();
    assert_eq!(json, json!({"kind": "studio", "blocks": blocks}));
    assert_eq!(Content::from_json(&content.to_json()).unwrap(), content);
}

#[test]
fn a_kind_has_its_own_members() {
    for (content, sentence) in [
        (
            json!({"kind": "redirect"}),
            "A redirect experience needs a target_url.",
        ),
        (
            json!({"kind": "redirect", "target_url": null}),
            "A redirect experience needs a target_url.",
        ),
        (
            json!({"kind": "studio"}),
            "A studio experience needs blocks; an empty list is allowed.",
        ),
        (
            json!({"kind": "redirect", "target_url": "https://example.com", "blocks": []}),
            "A redirect experience has no blocks and no theme, a studio experience no target_url, no rules and no pass_query.",
        ),
        (
            json!({"kind": "studio", "target_url": "https://example.com", "blocks": []}),
            "A redirect experience has no blocks and no theme, a studio experience no target_url, no rules and no pass_query.",
        ),
        (
            json!({"kind": "redirect", "target_url": "javascript:alert(1)"}),
            "A target URL begins with http:// or https:// and the name of a host.",
        ),
    ] {
        let refused = Content::from_json(&content.to_string()).expect_err(&content.to_string());
        assert_eq!(refused.to_string(), sentence);
    }
    for json in [
        "",
        "[]",
        "{}",
        r#"{"kind":"page"}"#,
        r#"{"kind":"studio","blocks":{}}"#,
    ] {
        let refused = Content::from_json(json);
        assert!(matches!(refused, Err(ContentError::Json(_))), "{json}");
    }
    assert!(studio(&json!([])).is_ok());
}

#[test]
fn kinds_have_names() {
    for kind in [ExperienceKind::Redirect, ExperienceKind::Studio] {
        assert_eq!(kind.as_str().parse(), Ok(kind));
        assert_eq!(json!(kind), json!(kind.as_str()));
    }
    assert_eq!("Studio".parse::<ExperienceKind>(), Err(UnknownKind));
}

/// Asserts that each block is refused as the second of a page, with a sentence that begins so.
fn assert_refused(cases: &[(Value, &str)]) {
    for (block, sentence) in cases {
        let refused = refusal(&json!([{"type": "divider"}, block]));
        assert!(refused.starts_with(sentence), "{refused:?} for {block}");
    }
}

#[test]
fn an_error_names_the_block_and_says_what_is_wrong() {
    let long = "x".repeat(501);
    assert_refused(&[
        (json!(7), "Block 2: "),
        (json!({}), "Block 2: missing field `type`"),
        (
            json!({"type": "sound"}),
            "Block 2 (sound): unknown variant `sound`",
        ),
        (
            json!({"type": "heading"}),
            "Block 2 (heading): missing field `text`",
        ),
        (
            json!({"type": "heading", "text": 1}),
            "Block 2 (heading): invalid type: integer `1`",
        ),
        (
            json!({"type": "heading", "text": "", "size": 1}),
            "Block 2 (heading): unknown field `size`",
        ),
        (
            json!({"type": "heading", "text": long}),
            "Block 2 (heading): text can have at most 500 characters",
        ),
        (
            json!({"type": "text", "text": "a\0b"}),
            "Block 2 (text): text can have at most 10000 characters, and no NUL",
        ),
        (
            json!({"type": "button", "label": " ", "url": "tel:1"}),
            "Block 2 (button): label cannot be empty.",
        ),
        (
            json!({"type": "image", "image_id": 1, "alt": long}),
            "Block 2 (image): alt can have at most 500",
        ),
        (
            json!({"type": "image", "image_id": "1"}),
            "Block 2 (image): invalid type: string",
        ),
        (
            json!({"type": "table", "rows": [{"key": "a"}]}),
            "Block 2 (table): missing field `value`",
        ),
        (
            json!({"type": "table", "rows": [{"key": "a", "value": long}]}),
            "Block 2 (table): value can have at most 500",
        ),
        (
            json!({"type": "table", "rows": vec![json!({"key": "", "value": ""}); 101]}),
            "Block 2 (table): It can have at most 100 rows.",
        ),
        (
            json!({"type": "variable_button", "label": "a", "variable": "a b", "value": ""}),
            "Block 2 (variable_button): A key has 1 to 64 characters",
        ),
        (
            json!({"type": "variable_button", "label": "a", "variable": "a", "value": "x".repeat(4097)}),
            "Block 2 (variable_button): A value has at most 4096 bytes.",
        ),
        (
            json!({"type": "divider", "text": ""}),
            "Block 2 (divider): unknown field `text`",
        ),
    ]);
}

#[test]
fn a_form_writes_each_field_to_a_variable_of_its_own() {
    assert_refused(&[
        (
            json!({"type": "form", "fields": [], "submit_label": "a"}),
            "Block 2 (form): fields cannot be empty.",
        ),
        (
            json!({"type": "form", "fields": [], "submit_label": ""}),
            "Block 2 (form): submit_label cannot be empty.",
        ),
        (
            form(&json!({"label": ""})),
            "Block 2 (form): label cannot be empty.",
        ),
        (
            form(&json!({"kind": "password"})),
            "Block 2 (form): unknown variant `password`",
        ),
        (
            form(&json!({"variable": "ä"})),
            "Block 2 (form): A key has 1 to 64 characters",
        ),
        (
            form(&json!({"kind": "choice"})),
            "Block 2 (form): choices cannot be empty.",
        ),
        (
            form(&json!({"kind": "choice", "choices": [""]})),
            "Block 2 (form): A choice cannot be empty.",
        ),
        (
            form(&json!({"kind": "choice", "choices": ["a", "b", "a"]})),
            "Block 2 (form): Two choices of its field name are the same.",
        ),
        (
            form(
                &json!({"kind": "choice", "choices": (0..101).map(|i| i.to_string()).collect::<Vec<_>>()}),
            ),
            "Block 2 (form): It can have at most 100 choices.",
        ),
        (
            form(&json!({"choices": ["a"]})),
            "Block 2 (form): Its field name can have choices only where",
        ),
        (
            json!({"type": "form", "submit_label": "a", "fields": [
                {"label": "a", "kind": "text", "variable": "a"},
                {"label": "b", "kind": "text", "variable": "a"},
            ]}),
            "Block 2 (form): Two of its fields write to the variable a.",
        ),
        (
            json!({"type": "form", "submit_label": "a", "fields": (0..51)
                .map(|i| json!({"label": "a", "kind": "text", "variable": i.to_string()}))
                .collect::<Vec<_>>()}),
            "Block 2 (form): It can have at most 50 fields.",
        ),
    ]);
}

#[test]
fn a_condition_can_be_met() {
    assert_refused(&[
        (
            condition(&json!({"type": "verification", "any_of": []})),
            "Block 2 (condition): Its condition names nothing that could be met.",
        ),
        (
            condition(&json!({"type": "language", "any_of": []})),
            "Block 2 (condition): Its condition names nothing that could be met.",
        ),
        (
            condition(&json!({"type": "scan_count"})),
            "Block 2 (condition): Its condition names nothing that could be met.",
        ),
        (
            condition(&json!({"type": "scan_count", "at_least": 3, "at_most": 2})),
            "Block 2 (condition): Its condition can never be met",
        ),
        (
            condition(&json!({"type": "variable_equals", "variable": "a", "value": "\0"})),
            "Block 2 (condition): A value is text without NUL characters.",
        ),
        (
            condition(&json!({"type": "variable_empty", "variable": ""})),
            "Block 2 (condition): A key has 1 to 64 characters",
        ),
        (
            condition(&json!({"type": "time"})),
            "Block 2 (condition): Its condition names nothing that could be met.",
        ),
        (
            condition(
                &json!({"type": "time", "from": "2026-01-02T00:00:00Z", "until": "2026-01-02T00:00:00Z"}),
            ),
            "Block 2 (condition): Its condition can never be met: it ends before it begins.",
        ),
        (
            condition(&json!({"type": "country", "any_of": ["Germany"]})),
            "Block 2 (condition): It can name at most 300 countries, each two letters such as DE.",
        ),
        (
            condition(&json!({"type": "operating_system", "any_of": []})),
            "Block 2 (condition): Its condition names nothing that could be met.",
        ),
        (
            condition(&json!({"type": "always"})),
            "Block 2 (condition): unknown variant `always`",
        ),
    ]);
}

#[test]
fn an_error_within_conditions_names_the_way_to_the_block() {
    let when = json!({"type": "variable_empty", "variable": "a"});
    let button = json!({"type": "button", "label": "a", "url": "javascript:alert(1)"});
    let inner = json!({"type": "condition", "when": when, "blocks": [{"type": "divider"}, button]});
    let outer = json!({"type": "condition", "when": when, "blocks": [inner]});
    assert_eq!(
        refusal(&json!([outer])),
        "Block 1 (condition): Block 1 (condition): Block 2 (button): \
         A link begins with http://, https://, mailto: or tel:."
    );
}

#[test]
fn languages_are_tags() {
    for language in [
        "",
        "d",
        "german language",
        "de_DE",
        "de-",
        "-de",
        "12",
        "a-very-long-tag",
        "abcdefghi",
    ] {
        let refused = refusal(&json!([condition(
            &json!({"type": "language", "any_of": ["en", language]})
        )]));
        assert!(
            refused.contains("each a tag such as de or pt-BR."),
            "{language}: {refused}"
        );
    }
}

#[test]
fn a_page_has_at_most_200_blocks_4_deep() {
    let divider = json!({"type": "divider"});
    let when = json!({"type": "variable_empty", "variable": "a"});
    let full = |dividers| {
        let within =
            json!({"type": "condition", "when": when, "blocks": vec![divider.clone(); dividers]});
        studio(&json!([within]))
    };
    assert!(full(199).is_ok());
    assert_eq!(full(200).unwrap_err(), ContentError::TooMany.to_string());

    assert!(studio(&json!([nested(3)])).is_ok());
    assert_eq!(
        refusal(&json!([nested(4)])),
        ContentError::TooDeep.to_string()
    );
    // Far deeper than any parser accepts.
    let refused = Content::from_json(&format!(
        r#"{{"kind":"studio","blocks":{}{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    ));
    assert!(matches!(refused, Err(ContentError::Json(_))));
}

#[test]
fn a_button_leads_to_a_web_page_mail_or_telephone() {
    for (url, sentence) in [
        ("", "A link begins with http://, https://, mailto: or tel:."),
        (
            "javascript:alert(1)",
            "A link begins with http://, https://, mailto: or tel:.",
        ),
        (
            "JavaScript://example.com/%0aalert(1)",
            "A link begins with http://, https://, mailto: or tel:.",
        ),
        (
            "data:text/html,x",
            "A link begins with http://, https://, mailto: or tel:.",
        ),
        (
            "//example.com",
            "A link begins with http://, https://, mailto: or tel:.",
        ),
        (
            "sms:+491234",
            "A link begins with http://, https://, mailto: or tel:.",
        ),
        (
            "https://a@b/",
            "A target URL cannot contain a user name or password before the host.",
        ),
        (
            "{{tag:variable:url}}",
            "Only a tag:attribute or tag:data macro can be a whole target URL. A tag:variable cannot: visitors write it.",
        ),
        (
            "mailto:",
            "A mailto: or tel: link has an address without spaces, quotes, brackets or macros. Macros are allowed only after its ?, for example in a subject.",
        ),
        (
            "tel:{{tag:variable:x}}",
            "A mailto: or tel: link has an address without spaces, quotes, brackets or macros. Macros are allowed only after its ?, for example in a subject.",
        ),
        (
            "mailto:a@b?body=\"x\"",
            "A mailto: or tel: link has an address without spaces, quotes, brackets or macros. Macros are allowed only after its ?, for example in a subject.",
        ),
        (
            "tel:+49 30",
            "A mailto: or tel: link has an address without spaces, quotes, brackets or macros. Macros are allowed only after its ?, for example in a subject.",
        ),
        (
            "mailto:a@b\r\nBcc: c",
            "A mailto: or tel: link has an address without spaces, quotes, brackets or macros. Macros are allowed only after its ?, for example in a subject.",
        ),
    ] {
        assert_eq!(Link::parse(url).unwrap_err().to_string(), sentence, "{url}");
    }
    assert!(matches!(Link::parse("{{tag:data:shop}}"), Ok(Link::Web(_))));
    assert!(Link::parse(&format!("tel:{}", "1".repeat(1000))).is_err());
}

#[test]
fn the_schema_of_a_page_ends_though_pages_nest() {
    let mut schemas = Vec::new();
    <ContentFields as ToSchema>::schemas(&mut schemas);
    <Content as ToSchema>::schemas(&mut schemas);
    let names: Vec<_> = schemas.iter().map(|(name, _)| name.as_str()).collect();
    for name in ["Block", "When", "FormField", "TableRow"] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
}

#[test]
fn links_in_a_text_are_checked_when_it_is_saved() {
    assert_refused(&[
        (
            json!({"type": "text", "text": "[a](javascript:alert(1))"}),
            "Block 2 (text): The link to javascript:alert(1) cannot be one: A link begins with",
        ),
        (
            json!({"type": "text", "text": "[a]({{tag:variable:x}})"}),
            "Block 2 (text): The link to {{tag:variable:x}} cannot be one: Only a tag:attribute",
        ),
        (
            json!({"type": "video", "label": "a", "url": "mailto:a@b"}),
            "Block 2 (video): A target URL begins with http:// or https://",
        ),
        (
            json!({"type": "progress", "label": "a", "value": "1", "of": 0}),
            "Block 2 (progress): It can have 1 to 30 marks.",
        ),
    ]);
}
