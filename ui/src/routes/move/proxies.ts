// How the host of a URL template is brought to the service, for the programs that do it.

export interface Way {
  key: string;
  name: string;
  /** The file it belongs to. */
  file: string;
  text: string;
}

/** Examples for `host`, whose requests go to the service at `service` ("127.0.0.1:8787"). */
export const ways = (host: string, service: string): Way[] => [
  {
    key: "caddy",
    name: "Caddy",
    file: "Caddyfile",
    text: `${host} {\n\treverse_proxy ${service}\n}\n`,
  },
  {
    key: "nginx",
    name: "nginx",
    file: `/etc/nginx/sites-enabled/${host}`,
    text: `server {\n    listen 443 ssl;\n    server_name ${host};\n    ssl_certificate     /etc/letsencrypt/live/${host}/fullchain.pem;\n    ssl_certificate_key /etc/letsencrypt/live/${host}/privkey.pem;\n\n    location / {\n        proxy_pass http://${service};\n        proxy_set_header Host $host;\n        proxy_set_header X-Forwarded-For $remote_addr;\n        proxy_set_header X-Forwarded-Proto https;\n    }\n}\n`,
  },
  {
    key: "haproxy",
    name: "HAProxy",
    file: "haproxy.cfg",
    text: `frontend https\n    bind :443 ssl crt /etc/haproxy/certs/\n    http-request set-header X-Forwarded-Proto https\n    option forwardfor\n    use_backend tapdesk if { req.hdr(host) -i ${host} }\n\nbackend tapdesk\n    server tapdesk ${service}\n`,
  },
];

/** The path of a template's URLs as a pattern of nginx for a redirect. */
export const redirect = (host: string, path: string): string => `location ${path} {\n    return 307 https://${host}$request_uri;\n}\n`;
