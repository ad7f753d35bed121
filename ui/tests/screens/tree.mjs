// The accessibility tree of a page: what assistive technology is given of it.

/** A grid or a table: the names of its columns, their sort, and its rows as values by the name of their column. */
export async function tableOf(page, role, name) {
  const nodes = await treeOf(page);
  const table = nodes.find((node) => node.role === role && node.name === name);
  if (!table) throw new Error(`no ${role} ${name} among ${nodes.map((node) => `${node.role} ${node.name}`).join("; ")}`);
  const within = (node, ...roles) => node.below().filter((one) => roles.includes(one.role));
  const [head, ...rows] = within(table, "row");
  const columns = within(head, "columnheader");
  return {
    columns: columns.map((column) => column.name),
    cells: rows.map((row) => within(row, "gridcell", "cell", "rowheader").length),
    rows: rows.map((row) =>
      Object.fromEntries(
        within(row, "gridcell", "cell", "rowheader").map((cell, at) => [columns[at]?.name ?? `column ${at}`, cell.text()]),
      ),
    ),
    headers: rows.map((row) => within(row, "rowheader").map((cell) => cell.text())),
  };
}

/** The nodes that are not ignored, in their order. */
export async function treeOf(page) {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  await session.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const below = (node) => (node.childIds ?? []).flatMap((id) => (byId.has(id) ? [byId.get(id), ...below(byId.get(id))] : []));
  const words = (node) => (node.name?.value ?? "").trim();
  const made = new Map();
  for (const node of nodes) {
    made.set(node, {
      role: node.role?.value ?? "",
      name: words(node),
      focusable: !!node.properties?.some(({ name, value }) => name === "focusable" && value.value),
      below: () =>
        below(node)
          .filter((one) => !one.ignored)
          .map((one) => made.get(one)),
      /** Its name, or the text in it. */
      text: () =>
        words(node) ||
        below(node)
          .filter((one) => !one.ignored && one.role?.value === "StaticText")
          .map(words)
          .join(" ")
          .trim(),
    });
  }
  return nodes.filter((node) => !node.ignored).map((node) => made.get(node));
}
