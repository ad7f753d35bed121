//! A factory order: chips that a bureau encodes, with keys that are used once. Each chip gets other
//! keys when it is placed on a reader at goods-in.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use domain::clock::Timestamp;
use domain::id::{FactoryOrderId, TagId, UrlTemplateId};
use inlay::technology::Mode;
use inlay::{MacFrom, Mirror, Technology, Uid};

/// The version with which a bureau writes its keys. It is the first one, because the bureau's chips
/// are new.
pub const BUREAU_VERSION: u8 = 1;

/// Whether a bureau can encode chips of this technology, in this mode, for an order. It writes keys,
/// which Tapdesk then has to replace.
pub fn is_orderable(technology: Technology, mode: Mode) -> bool {
    crate::is_encodable(technology) && technology.rolls() && mode == Mode::Aes
}

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

/// A factory order: chips that a bureau encodes for tags of this service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = FactoryOrder)]
pub struct Order {
    /// Identifier, used in the API.
    pub id: FactoryOrderId,
    /// Name that the owner gave it, shown in lists.
    pub name: String,
    /// How its chips write their URLs.
    pub plan: OrderPlan,
    /// Number of positions, one chip each.
    pub position_count: u64,
    /// Number of chips that the bureau has reported.
    pub received_count: u64,
    /// Number of chips that have no key of the bureau any more.
    pub rekeyed_count: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its keys were first exported; null if they were not.
    pub exported_at: Option<Timestamp>,
}

/// One position of an order: one chip for one tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = FactoryOrderPosition)]
pub struct OrderPosition {
    /// Number within the order, from 1.
    pub position: u32,
    /// Tag that the chip is encoded for.
    pub tag_id: TagId,
    /// The tag's present slug.
    pub slug: String,
    /// Present name of the tag.
    pub name: String,
    /// UID of the chip; null until the bureau reports it.
    pub uid: Option<Uid>,
    /// Progress of the position.
    pub state: PositionState,
    /// When the bureau reported the chip; null until then.
    pub received_at: Option<Timestamp>,
}

/// Progress of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = FactoryOrderPositionState)]
pub enum PositionState {
    /// The bureau has not reported its chip.
    Ordered,
    /// The chip has the keys that the bureau wrote: place it on a reader at goods-in.
    BureauKeys,
    /// The chip has no key of the bureau any more.
    Rekeyed,
}
