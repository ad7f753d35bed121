//! The difference of two contents, line by line, for display.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use similar::{Algorithm, ChangeTag, capture_diff_slices};
use utoipa::ToSchema;

use super::{Block, Content, Rule, Theme, When};
use crate::id::GroupId;

/// A line of a difference: a part of one content, or of both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct DifferenceLine {
    /// Which content it belongs to.
    pub change: LineChange,
    /// Its nesting depth within conditions.
    pub depth: usize,
    /// The kind of part: the type of a block, `theme`, `rule`, `target_url`, or the `otherwise` of
    /// a condition.
    pub what: String,
    /// The text of the part, in one line or several.
    pub text: String,
}

/// Which of two contents a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum LineChange {
    /// The line is in both contents.
    Same,
    /// The line is only in the first content.
    Removed,
    /// The line is only in the second content.
    Added,
}

/// The lines of both contents, in order. `before` is `None` if nothing was published yet.
pub fn difference(before: Option<&Content>, after: &Content) -> Vec<DifferenceLine> {
    let before = before.map(lines).unwrap_or_default();
    let after = lines(after);
    let operations = capture_diff_slices(Algorithm::Patience, &before, &after);
    let changes = operations
        .iter()
        .flat_map(|operation| operation.iter_changes(&before, &after));
    changes
        .map(|change| {
            let Line { depth, what, text } = change.value();
            DifferenceLine {
                change: match change.tag() {
                    ChangeTag::Equal => LineChange::Same,
                    ChangeTag::Delete => LineChange::Removed,
                    ChangeTag::Insert => LineChange::Added,
                },
                depth,
                what,
                text,
            }
        })
        .collect()
}

/// A part of a content. Equal lines are treated as the same part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Line {
    depth: usize,
    what: String,
    text: String,
}

fn line(depth: usize, what: &str, text: impl Into<String>) -> Line {
    Line {
        depth,
        what: what.to_owned(),
        text: text.into(),
    }
}

fn lines(content: &Content) -> Vec<Line> {
    let mut lines = Vec::new();
    match content {
        Content::Redirect {
            target,
            rules,
            pass_query,
        } => {
            for rule in rules {
                let conditions = conditions(rule, &BTreeMap::new());
                let text = format!("{conditions} → {}", rule.target_url.source());
                lines.push(line(0, "rule", text));
            }
            lines.push(line(0, "target_url", target.source()));
            if *pass_query {
                lines.push(line(0, "pass_query", "true"));
            }
        }
        Content::Studio { blocks, theme } => {
            lines.extend(of_theme(theme));
            of_blocks(blocks, 0, &mut lines);
        }
    }
    lines
}

fn of_theme(theme: &Theme) -> impl Iterator<Item = Line> {
    let members = match serde_json::to_value(theme) {
        Ok(Value::Object(members)) => members,
        _ => serde_json::Map::new(),
    };
    members
        .into_iter()
        .map(|(name, value)| line(0, "theme", format!("{name}: {}", plain(&value))))
}

fn of_blocks(blocks: &[Block], depth: usize, lines: &mut Vec<Line>) {
    for block in blocks {
        let Block::Condition {
            when,
            blocks,
            otherwise,
        } = block
        else {
            lines.push(of_block(block, depth));
            continue;
        };
        lines.push(line(depth, "condition", condition(when)));
        of_blocks(blocks, depth + 1, lines);
        if !otherwise.is_empty() {
            lines.push(line(depth, "otherwise", condition(when)));
            of_blocks(otherwise, depth + 1, lines);
        }
    }
}

/// A line for a block, from its type and its members.
fn of_block(block: &Block, depth: usize) -> Line {
    let mut members = match serde_json::to_value(block) {
        Ok(Value::Object(members)) => members,
        _ => serde_json::Map::new(),
    };
    let what = members.shift_remove("type");
    let what = what.as_ref().and_then(Value::as_str).unwrap_or_default();
    let text = match (members.len(), members.get("text")) {
        (1, Some(text)) => plain(text),
        _ => members
            .iter()
            .map(|(name, value)| format!("{name}: {}", plain(value)))
            .collect::<Vec<_>>()
            .join("\n"),
    };
    line(depth, what, text)
}

