//! The experience of a tag in SQL: its own, or that of the nearest group above it that has one.
//! [`Lineage::experience_id`](domain::group::Lineage::experience_id) says the same in Rust. A tree
//! has four levels at most, so four joins reach its top.

use crate::shared::dialect::Dialect;
use domain::id::GroupId;
use domain::scope::Reach;

/// The groups above a tag in a table or alias: `""` or `"t."`.
fn above(of: &str) -> String {
    format!(
        "FROM tag_groups g1 LEFT JOIN tag_groups g2 ON g2.id = g1.parent_id
             LEFT JOIN tag_groups g3 ON g3.id = g2.parent_id
             LEFT JOIN tag_groups g4 ON g4.id = g3.parent_id
         WHERE g1.id = {of}group_id"
    )
}

/// The experience of the nearest group that has one.
const NEAREST: &str = "g1.experience_id, g2.experience_id, g3.experience_id, g4.experience_id";

/// The experience of a tag; NULL if neither it nor a group has one.
pub(crate) fn led_to(of: &str) -> String {
    let above = above(of);
    format!("coalesce({of}experience_id, (SELECT coalesce({NEAREST}) {above}))")
}

/// Whether a tap of a tag can lead to an experience, that of a recall included.
pub(crate) fn assigned(of: &str) -> String {
    let above = above(of);
    let recall = |group: u8| {
        format!("CASE WHEN g{group}.status = 'recalled' THEN g{group}.recall_experience_id END")
    };
    let recalls = [1, 2, 3, 4].map(recall).join(", ");
    format!(
        "({of}experience_id IS NOT NULL OR (SELECT coalesce({NEAREST}, {recalls}) {above}) IS NOT NULL)"
    )
}

/// The groups whose tags without an experience of their own lead to one that fits `condition`.
fn leading(condition: &str) -> String {
    format!(
        "WITH RECURSIVE led (id) AS (
             SELECT id FROM tag_groups WHERE experience_id {condition}
             UNION ALL SELECT g.id FROM led JOIN tag_groups g ON g.parent_id = led.id
             WHERE g.experience_id IS NULL)
         SELECT id FROM led"
    )
}

/// A group with all groups below it.
pub(crate) fn below(group: &str) -> String {
    format!(
        "WITH RECURSIVE below (id) AS (
             SELECT CAST({group} AS BIGINT)
             UNION ALL SELECT g.id FROM below b JOIN tag_groups g ON g.parent_id = b.id)
         SELECT id FROM below"
    )
}

/// Whether a column is one of the groups of a query. The query does not depend on the row, and
/// PostgreSQL can use an index for an array.
pub(crate) fn is_in(dialect: Dialect, column: &str, groups: &str) -> String {
    match dialect {
        Dialect::Sqlite => format!("{column} IN ({groups})"),
        Dialect::Postgres => format!("{column} = ANY (ARRAY({groups}))"),
    }
}

/// Whether the tag in a column is now in a group, or in a group below it.
pub(crate) fn tag_is_in(dialect: Dialect, tag: &str, group: &str) -> String {
    let is_in = is_in(dialect, "t.group_id", &below(group));
    format!("{tag} IN (SELECT t.id FROM tags t WHERE {is_in})")
}

/// Whether a tag leads to `experience`.
pub(crate) fn leads_to(dialect: Dialect, of: &str, experience: &str) -> String {
    let groups = leading(&format!("= {experience}"));
    let inherits = is_in(dialect, &format!("{of}group_id"), &groups);
    format!("({of}experience_id = {experience} OR ({of}experience_id IS NULL AND {inherits}))")
}

/// Whether a tag leads to any experience. The condition is [`led_to`] for many tags.
pub(crate) fn leads(dialect: Dialect, of: &str) -> String {
    let inherits = is_in(dialect, &format!("{of}group_id"), &leading("IS NOT NULL"));
    format!("({of}experience_id IS NOT NULL OR ({of}group_id IS NOT NULL AND {inherits}))")
}

/// These groups with all groups below them. The ids are numbers, so nothing can be injected into
/// the statement.
pub(crate) fn below_all(groups: &[GroupId]) -> String {
    let ids: Vec<_> = groups.iter().map(GroupId::to_string).collect();
    // Ids begin at 1.
    let ids = if ids.is_empty() {
        "0".to_owned()
    } else {
        ids.join(", ")
    };
    format!(
        "WITH RECURSIVE below (id) AS (
             SELECT id FROM tag_groups WHERE id IN ({ids})
             UNION SELECT g.id FROM below b JOIN tag_groups g ON g.parent_id = b.id)
         SELECT id FROM below"
    )
}

/// The groups that a filter's group and the reach leave; `None` if they leave all tags.
pub(crate) fn chosen(group: Option<GroupId>, reach: &Reach) -> Option<String> {
    let limits = [group.as_ref().map(std::slice::from_ref), reach.groups()];
    let limits = limits.into_iter().flatten();
    let limits: Vec<_> = limits
        .map(|groups| format!("id IN ({})", below_all(groups)))
        .collect();
    let conditions = limits.join(" AND ");
    (!limits.is_empty()).then(|| format!("SELECT id FROM tag_groups WHERE {conditions}"))
}
