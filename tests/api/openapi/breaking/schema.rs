//! Schemas of two documents: whether each value that clients send is still taken, and each that they
//! get is one that they expect.

use std::collections::BTreeSet;
use std::ptr;

use serde_json::Value;

use super::comparison::{Comparison, Direction, items, resolved};
use super::shape::{LIMITS, Shape, types};

/// The variants of a schema.
#[derive(Default)]
struct Union<'a> {
    /// Whether it can be null.
    null: bool,
    /// The variants that are not null.
    variants: Vec<&'a Value>,
}

impl<'a> Union<'a> {
    fn of(document: &'a Value, schema: &'a Value) -> Self {
        let mut union = Self::default();
        union.add(document, schema);
        union
    }

    fn add(&mut self, document: &'a Value, schema: &'a Value) {
        let schema = resolved(document, schema);
        let choices = items(&schema["oneOf"]).chain(items(&schema["anyOf"]));
        let choices: Vec<&Value> = choices.collect();
        if choices.is_empty() {
            let types = types(schema);
            self.null |= types.contains("null");
            if types.iter().any(|one| *one != "null") || types.is_empty() {
                self.variants.push(schema);
            }
        }
        for choice in choices {
            self.add(document, choice);
        }
    }

    /// The JSON types of the variants; empty if one can have any.
    fn types(&self, document: &'a Value) -> BTreeSet<&'a str> {
        let mut all = BTreeSet::new();
        for variant in &self.variants {
            let types = Shape::of(document, variant).types;
            if types.is_empty() {
                return types;
            }
            all.extend(types);
        }
        all
    }
}

/// Whether each value of the types `narrow` has one of the types `wide`. Without types, a value can
/// have any.
fn covers(wide: &BTreeSet<&str>, narrow: &BTreeSet<&str>) -> bool {
    let covered = |one: &&str| wide.contains(one) || (*one == "integer" && wide.contains("number"));
    wide.is_empty() || (!narrow.is_empty() && narrow.iter().all(covered))
}

impl<'a> Comparison<'a> {
    /// Compares two schemas of one place.
    pub(super) fn schema(
        &mut self,
        place: &str,
        was: &'a Value,
        is: &'a Value,
        direction: Direction,
    ) {
        let (before, now) = (Union::of(self.old, was), Union::of(self.new, is));
        match direction {
            Direction::Taken if before.null && !now.null => {
                self.breaks(place, "null is refused now");
            }
            Direction::Given if now.null && !before.null => {
                self.breaks(place, "it may be null now");
            }
            _ => {}
        }
        if let ([before], [now]) = (&*before.variants, &*now.variants) {
            self.variant(place, before, now, direction);
            return;
        }
        let (old_types, new_types) = (before.types(self.old), now.types(self.new));
        if direction == Direction::Given && !covers(&old_types, &new_types) {
            self.breaks(place, "it may have another type now");
        }
        for variant in before.variants {
            let mut fitting = now.variants.iter();
            if !fitting.any(|now| self.fits(variant, now, direction)) {
                let label = label(variant);
                self.breaks(place, &format!("the variant {label} is gone or changed"));
            }
        }
    }

    /// Whether a variant became another one without a break.
    fn fits(&self, was: &'a Value, is: &'a Value, direction: Direction) -> bool {
        let mut attempt = self.clone();
        attempt.found.clear();
        attempt.variant("", was, is, direction);
        attempt.found.is_empty()
    }

    /// Compares two schemas without variants.
    fn variant(&mut self, place: &str, was: &'a Value, is: &'a Value, direction: Direction) {
        if !self
            .seen
            .insert((ptr::from_ref(was), ptr::from_ref(is), direction))
        {
            return;
        }
        let (before, now) = (Shape::of(self.old, was), Shape::of(self.new, is));
        self.values(place, &before, &now, direction);
        self.properties(place, &before, &now, direction);
        for (name, before, now) in [
            ("[]", before.items, now.items),
            (".*", before.additional, now.additional),
        ] {
            if let (Some(before), Some(now)) = (before, now) {
                self.schema(&format!("{place}{name}"), before, now, direction);
            }
        }
        if direction == Direction::Taken {
            self.limits(place, &before, &now);
        }
    }

    /// Compares types, formats and enumerated values.
    fn values(&mut self, place: &str, was: &Shape<'a>, is: &Shape<'a>, direction: Direction) {
        let (wide, narrow) = match direction {
            Direction::Taken => (is, was),
            Direction::Given => (was, is),
        };
        if !covers(&wide.types, &narrow.types) {
            self.breaks(place, "it has another type");
        }
        let integers = (wide.format, narrow.format) == (Some("int64"), Some("int32"));
        if wide.format.is_some() && wide.format != narrow.format && !integers {
            self.breaks(place, "it has another format");
        }
        match (&was.values, &is.values) {
            (Some(before), Some(now)) => {
                for value in before.iter().filter(|value| !now.contains(value)) {
                    self.breaks(place, &format!("the value {value} is gone"));
                }
            }
            (None, Some(_)) if direction == Direction::Taken => {
                self.breaks(place, "it takes only some values now");
            }
            (Some(_), None) if direction == Direction::Given => {
                self.breaks(place, "it may have any value now");
            }
            _ => {}
        }
    }

    fn properties(&mut self, place: &str, was: &Shape<'a>, is: &Shape<'a>, direction: Direction) {
        for (name, before) in &was.properties {
            let place = format!("{place}.{name}");
            match is.properties.get(name) {
                None => self.breaks(&place, "the member is gone"),
                Some(now) => self.schema(&place, before, now, direction),
            }
        }
        let (added, why) = match direction {
            Direction::Taken => (is.required.difference(&was.required), "it is required now"),
            Direction::Given => (
                was.required.difference(&is.required),
                "it may be missing now",
            ),
        };
        for name in added {
            self.breaks(&format!("{place}.{name}"), why);
        }
        if direction == Direction::Taken && is.closed && !was.closed {
            self.breaks(place, "it takes no other members now");
        }
    }

    /// Compares the limits of a value that the service takes.
    fn limits(&mut self, place: &str, was: &Shape<'a>, is: &Shape<'a>) {
        for (limit, (name, is_upper)) in LIMITS.into_iter().enumerate() {
            let Some(now) = is.limits[limit] else {
                continue;
            };
            let narrower = |before: f64| if is_upper { now < before } else { now > before };
            if was.limits[limit].is_none_or(narrower) {
                self.breaks(place, &format!("{name} is {now} now"));
            }
        }
        if is.pattern.is_some() && is.pattern != was.pattern {
            self.breaks(place, "it has another pattern");
        }
    }
}

/// A name for a variant: the value of its tag, or its type.
fn label(variant: &Value) -> String {
    let properties = variant["properties"].as_object().into_iter().flatten();
    let mut tags = properties.filter_map(|(_, member)| member["enum"].as_array());
    match tags.find(|values| values.len() == 1) {
        Some(values) => values[0].to_string(),
        None => variant["type"].to_string(),
    }
}
