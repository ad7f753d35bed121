//! Tags, by the slug that people know.

use serde_json::Value;

use crate::api::Client;
use crate::error::Error;

impl Client {
    /// The real or simulated tag that has this slug or had it before.
    pub fn tag(&self, slug: &str) -> Result<Option<Value>, Error> {
        let q: String = form_urlencoded::byte_serialize(slug.as_bytes()).collect();
        let tags = self.list(&format!("/tags?simulated=all&q={q}"))?;
        let answers = |tag: &Value| {
            let mut former = tag["former_slugs"].as_array().into_iter().flatten();
            tag["slug"] == slug || former.any(|former| former == slug)
        };
        Ok(tags.into_iter().find(answers))
    }

    /// The virtual inlay on the tag that has this slug or had it before.
    pub fn virtual_inlay(&self, slug: &str) -> Result<Option<Value>, Error> {
        let Some(tag) = self.tag(slug)? else {
            return Ok(None);
        };
        let slug = &tag["slug"];
        let inlays = self.list("/simulator/inlays?")?;
        Ok(inlays.into_iter().find(|inlay| inlay["tag"] == *slug))
    }
}
