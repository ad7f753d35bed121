//! The public addresses of images. They cannot be guessed: only people who got the address of a
//! draft's image can see it.

use super::Proofs;
use domain::id::{ExperienceId, ImageId};

/// Makes the addresses, and finds the image of an address.
pub struct MediaNames(Proofs);

impl MediaNames {
    /// Addresses under a stored secret that all nodes share.
    pub fn new(secret: &[u8; 32]) -> Self {
        Self(Proofs::new(secret, "the addresses of images"))
    }

    /// The path of an image on the service's own host.
    pub fn path(&self, experience: ExperienceId, image: ImageId) -> String {
        let name = format!("{experience}-{image}");
        let proof = self.0.of(&name);
        format!("/media/{name}-{proof}")
    }

    /// The image that the last part of such a path names.
    pub fn read(&self, name: &str) -> Option<(ExperienceId, ImageId)> {
        let (name, proof) = name.rsplit_once('-')?;
        let (experience, image) = name.split_once('-')?;
        let ids = (experience.parse().ok()?, image.parse().ok()?);
        self.0.holds(name, proof).then_some(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_one_image_and_none_can_be_made_up() {
        let names = MediaNames::new(&[7; 32]);
        let path = names.path(ExperienceId::new(3), ImageId::new(12));
        let name = path.strip_prefix("/media/").unwrap();
        assert_eq!(
            names.read(name),
            Some((ExperienceId::new(3), ImageId::new(12)))
        );
        let proof = name.rsplit_once('-').unwrap().1;
        for other in [
            format!("3-13-{proof}"),
            format!("4-12-{proof}"),
            "3-12".into(),
            "3-12-".into(),
            String::new(),
        ] {
            assert_eq!(names.read(&other), None, "{other}");
        }
        assert_eq!(MediaNames::new(&[8; 32]).read(name), None);
    }
}
