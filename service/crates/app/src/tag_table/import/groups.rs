//! Finds the group of a row by its path, or by its id, and creates groups if the importer asked for
//! it.

use std::collections::{HashMap, HashSet};

use tokio::sync::Mutex;

use super::answer::CreatedGroup;
use crate::service::Service;
use crate::tag_table::column::GROUP;
use domain::field_error::FieldError;
use domain::group::{GroupFields, GroupKind, GroupPath};
use domain::id::GroupId;
use domain::revision::{Revised as _, Revision};
use domain::tag::cell::Cell;
use storage::{Conflict, GroupNode, Precondition, StorageError};

/// All groups, as of the start of the import, and those that it created. When a tag is stored, the
/// database checks again that its group exists.
pub(super) struct Groups {
    tree: Mutex<Tree>,
    /// Whether missing groups are created.
    create: bool,
    dry_run: bool,
}

#[derive(Default)]
struct Tree {
    kinds: HashMap<GroupId, GroupKind>,
    /// The groups of a parent by their names.
    named: HashMap<(Option<GroupId>, String), Vec<GroupId>>,
    /// The groups that this import created, each after its parent, with their first revisions.
    created: Vec<(GroupId, Revision)>,
    /// The paths that a dry run would create.
    planned: HashSet<Vec<String>>,
}

impl Tree {
    fn add(&mut self, node: &GroupNode) {
        let name = node.name.trim().to_owned();
        self.kinds.insert(node.id, node.kind);
        let named = self.named.entry((node.parent_id, name)).or_default();
        named.push(node.id);
    }
}

impl Groups {
    pub(super) async fn load(
        service: &Service,
        create: bool,
        dry_run: bool,
    ) -> Result<Self, StorageError> {
        let mut tree = Tree::default();
        for node in service.storage.group_tree().await? {
            tree.add(&node);
        }
        Ok(Self {
            tree: Mutex::new(tree),
            create,
            dry_run,
        })
    }

    /// How many groups the import created, or would create.
    pub(super) async fn number(&self) -> usize {
        let tree = self.tree.lock().await;
        tree.created.len() + tree.planned.len()
    }

    /// The groups that the import created, each after its parent.
    pub(super) async fn created(&self) -> Vec<CreatedGroup> {
        let tree = self.tree.lock().await;
        let created = tree.created.iter();
        created
            .map(|(id, revision)| CreatedGroup::new(*id, *revision))
            .collect()
    }

    /// Deletes the groups that the import created, because none of its rows is stored. A group that
    /// somebody has filled meanwhile stays.
    pub(super) async fn discard(&self, service: &Service) {
        let mut tree = self.tree.lock().await;
        while let Some((group, _)) = tree.created.pop() {
            let deleted = service.storage.delete_group_if(group, Precondition::None);
            if let Err(error) = deleted.await {
                tracing::debug!(%group, "a group of a refused import stays: {error}");
            }
        }
    }

    /// The group that these two cells name, as a cell of `group_id`.
    pub(super) async fn find(
        &self,
        service: &Service,
        id: &Cell,
        path: &Cell,
    ) -> Result<Cell, FieldError> {
        let id_text = id.text().map(str::trim).filter(|text| !text.is_empty());
        let path_text = path.text().map(str::trim).filter(|text| !text.is_empty());
        match (id_text, path_text) {
            (None, None) if *id == Cell::Delete || *path == Cell::Delete => Ok(Cell::Delete),
            (None, None) => Ok(Cell::Empty),
            (Some(_), None) if *path == Cell::Delete => Err(disagree()),
            (None, Some(_)) if *id == Cell::Delete => Err(disagree()),
            (Some(id), None) => {
                let why = "group_id is the number of a group.";
                let group: GroupId = id.parse().map_err(|_| FieldError::of("group_id", why))?;
                if self.tree.lock().await.kinds.contains_key(&group) {
                    return Ok(Cell::Text(group.to_string()));
                }
                let (noun, id) = ("group", group.get());
                Err(Conflict::Missing { noun, id }.into())
            }
            // The path decides: the id may be one of another service.
            (id, Some(path)) => {
                let found = self.of_path(service, path, id).await;
                found.map_err(|why| FieldError::of(GROUP, why))
            }
        }
    }

    /// The group at this path. The error is a sentence for people.
    async fn of_path(
        &self,
        service: &Service,
        text: &str,
        id: Option<&str>,
    ) -> Result<Cell, String> {
        let path: GroupPath = text.parse().map_err(|error| format!("group: {error}"))?;
        let mut tree = self.tree.lock().await;
        let mut parent = None;
        for (index, name) in path.names().iter().enumerate() {
            let found = tree.named.get(&(parent, name.clone()));
            let found = found.map_or(&[][..], Vec::as_slice);
            // The id of an export tells groups of one name apart.
            let said = found.iter().find(|group| Some(&*group.to_string()) == id);
            parent = Some(match (found, said) {
                (_, Some(said)) => *said,
                ([only], None) => *only,
                ([], None) if !self.create => {
                    return Err(format!(
                        "There is no group \"{text}\". Say create_groups to create it."
                    ));
                }
                ([], None) if self.dry_run => {
                    let names = path.names();
                    let missing = (index..names.len()).map(|end| names[..=end].to_vec());
                    tree.planned.extend(missing);
                    return Ok(Cell::Empty);
                }
                ([], None) => create(service, &mut tree, &path, index, parent).await?,
                (several, None) => {
                    return Err(format!(
                        "{} groups are named \"{name}\" there. Say which one with group_id.",
                        several.len()
                    ));
                }
            });
        }
        Ok(parent.map_or(Cell::Empty, |group| Cell::Text(group.to_string())))
    }
}

async fn create(
    service: &Service,
    tree: &mut Tree,
    path: &GroupPath,
    index: usize,
    parent: Option<GroupId>,
) -> Result<GroupId, String> {
    let above = parent.and_then(|parent| tree.kinds.get(&parent).copied());
    let kind = path.kind_at(index, above);
    let fields = GroupFields {
        parent_id: parent,
        ..GroupFields::named(kind, path.names()[index].clone())
    };
    fields.validate().map_err(|error| error.to_string())?;
    let name = fields.name.clone();
    let group = service.storage.insert_group(fields).await;
    let group = group.map_err(|error| {
        error.log();
        error.for_people()
    })?;
    tree.add(&GroupNode {
        id: group.id,
        parent_id: parent,
        kind,
        name,
    });
    tree.created.push((group.id, group.revision()));
    Ok(group.id)
}

/// The path of each group. Several groups can have the same.
pub async fn paths(service: &Service) -> Result<HashMap<GroupId, String>, StorageError> {
    let nodes: HashMap<_, _> = service
        .storage
        .group_tree()
        .await?
        .into_iter()
        .map(|node| (node.id, node))
        .collect();
    let path = |id: &GroupId| {
        let above = |id: &GroupId| nodes.get(id).and_then(|node| node.parent_id.as_ref());
        let mut names: Vec<_> = std::iter::successors(Some(id), |id| above(id))
            .filter_map(|id| Some(nodes.get(id)?.name.clone()))
            .collect();
        names.reverse();
        GroupPath::of(names).to_string()
    };
    Ok(nodes.keys().map(|id| (*id, path(id))).collect())
}

fn disagree() -> FieldError {
    let why =
        "The cells group_id and group disagree: one is to be deleted. Leave one of them empty.";
    FieldError::of(GROUP, why)
}
