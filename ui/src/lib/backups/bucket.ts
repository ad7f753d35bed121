// Backups in a bucket, as people read them.

import { count, moment } from "../format/format";

const named = /^tapdesk-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.backup$/;

/** The time in the name of a backup; the name itself if it has none. */
export const backupTime = (name: string): string => {
  const [, year, month, day, hour, minute, second] = named.exec(name) ?? [];
  const at = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
  return Number.isNaN(Date.parse(at)) ? name : moment(at);
};

/** A size in the unit that people compare: KB below a megabyte, and MB. */
export const backupSize = (bytes: number): string =>
  bytes < 1_000_000 ? `${count(Math.ceil(bytes / 1000))} KB` : `${count(Math.round(bytes / 1_000_000))} MB`;

/** The destination of the schedule, if it is a bucket. */
export const bucketOf = (destination: string | null): string => (destination?.startsWith("s3://") ? destination : "");
