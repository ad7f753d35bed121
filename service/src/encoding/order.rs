//! A factory order: what a bureau encodes, with keys that are used once. Each chip gets other keys
//! when it is laid down at goods-in.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::clock::Timestamp;
use crate::id::{FactoryOrderId, TagId, UrlTemplateId};
use crate::inlay::{MacFrom, Mirror, Uid};

/// The version with which a bureau writes its keys. It never knew the chip before, so this is the
/// first one that a chip has.
pub const BUREAU_VERSION: u8 = 1;

/// How the chips of an order write their URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = FactoryOrderPlan)]
pub struct OrderPlan {
    /// The URL template; null for the canonical form of a tag URL.
    #[serde(default)]
    pub url_template_id: Option<UrlTemplateId>,
    /// How they show UID and counter in the canonical form; by default encrypted.
    #[serde(default)]
    pub mirror: Option<Mirror>,
    /// Where the MAC's input begins in the canonical form; by default it is empty.
    #[serde(default)]
    pub mac_from: Option<MacFrom>,
}

/// A factory order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = FactoryOrder)]
pub struct Order {
    /// Its identifier.
    pub id: FactoryOrderId,
    /// Its name.
    pub name: String,
    /// What is written.
    pub plan: OrderPlan,
    /// Its positions.
    pub position_count: u64,
    /// The chips that came back.
    pub received_count: u64,
    /// Those of them that have no keys of the bureau any more.
    pub rekeyed_count: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its keys first left; null if they did not.
    pub exported_at: Option<Timestamp>,
}

/// A position of an order: one chip for one tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = FactoryOrderPosition)]
pub struct OrderPosition {
    /// Its number, from 1.
    pub position: u32,
    /// The tag.
    pub tag_id: TagId,
    /// The tag's slug, as it is now.
    pub slug: String,
    /// The tag's name.
    pub name: String,
    /// The chip, once it came back.
    pub uid: Option<Uid>,
    /// How far it is.
    pub state: PositionState,
    /// When it came back.
    pub received_at: Option<Timestamp>,
}

/// How far a position is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = FactoryOrderPositionState)]
pub enum PositionState {
    /// The bureau has not reported its chip.
    Ordered,
    /// The chip has the keys that the bureau wrote: lay it down at goods-in.
    BureauKeys,
    /// The chip has no key of the bureau any more.
    Rekeyed,
}
