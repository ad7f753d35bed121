//! The rules of the tree: how deep it is, and which kinds of groups hold which.

use super::GroupKind;

/// Most levels of the tree, tags not counted: a folder, a product, a batch, and one more.
pub const LEVELS_MAX: usize = 4;

/// The groups below a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Below {
    /// How many levels they have.
    pub levels: usize,
    /// Whether one of them is a product.
    pub has_product: bool,
}

/// Why a group cannot be at a place in the tree. Each is a sentence for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPlace {
    /// The group would be above itself.
    #[error("A group cannot be in itself, or in a group that it holds.")]
    Circle,
    /// The tree would have too many levels.
    #[error("Groups can be at most {LEVELS_MAX} levels deep.")]
    TooDeep,
    /// A product would be in a batch.
    #[error(
        "A batch holds no product. Move the product out of it, or give one of them another kind."
    )]
    ProductInBatch,
}

impl InvalidPlace {
    /// Checks a group of the kind `kind` with the groups `below` it, under groups of the kinds
    /// `above`.
    ///
    /// # Errors
    ///
    /// The first rule that it breaks.
    pub fn check(kind: GroupKind, above: &[GroupKind], below: Below) -> Result<(), Self> {
        if above.len() + 1 + below.levels > LEVELS_MAX {
            return Err(Self::TooDeep);
        }
        let in_batch = above.contains(&GroupKind::Batch);
        let holds_or_is = below.has_product || kind == GroupKind::Product;
        if (in_batch && holds_or_is) || (kind == GroupKind::Batch && below.has_product) {
            return Err(Self::ProductInBatch);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::GroupKind::{Batch, Folder, Product};
    use super::*;

    #[test]
    fn the_tree_has_four_levels_and_a_batch_holds_no_product() {
        let below = |levels, has_product| Below {
            levels,
            has_product,
        };
        let check = InvalidPlace::check;
        assert_eq!(check(Folder, &[], below(3, true)), Ok(()));
        assert_eq!(
            check(Batch, &[Product, Folder, Folder], below(0, false)),
            Ok(())
        );
        assert_eq!(check(Product, &[Product], below(1, true)), Ok(()));
        for (kind, above, under) in [
            (Folder, &[][..], below(4, false)),
            (Batch, &[Folder, Folder, Folder, Folder], below(0, false)),
            (Folder, &[Folder, Folder], below(2, false)),
        ] {
            assert_eq!(check(kind, above, under), Err(InvalidPlace::TooDeep));
        }
        for (kind, above, under) in [
            (Product, &[Batch][..], below(0, false)),
            (Product, &[Folder, Batch], below(0, false)),
            (Folder, &[Batch], below(1, true)),
            (Batch, &[], below(2, true)),
        ] {
            assert_eq!(check(kind, above, under), Err(InvalidPlace::ProductInBatch));
        }
    }
}
