//! Operations, parameters, bodies and answers of two documents.

use std::collections::HashSet;

use serde_json::Value;

/// Who writes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    /// The service takes it: a change must not refuse a value that it took before.
    Taken,
    /// The service gives it: a change must not give a value that clients do not expect.
    Given,
}

/// Two documents, and the changes between them that break clients.
#[derive(Clone)]
pub(super) struct Comparison<'a> {
    pub(super) old: &'a Value,
    pub(super) new: &'a Value,
    /// The breaks, in words.
    pub(super) found: Vec<String>,
    /// Pairs of schemas that are compared already, by their places in memory. Schemas can contain
    /// themselves.
    pub(super) seen: HashSet<(*const Value, *const Value, Direction)>,
}

/// The members of an object; none of another value.
pub(super) fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// The items of a list; none of another value.
pub(super) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The value itself, or the one that it refers to.
pub(super) fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let mut value = value;
    while let Some(reference) = value["$ref"].as_str() {
        let place = document.pointer(reference.trim_start_matches('#'));
        value = place.expect("every reference leads somewhere");
    }
    value
}

impl<'a> Comparison<'a> {
    pub(super) fn new(old: &'a Value, new: &'a Value) -> Self {
        Self {
            old,
            new,
            found: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// Notes a change that breaks clients.
    pub(super) fn breaks(&mut self, place: &str, why: &str) {
        self.found.push(format!("{place}: {why}"));
    }

    /// Compares all operations and events.
    pub(super) fn documents(&mut self) {
        let (old, new) = (self.old, self.new);
        for (path, item) in members(&old["paths"]) {
            for (method, was) in members(item).filter(|(name, _)| *name != "parameters") {
                let place = format!("{method} {path}");
                match &new["paths"][path][method] {
                    Value::Null => self.breaks(&place, "the operation is gone"),
                    is => self.operation(&place, was, is),
                }
            }
        }
        for (name, item) in members(&old["webhooks"]) {
            match &new["webhooks"][name]["post"] {
                Value::Null => self.breaks(name, "the event is gone"),
                is => self.event(name, &item["post"], is),
            }
        }
    }

    fn operation(&mut self, place: &str, was: &'a Value, is: &'a Value) {
        if was["operationId"] != is["operationId"] {
            self.breaks(place, "generated clients name the operation otherwise");
        }
        let open = items(&is["security"]).next().is_none();
        if was["security"] != is["security"] && !open {
            self.breaks(place, "it needs another scope");
        }
        self.parameters(place, was, is);
        let (before, now) = (&was["requestBody"], &is["requestBody"]);
        if now["required"] == true && before["required"] != true {
            self.breaks(place, "the body is required now");
        }
        self.content(&format!("{place} body"), before, now, Direction::Taken);
        for (status, before) in members(&was["responses"]) {
            let place = format!("{place} {status}");
            match &is["responses"][status] {
                Value::Null => self.breaks(&place, "the answer is gone"),
                now => self.answer(&place, before, now),
            }
        }
    }

    fn parameters(&mut self, place: &str, was: &'a Value, is: &'a Value) {
        let same = |one: &Value, other: &Value| {
            (&one["in"], &one["name"]) == (&other["in"], &other["name"])
        };
        let named = |one: &Value| {
            let name = one["name"].as_str().unwrap_or_default();
            format!("{place} ?{name}")
        };
        for before in items(&was["parameters"]) {
            match items(&is["parameters"]).find(|now| same(before, now)) {
                None => self.breaks(&named(before), "the parameter is gone"),
                Some(now) => self.schema(
                    &named(before),
                    &before["schema"],
                    &now["schema"],
                    Direction::Taken,
                ),
            }
        }
        for now in items(&is["parameters"]).filter(|now| now["required"] == true) {
            let before = items(&was["parameters"]).find(|before| same(before, now));
            if before.is_none_or(|before| before["required"] != true) {
                self.breaks(&named(now), "the parameter is required now");
            }
        }
    }

    fn answer(&mut self, place: &str, was: &'a Value, is: &'a Value) {
        let (was, is) = (resolved(self.old, was), resolved(self.new, is));
        for (name, _) in members(&was["headers"]) {
            if is["headers"][name].is_null() {
                self.breaks(place, &format!("the header {name} is gone"));
            }
        }
        self.content(place, was, is, Direction::Given);
    }

    /// Compares the bodies of all media types.
    fn content(&mut self, place: &str, was: &'a Value, is: &'a Value, direction: Direction) {
        for (media_type, before) in members(&was["content"]) {
            match &is["content"][media_type] {
                Value::Null => self.breaks(place, &format!("{media_type} is gone")),
                now => self.schema(place, &before["schema"], &now["schema"], direction),
            }
        }
    }

    /// Compares an event, which the service sends.
    fn event(&mut self, place: &str, was: &'a Value, is: &'a Value) {
        for before in items(&was["parameters"]) {
            let name = &before["name"];
            if !items(&is["parameters"]).any(|now| now["name"] == *name) {
                self.breaks(place, &format!("the header {name} is gone"));
            }
        }
        let (was, is) = (&was["requestBody"], &is["requestBody"]);
        self.content(place, was, is, Direction::Given);
    }
}
