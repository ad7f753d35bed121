//! The member of a request that decides about the variables of forms.

use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Its name in the API.
pub const ADD_VARIABLES: &str = "add_variables";

/// Whether tags that get an experience also get the variables that its page writes, with empty
/// values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AddVariables(pub bool);

impl Default for AddVariables {
    fn default() -> Self {
        Self(true)
    }
}

impl AddVariables {
    /// Whether it has its default value, so that it can be omitted.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl PartialSchema for AddVariables {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Boolean)
            .default(Some(true.into()))
            .description(Some(
                "Whether tags that come to an experience get the variables that the forms and buttons of its page \
                 write, with empty values. Existing values stay.",
            ))
            .into()
    }
}

impl ToSchema for AddVariables {}
