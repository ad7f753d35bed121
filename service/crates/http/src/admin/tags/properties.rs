//! `/admin/v1/tags/{id}/variables`, `/data` and `/attributes`: the same code for all three classes.

use std::collections::HashMap;
use std::ops::Bound;

use axum::Json;
use axum::extract::{FromRequestParts, Path};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::admin::extract::edited::{Edited, IfMatch, unless_changed};
use crate::admin::extract::page::{Counted, List, Page};
use crate::admin::extract::path::Id;
use crate::error::ApiError;
use app::service::Service;
use domain::id::TagId;
use domain::revision::{Revised, Revision};
use domain::tag::{PropertyClass, PropertyKey, PropertyValue, check_value};
use storage::{Put, StorageError};

/// A property of a tag.
#[derive(Serialize, ToSchema)]
#[schema(as = TagProperty)]
pub(crate) struct Property {
    /// Key of the property, unique within its class.
    key: PropertyKey,
    /// Value of the property.
    value: String,
    /// Entity tag for `If-Match`, to change the property only if it still has this value.
    etag: String,
}

impl Property {
    fn new(key: PropertyKey, value: String) -> Self {
        let revision = PropertyValue(&value).revision();
        Self {
            key,
            etag: format!("\"{revision}\""),
            value,
        }
    }
}

impl Revised for Property {
    fn revision(&self) -> Revision {
        PropertyValue(&self.value).revision()
    }
}

/// A new value of a property.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = TagPropertyValue)]
pub(crate) struct NewValue {
    /// Any text without NUL characters, at most 4096 bytes.
    #[schema(max_length = 4096, pattern = r"^[^\x00]*$")]
    value: String,
}

/// The `{id}` and the `{key}` of a property's path.
pub(crate) struct PropertyPath {
    tag: TagId,
    key: PropertyKey,
}

impl<S: Send + Sync> FromRequestParts<S> for PropertyPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Id(tag) = Id::from_request_parts(parts, state).await?;
        let Path(values) = Path::<HashMap<String, String>>::from_request_parts(parts, state)
            .await
            .map_err(|_| ApiError::NotFound("resource"))?;
        let key = values.get("key").map_or("", String::as_str);
        let key = PropertyKey::parse(key).map_err(ApiError::invalid)?;
        Ok(Self { tag, key })
    }
}

async fn list(
    service: &Service,
    class: PropertyClass,
    tag: TagId,
    list: List<PropertyKey, Counted>,
) -> Result<Json<Page<Property>>, ApiError> {
    let tag = service.storage.tag(tag).await?;
    let fields = tag.ok_or(ApiError::NotFound("tag"))?.fields;
    let properties = fields.properties(class);
    let count = list.filter.count.then_some(properties.0.len() as u64);
    let after = list.after.as_ref();
    let after = after.map_or(Bound::Unbounded, Bound::Excluded);
    let range = properties
        .0
        .range::<PropertyKey, _>((after, Bound::Unbounded));
    let range = range.take(list.and_one_more());
    let items = range.map(|(key, value)| Property::new(key.clone(), value.clone()));
    let page = list.page(items.collect(), |last: &Property| last.key.clone());
    Ok(Json(page.with_count(count)))
}

/// The current state of a property.
async fn current(
    service: &Service,
    class: PropertyClass,
    PropertyPath { tag, key }: &PropertyPath,
) -> Result<Option<Edited<Property>>, StorageError> {
    let properties = service.storage.properties(*tag, class).await?;
    let value = properties.get(key.as_str()).map(str::to_owned);
    Ok(value.map(|value| Property::new(key.clone(), value).into()))
}

async fn get(
    service: &Service,
    class: PropertyClass,
    address: PropertyPath,
) -> Result<Edited<Property>, ApiError> {
    let tag = service.storage.tag(address.tag).await?;
    tag.ok_or(ApiError::NotFound("tag"))?;
    let property = current(service, class, &address).await?;
    property.ok_or(ApiError::NotFound("property"))
}

async fn put(
    service: &Service,
    class: PropertyClass,
    address: PropertyPath,
    IfMatch(expected): IfMatch,
    NewValue { value }: NewValue,
) -> Result<(StatusCode, Edited<Property>), ApiError> {
    check_value(&value).map_err(ApiError::invalid)?;
    let PropertyPath { tag, ref key } = address;
    let (key, new) = (key.clone(), value.clone());
    let put = service
        .storage
        .put_property_if(tag, class, key, new, expected)
        .await;
    let put = unless_changed(put, current(service, class, &address)).await?;
    let status = match put {
        Some(Put::New) => StatusCode::CREATED,
        Some(Put::Set) => StatusCode::OK,
        None => return Err(ApiError::NotFound("tag")),
    };
    Ok((status, Property::new(address.key, value).into()))
}

