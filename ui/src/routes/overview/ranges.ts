// The periods that the overview can show, and the length of a bar in each.

const DAY = 86_400_000;

export const ranges = [
  { key: "day", name: "24 hours", length: DAY, bucket: "hour" },
  { key: "week", name: "7 days", length: 7 * DAY, bucket: "hour" },
  { key: "month", name: "30 days", length: 30 * DAY, bucket: "day" },
] as const;

export type Range = (typeof ranges)[number];
