/** Operations that change nothing, although they are sent by POST. */
const READS =
  /^\/admin\/v1\/(backup|tag-url\/check|experiences\/\d+\/preview|encodings\/preview|tags\/import\/table|verification|url-templates\/solve|(tags|factory-orders\/\d+)\/import\?(.*&)?dry_run=true)(\?|&|$)/;

/** Whether a request deletes data, so that no screen may show it afterwards. */
export const erases = (method: string, address: string): boolean => method === "DELETE" || /\/erase(\?|$)/.test(address);

/** Whether a request changes the service. */
export const writes = (method: string, address: string): boolean => method !== "GET" && !READS.test(address);
