// The tag URL for a host that a person types, with or without scheme and path. It is shown while
// they type; the service has the final decision.

/** The path of tag URLs of a host that is typed without one. */
export const TAG_PATH = "/t";

const hasScheme = (text: string) => /^[a-z][a-z0-9+.-]*:\/\//i.test(text);

/** The ends of host names that are known in only one network. */
const LOCAL = ["localhost", "local", "lan", "home", "internal", "arpa", "test"];

/** Whether a host is an IP address and not a name. */
export const isNumeric = (hostname: string) => /^\d+(\.\d+){3}$/.test(hostname) || hostname.startsWith("[");

/** Whether a host is a public name, which phones open by https. */
function isOfInternet({ hostname, port }: URL): boolean {
  if (isNumeric(hostname) || port !== "") return false;
  const parts = hostname.replace(/\.$/, "").split(".");
  return parts.length > 1 && !LOCAL.includes(parts.at(-1)!);
}

/** Whether an address leads each device to itself. */
export function isLoopback(tagUrl: string): boolean {
  const host = hostOf(tagUrl);
  return host === "localhost" || host.endsWith(".localhost") || host.startsWith("127.") || host === "[::1]";
}

export function hostOf(tagUrl: string): string {
  try {
    return new URL(tagUrl).hostname;
  } catch {
    return "";
  }
}

function parsed(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/**
 * The complete tag URL, as the service completes it in its check; null if the text names no web
 * server.
 */
export function completed(text: string): string | null {
  const typed = text.trim();
  if (typed === "" || /[\s?#]/.test(typed)) return null;
  const whole = hasScheme(typed) ? typed : `http://${typed.replace(/^\/+/, "").replace(/^([^/]*[^:\d/][^/]*):443(?=\/|$)/, "$1")}`;
  const url = parsed(whole);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") return null;
  const scheme = !hasScheme(typed) && isOfInternet(url) ? "https:" : url.protocol;
  return `${scheme}//${url.host}${url.pathname.replace(/\/+$/, "") || TAG_PATH}`;
}
