// Proxy configurations that route the host of a URL template to the service: the examples of
// service/deploy, which the service's tests run.

import caddy from "../../../../service/deploy/template-hosts/Caddyfile?raw";
import haproxy from "../../../../service/deploy/template-hosts/haproxy.cfg?raw";
import nginx from "../../../../service/deploy/template-hosts/nginx.conf?raw";

export interface Way {
  key: string;
  name: string;
  /** The file it belongs to. */
  file: string;
  text: string;
}

/** Examples for `host`, whose requests go to the service at `service` ("127.0.0.1:8787"). */
export function ways(host: string, service: string): Way[] {
  // The file of a wildcard certificate has no wildcard in its name.
  const of = (example: string) =>
    example
      .replaceAll(/\/(?<name>tags\.example\.com)\.(?<kind>pem|key)/g, `/${host.replace("*.", "")}.$<kind>`)
      .replaceAll("tags.example.com", host)
      .replaceAll("127.0.0.1:8787", service);
  return [
    { key: "caddy", name: "Caddy", file: "Caddyfile", text: of(caddy) },
    { key: "nginx", name: "nginx", file: "/etc/nginx/nginx.conf", text: of(nginx) },
    { key: "haproxy", name: "HAProxy", file: "/etc/haproxy/haproxy.cfg", text: of(haproxy) },
  ];
}

/** The path of a template's URLs as a pattern of nginx for a redirect. */
export const redirect = (host: string, path: string): string => `location ${path} {\n    return 307 https://${host}$request_uri;\n}\n`;
