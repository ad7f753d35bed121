//! Chips that each have their own keys: no source fits all URLs, but each URL verifies with one.

use super::sources::KeySource;
use super::{Budget, Format, Proof, Shape, names_several};
use crate::template::Field;

/// The templates with which each URL verifies, with the keys of its own chip. One chip has one set
/// of keys, so URLs with different keys must name different chips.
pub(super) fn proofs_of(
    shape: &Shape,
    sources: &[KeySource],
    budget: &mut Budget<'_>,
) -> Vec<Proof> {
    let names_chips = shape.template.has(Field::Uid) || shape.template.has(Field::Picc);
    if shape.codes.len() < 2 || !names_chips {
        return Vec::new();
    }
    let mut of_urls = Vec::new();
    for code in &shape.codes {
        let alone = Shape {
            template: shape.template.clone(),
            codes: vec![code.clone()],
            unread: shape.unread,
        };
        of_urls.push(super::proofs_of(&alone, sources, budget));
    }
    let (first, others) = of_urls.split_at(1);
    first[0]
        .iter()
        .filter_map(|proof| together(shape, proof, others))
        .collect()
}

/// The proof of all URLs that begins with this proof of the first URL.
fn together(shape: &Shape, first: &Proof, others: &[Vec<Proof>]) -> Option<Proof> {
    let mut all = vec![first];
    for proofs in others {
        let mut proofs = proofs.iter();
        all.push(proofs.find(|proof| proof.format.settings == first.format.settings)?);
    }
    let reads: Vec<_> = all
        .iter()
        .flat_map(|proof| proof.format.reads.clone())
        .collect();
    let sources: Vec<_> = all
        .iter()
        .filter_map(|proof| proof.format.source.clone())
        .collect();
    let is_consistent = (0..reads.len()).all(|one| {
        let mut others = 0..one;
        others.all(|other| reads[one].0 != reads[other].0 || sources[one] == sources[other])
    });
    let is_named = reads.iter().all(|(uid, _)| uid.is_some());
    (is_consistent && is_named && !names_several(shape, &reads)).then(|| Proof {
        data: all.iter().flat_map(|proof| proof.data.clone()).collect(),
        format: Format {
            reads,
            proved_by: all.len(),
            own_sources: sources,
            ..first.format.clone()
        },
    })
}
