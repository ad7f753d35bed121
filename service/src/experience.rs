//! stub
/// c
#[derive(Debug)]
pub enum Content {
    #[doc = "x"]
    Redirect { target: crate::macros::Target },
    #[doc = "x"]
    Studio { blocks: Vec<Block> },
}
/// b
#[derive(Debug)]
pub enum Block {
    #[doc = "x"]
    Heading { text: String },
    #[doc = "x"]
    Text { text: String },
    #[doc = "x"]
    Divider,
}
impl Content {
    #[doc = "x"]
    pub fn from_json(_: &str) -> Result<Self, String> {
        Err(String::new())
    }
}
