// Texts for factory orders.

import type { FactoryOrder, FactoryOrderPosition, FactoryOrderReport } from "../../../lib/api/types";
import { counted } from "../../../lib/format/format";

/** The state of an order. */
export function stateOf(order: Pick<FactoryOrder, "exported_at" | "position_count" | "received_count" | "rekeyed_count">): string {
  if (order.rekeyed_count >= order.position_count) return "done";
  if (order.received_count > 0) return "goods-in";
  return order.exported_at === null ? "not sent" : "at the bureau";
}

export const positionStates: Record<FactoryOrderPosition["state"], { title: string; tone: string }> = {
  ordered: { title: "Ordered", tone: "" },
  bureau_keys: { title: "Bureau keys", tone: "warn" },
  rekeyed: { title: "Own keys", tone: "good" },
};

/** The result of an import, or of its dry run. */
export function reportWords(
  report: Pick<FactoryOrderReport, "dry_run" | "bound" | "unchanged" | "refused" | "proved" | "missing">,
): string {
  const parts = [`${counted(report.bound, "chip")} ${report.dry_run ? "can be bound" : "bound"}`];
  if (report.proved > 0) parts.push(`${counted(report.proved, "sample")} verified`);
  if (report.unchanged > 0) parts.push(`${counted(report.unchanged, "chip")} bound before`);
  if (report.refused > 0) parts.push(`${counted(report.refused, "row")} refused`);
  if (report.missing.length > 0) parts.push(`${counted(report.missing.length, "position")} without a chip`);
  return `${parts.join(", ")}.`;
}

/** Positions as text: ranges of numbers, and only the first few. */
export function positionsInWords(positions: readonly number[], most = 8): string {
  const runs: [number, number][] = [];
  for (const position of positions) {
    const last = runs.at(-1);
    if (last && last[1] + 1 === position) last[1] = position;
    else runs.push([position, position]);
  }
  const shown = runs.slice(0, most).map(([from, to]) => (from === to ? String(from) : `${from} to ${to}`));
  return shown.join(", ") + (runs.length > most ? ", …" : "");
}
