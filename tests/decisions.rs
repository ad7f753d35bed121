//! Where the specification is silent: each row of the project's decisions that
//! can be seen from outside a test, named after it.

mod answers;
mod bystanders;
mod exposure;
mod former_slugs;
mod inlays;
mod limits;
mod macros;
mod payload;
mod repeats;
mod revisions;
mod rolling_key;
mod routes;
mod tag_urls;
mod update;
mod url_templates;
mod verification;
