//! The image of a product, without its bytes.

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::id::GroupId;
use crate::image_type::ImageType;

/// The image of a group: that of the nearest group that has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GroupImage {
    /// The group that gives it.
    pub group_id: GroupId,
    /// Format of the stored bytes.
    #[serde(rename = "type")]
    pub media_type: ImageType,
    /// SHA-256 of the stored bytes, in hexadecimal. Another image has another digest.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub digest: String,
}

impl GroupImage {
    /// The image with these bytes, of this group itself.
    pub fn of(group_id: GroupId, media_type: ImageType, bytes: &[u8]) -> Self {
        Self {
            group_id,
            media_type,
            digest: base16ct::lower::encode_string(&Sha256::digest(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_the_bytes() {
        let image = GroupImage::of(GroupId::new(3), ImageType::Png, b"abc");
        let expected = serde_json::json!({
            "group_id": 3, "type": "image/png",
            // The first example of FIPS 180.
            "digest": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        });
        assert_eq!(serde_json::to_value(image).unwrap(), expected);
    }
}
