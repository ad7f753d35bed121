//! The contents of blocks, including those in conditions.

use std::collections::BTreeSet;

use super::Block;
use crate::id::{GroupId, ImageId};
use crate::tag::PropertyKey;

/// The number of blocks, including those in conditions.
pub(in crate::experience) fn count(blocks: &[Block]) -> usize {
    blocks
        .iter()
        .map(|block| 1 + block.inner().map(count).sum::<usize>())
        .sum()
}

/// The nesting depth; 0 for no blocks.
pub(in crate::experience) fn depth(blocks: &[Block]) -> usize {
    let depths = blocks
        .iter()
        .map(|block| 1 + block.inner().map(depth).max().unwrap_or(0));
    depths.max().unwrap_or(0)
}

/// The images in the blocks, including those in conditions.
pub(in crate::experience) fn images(blocks: &[Block]) -> Vec<ImageId> {
    let shown = blocks.iter().flat_map(|block| match block {
        Block::Image { image_id, .. } => vec![*image_id],
        block => block.inner().flat_map(images).collect(),
    });
    shown.collect()
}

/// The languages in their conditions.
pub(in crate::experience) fn languages(blocks: &[Block]) -> Vec<&str> {
    let named = blocks.iter().flat_map(|block| {
        let own: &[String] = match block {
            Block::Condition { when, .. } => when.languages(),
            _ => &[],
        };
        let within = block.inner().flat_map(languages);
        own.iter()
            .map(String::as_str)
            .chain(within)
            .collect::<Vec<_>>()
    });
    named.collect()
}

/// The values that buttons set `variable` to, with their macros.
pub fn button_values<'a>(blocks: &'a [Block], variable: &PropertyKey) -> Vec<&'a str> {
    let values = blocks.iter().flat_map(|block| match block {
        Block::VariableButton {
            variable: set,
            value,
            ..
        } if set == variable => vec![value.as_str()],
        block => {
            let within = block.inner();
            within
                .flat_map(|inner| button_values(inner, variable))
                .collect()
        }
    });
    values.collect()
}

/// The countries in conditions, each with the position of its outermost block on the page, from 1.
pub(in crate::experience) fn countries(blocks: &[Block]) -> Vec<(u32, &[String])> {
    let named = (1..).zip(blocks).flat_map(|(number, block)| {
        let own: &[String] = match block {
            Block::Condition { when, .. } => when.countries(),
            _ => &[],
        };
        let own = (!own.is_empty()).then_some((number, own));
        let within = block.inner().flat_map(countries);
        own.into_iter()
            .chain(within.map(move |(_, countries)| (number, countries)))
            .collect::<Vec<_>>()
    });
    named.collect()
}

/// Collects the groups of visitors in conditions, each once.
pub(in crate::experience) fn split(blocks: &[Block], found: &mut BTreeSet<(u8, u8)>) {
    for block in blocks {
        if let Block::Condition { when, .. } = block {
            found.extend(when.split());
        }
        block.inner().for_each(|inner| split(inner, found));
    }
}

/// Collects the groups of tags in conditions, each once.
pub(in crate::experience) fn tag_groups(blocks: &[Block], found: &mut BTreeSet<GroupId>) {
    for block in blocks {
        if let Block::Condition { when, .. } = block {
            found.extend(when.tag_groups());
        }
        block.inner().for_each(|inner| tag_groups(inner, found));
    }
}

/// The variables that visitors write on the page.
pub(in crate::experience) fn written_variables(blocks: &[Block]) -> BTreeSet<PropertyKey> {
    let written = blocks.iter().flat_map(|block| {
        let mut own = block
            .inner()
            .flat_map(written_variables)
            .collect::<Vec<_>>();
        match block {
            Block::Form { fields, .. } => {
                own.extend(fields.iter().map(|field| field.variable.clone()));
            }
            Block::VariableButton { variable, .. } => own.push(variable.clone()),
            _ => {}
        }
        own
    });
    written.collect()
}
