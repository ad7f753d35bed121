//! The revision of an experience covers its name and its draft. Published content is a version
//! instead.

use super::{Content, Experience, ExperienceFields};
use crate::revision::{Revised, Revision};

fn of(name: &str, content: &Content) -> Revision {
    Revision::of(&(name, content.to_json()))
}

impl Revised for ExperienceFields {
    fn revision(&self) -> Revision {
        of(&self.name, &self.content)
    }
}

impl Revised for Experience {
    fn revision(&self) -> Revision {
        of(&self.name, &self.content)
    }
}
