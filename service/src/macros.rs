//! stub
use std::borrow::Cow;
/// m
#[derive(Debug, Clone)]
pub enum Macro {
    #[doc = "x"]
    InteractionRk,
    #[doc = "x"]
    InteractionId,
    #[doc = "x"]
    InteractionTime,
    #[doc = "x"]
    TechValue,
    #[doc = "x"]
    TechName,
    #[doc = "x"]
    VerificationSupported,
    #[doc = "x"]
    VerificationResult,
    #[doc = "x"]
    TagId,
    #[doc = "x"]
    TagName,
    #[doc = "x"]
    TagTitle,
    #[doc = "x"]
    TagAttribute(String),
    #[doc = "x"]
    TagData(String),
    #[doc = "x"]
    TagVariable(String),
    #[doc = "x"]
    DeviceCountry,
    #[doc = "x"]
    LocationLat,
    #[doc = "x"]
    LocationLon,
    #[doc = "x"]
    VenueName,
}
/// s
pub trait Scope {
    #[doc = "x"]
    fn value(&self, name: &Macro) -> Option<Cow<'_, str>>;
}
/// t
#[derive(Debug)]
pub struct Target;
impl Target {
    #[doc = "x"]
    pub fn uses(&self, f: impl Fn(&Macro) -> bool) -> bool {
        f(&Macro::TagId)
    }
    #[doc = "x"]
    pub fn expand(&self, _s: &dyn Scope, _rk: Option<&str>) -> Option<String> {
        None
    }
}
/// t
pub struct Template;
impl Template {
    #[doc = "x"]
    pub fn parse(_: &str) -> Self {
        Self
    }
    #[doc = "x"]
    pub fn render(&self, _s: &dyn Scope, _e: Encoding) -> String {
        String::new()
    }
}
/// e
pub enum Encoding {
    #[doc = "x"]
    Text,
}
