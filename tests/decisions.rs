//! Cases that the specification leaves open: each rule of the decisions that is visible
//! from outside has a test with its name.

mod answers;
mod bystanders;
mod exposure;
mod finding;
mod former_slugs;
mod groups;
mod inlays;
mod limits;
mod macros;
mod page_kit;
mod payload;
mod plain_pages;
mod repeats;
mod revisions;
mod rolling_key;
mod routes;
mod slugs;
mod tag_urls;
mod update;
mod url_templates;
mod verification;
mod workbooks;