/// The conditions of a rule in one line: `language: de, country: DE, AT`. `groups` has the names of
/// groups of tags; others are shown by their id.
pub fn conditions(rule: &Rule, groups: &BTreeMap<GroupId, String>) -> String {
    let conditions = rule.when.iter().map(|when| match when {
        When::Group { any_of } => {
            let named = any_of.iter().map(|id| match groups.get(id) {
                Some(name) => name.clone(),
                None => id.to_string(),
            });
            format!("group: {}", named.collect::<Vec<_>>().join(", "))
        }
        when => condition(when),
    });
    conditions.collect::<Vec<_>>().join(", ")
}

/// A condition in one line: `variable_equals: registered, true`.
fn condition(when: &When) -> String {
    let mut members = match serde_json::to_value(when) {
        Ok(Value::Object(members)) => members,
        _ => serde_json::Map::new(),
    };
    let kind = members.shift_remove("type");
    let kind = kind.as_ref().map(plain).unwrap_or_default();
    let values: Vec<_> = members
        .iter()
        .map(|(name, value)| match name.as_str() {
            "variable" | "value" | "any_of" => plain(value),
            name => format!("{name} {}", plain(value)),
        })
        .collect();
    format!("{kind}: {}", values.join(", "))
}

/// A value without JSON's quotes and braces, if it stays readable without them.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(plain).collect();
            items.join(", ")
        }
        Value::Object(members) => {
            let members: Vec<_> = members.values().map(plain).collect();
            members.join(" · ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn content(value: &Value) -> Content {
        Content::from_json(&value.to_string()).unwrap()
    }

    fn marked(before: &Value, after: &Value) -> Vec<String> {
        let lines = difference(Some(&content(before)), &content(after));
        let marked = lines.iter().map(|line| {
            let mark = match line.change {
                LineChange::Same => ' ',
                LineChange::Removed => '-',
                LineChange::Added => '+',
            };
            format!(
                "{mark}{}{} | {}",
                "  ".repeat(line.depth),
                line.what,
                line.text
            )
        });
        marked.collect()
    }

    #[test]
    fn a_page_is_compared_block_by_block() {
        let when = json!({"type": "variable_equals", "variable": "registered", "value": "true"});
        let before = json!({"kind": "studio", "theme": {"accent": "#aa3300"}, "blocks": [
            {"type": "heading", "text": "Hello"},
            {"type": "divider"},
            {"type": "condition", "when": when, "blocks": [{"type": "text", "text": "Yours"}]},
        ]});
        let after = json!({"kind": "studio", "theme": {"accent": "#003300"}, "blocks": [
            {"type": "heading", "text": "Welcome"},
            {"type": "divider"},
            {"type": "condition", "when": when,
             "blocks": [{"type": "text", "text": "Yours"}],
             "otherwise": [{"type": "button", "label": "Shop", "url": "https://owner.example/"}]},
        ]});
        assert_eq!(
            marked(&before, &after),
            [
                "-theme | accent: #aa3300",
                "-heading | Hello",
                "+theme | accent: #003300",
                "+heading | Welcome",
                " divider | ",
                " condition | variable_equals: registered, true",
                "   text | Yours",
                "+otherwise | variable_equals: registered, true",
                "+  button | label: Shop\nurl: https://owner.example/",
            ]
        );
        assert!(
            marked(&before, &before)
                .iter()
                .all(|line| line.starts_with(' '))
        );
    }

    #[test]
    fn a_redirect_is_compared_rule_by_rule() {
        let before = json!({"kind": "redirect", "target_url": "https://a.example/"});
        let after = json!({"kind": "redirect", "target_url": "https://a.example/", "rules": [
            {"when": [{"type": "scan_count", "at_least": 2}, {"type": "country", "any_of": ["DE", "AT"]}],
             "target_url": "https://b.example/"},
        ]});
        assert_eq!(
            marked(&before, &after),
            [
                "+rule | scan_count: at_least 2, country: DE, AT → https://b.example/",
                " target_url | https://a.example/",
            ]
        );
    }
}