async fn delete(
    service: &Service,
    class: PropertyClass,
    address: PropertyPath,
    IfMatch(expected): IfMatch,
) -> Result<StatusCode, ApiError> {
    let (tag, key) = (address.tag, address.key.clone());
    let removed = service
        .storage
        .delete_property_if(tag, class, key, expected)
        .await;
    let removed = unless_changed(removed, current(service, class, &address)).await?;
    removed.ok_or(ApiError::NotFound("property"))?;
    Ok(StatusCode::NO_CONTENT)
}

/// The routes of one class. utoipa requires a separate function for each route.
macro_rules! routes_of {
    ($($class:ident => $module:ident, $one:literal, $many:literal;)+) => {$(
        #[doc = concat!("`/admin/v1/tags/{id}/", stringify!($module), "`.")]
        pub(crate) mod $module {
            use axum::Json;
            use axum::http::StatusCode;

            use super::{NewValue, Property, PropertyPath};
            use crate::admin::extract::body::Body;
            use crate::admin::extract::edited::{Edited, IfMatch};
            use crate::admin::extract::page::{Counted, List, Page, PageParams};
            use crate::admin::extract::path::Id;
            use crate::admin::Asked;
            use crate::error::{
                ApiError, BadBody, ChangedMeanwhile, Common, Invalid, NotFound, Written,
            };
            use domain::id::TagId;
            use domain::tag::{PropertyClass, PropertyKey};

            const CLASS: PropertyClass = PropertyClass::$class;

            #[utoipa::path(
                get, path = concat!("/tags/{id}/", stringify!($module)), tag = "tags",
                summary = concat!("List a tag's ", $many),
                params(("id" = TagId, Path), PageParams, Counted),
                responses((status = OK, body = Page<Property>), NotFound, Invalid, Common)
            )]
            pub(crate) async fn list(
                Asked(service): Asked,
                Id(tag): Id<TagId>,
                list: List<PropertyKey, Counted>,
            ) -> Result<Json<Page<Property>>, ApiError> {
                super::list(&service, CLASS, tag, list).await
            }

            #[utoipa::path(
                get, path = concat!("/tags/{id}/", stringify!($module), "/{key}"), tag = "tags",
                summary = concat!("Get ", $one, " of a tag"),
                params(("id" = TagId, Path), ("key" = PropertyKey, Path)),
                responses((status = OK, body = Property), NotFound, Invalid, Common)
            )]
            pub(crate) async fn get(
                Asked(service): Asked,
                address: PropertyPath,
            ) -> Result<Edited<Property>, ApiError> {
                super::get(&service, CLASS, address).await
            }

            #[utoipa::path(
                put, path = concat!("/tags/{id}/", stringify!($module), "/{key}"), tag = "tags",
                summary = concat!("Set ", $one, " of a tag, or predefine it"),
                params(("id" = TagId, Path), ("key" = PropertyKey, Path)),
                request_body = NewValue,
                responses(
                    (status = OK, body = Property, description = "It existed before"),
                    (status = CREATED, body = Property, description = "Created"),
                    NotFound, ChangedMeanwhile, BadBody, Written, Common
                )
            )]
            pub(crate) async fn put(
                Asked(service): Asked,
                address: PropertyPath,
                expected: IfMatch,
                Body(value): Body<NewValue>,
            ) -> Result<(StatusCode, Edited<Property>), ApiError> {
                super::put(&service, CLASS, address, expected, value).await
            }

            #[utoipa::path(
                delete, path = concat!("/tags/{id}/", stringify!($module), "/{key}"), tag = "tags",
                summary = concat!("Remove ", $one, " of a tag"),
                params(("id" = TagId, Path), ("key" = PropertyKey, Path)),
                responses((status = NO_CONTENT), NotFound, ChangedMeanwhile, Invalid, Written, Common)
            )]
            pub(crate) async fn delete(
                Asked(service): Asked,
                address: PropertyPath,
                expected: IfMatch,
            ) -> Result<StatusCode, ApiError> {
                super::delete(&service, CLASS, address, expected).await
            }
        }
    )+};
}

routes_of! {
    Variable => variables, "a variable", "variables";
    Data => data, "a data property", "data properties";
    Attribute => attributes, "an attribute", "attributes";
}
