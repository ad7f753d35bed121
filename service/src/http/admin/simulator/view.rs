//! A virtual inlay as the admin API shows it.

use serde::Serialize;
use utoipa::ToSchema;

use crate::id::{InlayId, TagId, VirtualInlayId};
use crate::inlay::{MacFrom, Mirror, Uid};
use crate::inventory::SimulatedInlay;

/// A virtual inlay: an NTAG 424 DNA in software.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = VirtualInlay)]
pub(crate) struct VirtualInlayView {
    /// Its identifier in the simulator.
    pub(super) id: VirtualInlayId,
    /// Its inlay, in `/inlays`.
    inlay_id: InlayId,
    /// Its UID.
    uid: Uid,
    /// How it shows UID and counter; null if it makes no codes any more.
    mirror: Option<Mirror>,
    /// Where the part of the URL that its MAC covers begins.
    mac_from: MacFrom,
    /// The simulated tag it is on.
    tag_id: Option<TagId>,
    /// That tag's slug.
    tag: Option<String>,
    /// How often it was tapped.
    counter: u32,
    /// Always true.
    simulated: bool,
}

impl From<SimulatedInlay> for VirtualInlayView {
    fn from(chip: SimulatedInlay) -> Self {
        Self {
            id: chip.id,
            inlay_id: chip.inlay.id,
            uid: chip.inlay.uid,
            mirror: chip.inlay.fields.mirror,
            mac_from: chip.inlay.fields.mac_from,
            tag_id: chip.inlay.fields.tag_id,
            tag: chip.slug,
            counter: chip.counter,
            simulated: chip.inlay.simulated,
        }
    }
}
