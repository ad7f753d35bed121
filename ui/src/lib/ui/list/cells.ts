// The cells of a row. A row's snippet renders one element per column: these are the cells, and the
// one with the link to the pane is the row's header. So assistive technology names both.

/** Gives each child of `row` the role of a cell, also later children; for `@attach`. */
export function cellsOf(row: HTMLElement) {
  const name = () => {
    for (const cell of row.children) {
      const role = cell.querySelector("[data-opens]") ? "rowheader" : "gridcell";
      if (cell.role !== role) cell.role = role;
    }
  };
  name();
  const changes = new MutationObserver(name);
  changes.observe(row, { childList: true, subtree: true });
  return () => changes.disconnect();
}
