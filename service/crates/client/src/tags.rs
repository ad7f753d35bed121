//! Tags, by the slug that people know.

use serde_json::{Value, json};

use crate::api::Client;
use crate::error::Error;

impl Client {
    /// The real or simulated tag that a path with this slug names. The service looks it up, by the
    /// rule of a tap: the exact slug, a former one, or the only one in another case.
    pub fn tag(&self, slug: &str) -> Result<Option<Value>, Error> {
        let segment: String = form_urlencoded::byte_serialize(slug.as_bytes()).collect();
        let url = format!("{}/t/{segment}", self.base());
        let checked = self.post("/verification", &json!({ "url": url }))?;
        match checked["tag_id"].as_i64() {
            Some(id) => self.get(&format!("/tags/{id}")).map(Some),
            None => Ok(None),
        }
    }

    /// The virtual inlay on the tag that a path with this slug names.
    pub fn virtual_inlay(&self, slug: &str) -> Result<Option<Value>, Error> {
        let Some(tag) = self.tag(slug)? else {
            return Ok(None);
        };
        let slug = &tag["slug"];
        let inlays = self.list("/simulator/inlays?")?;
        Ok(inlays.into_iter().find(|inlay| inlay["tag"] == *slug))
    }
}
