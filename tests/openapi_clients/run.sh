#!/usr/bin/env bash
# Makes clients of the OpenAPI document with three generators, and has each walk
# through the tour of the README. First a linter says whether the document is valid.
#
# There is no client in Rust: progenitor (0.15.1) refuses every document whose version is not 3.0, and its
# model (openapiv3 2.2.0) reads no list of types such as ["string", "null"], which ours has 300 times. It also
# panics on operations whose errors have several types, as those of the public pages and of `/v2` do.
# Needs what `.make/setup test` installs.
set -euo pipefail
cd "$(dirname "$0")"
root=$PWD/../..

binary=${TAPDESK_SERVICE:-$root/target/debug/tapdesk-service}
if [ -z "${TAPDESK_SERVICE:-}" ]; then cargo build --locked --quiet -p tapdesk-service; fi
folder=$(mktemp -d)
export TAPDESK_ADMIN_TOKEN=the-token-of-the-tests-of-the-generated-clients
services=()
trap 'kill "${services[@]}" 2>/dev/null || true; wait || true; rm -rf "$folder"' EXIT

# Starts a service with a database of its own; says where it listens.
serve() {
  local name=$1
  # It is read below, maybe before the service has opened it.
  : >"$folder/$name.out"
  "$binary" serve --listen 127.0.0.1:0 \
    --database "sqlite:$folder/$name.db" >"$folder/$name.out" 2>"$folder/$name.err" &
  services+=($!)
  until base=$(sed -n 's/^listening on //p' "$folder/$name.out"); [ -n "$base" ]; do
    kill -0 "${services[-1]}" || { cat "$folder/$name.err" >&2; exit 1; }
    sleep 0.1
  done
}

document=$root/service/openapi.json
bin=node_modules/.bin
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
"$bin/redocly" lint --extends recommended --max-problems 1000 "$document"

rm -rf generated built
"$root/target/venv/bin/openapi-python-client" generate --meta none --fail-on-warning \
  --config python.yml --path "$document" --output-path "$folder/tapdesk_client"
"$bin/openapi-typescript" "$document" --output generated/schema.d.ts \
  --default-non-nullable=false
"$bin/swagger-typescript-api" generate --path "$document" --output generated --name Api.ts \
  --enum-style=union --silent
"$bin/tsc"

serve python
"$root/target/venv/bin/python" tour.py "$base" "$folder"
for tour in fetch class; do
  serve "$tour"
  node "built/$tour.js" "$base"
done
