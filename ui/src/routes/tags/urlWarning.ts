// Tag URLs that lead nowhere for most phones.

/** The reason why a tag URL should not be written to chips; `null` if it can be. */
export function urlWarning(tagUrl: string): string | null {
  let url: URL;
  try {
    url = new URL(tagUrl);
  } catch {
    return "The tag URL is not a web URL. Choose where phones reach you in the settings.";
  }
  const host = url.hostname;
  if (host === "localhost" || host.endsWith(".localhost") || host.startsWith("127.") || host === "[::1]") {
    return "The tag URL works only on this computer. Choose where phones reach you in the settings before you encode inlays.";
  }
  if (/^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.)/.test(host) || host.endsWith(".local")) {
    return "The tag URL works only in this network, and its host may change. For inlays that leave it, use your domain: see the settings.";
  }
  return url.protocol === "http:" ? "The tag URL does not use https: phones may show a warning." : null;
}
