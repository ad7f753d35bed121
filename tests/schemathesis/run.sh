#!/usr/bin/env bash
# Holds the running service against its own OpenAPI document: no 500, no answer
# that is not documented, nothing of another shape than the document says.
# Takes further options of `schemathesis run`, as `--include-path /admin/v1/tags`.
set -euo pipefail
cd "$(dirname "$0")/../.."

if [ "${TAPDESK_TEST_LENGTH:-short}" = soak ]; then examples=1000; else examples=10; fi

binary=${TAPDESK_SERVICE:-$PWD/target/debug/tapdesk-service}
if [ -z "${TAPDESK_SERVICE:-}" ]; then cargo build --locked --quiet -p tapdesk-service; fi
folder=$(mktemp -d)
export TAPDESK_ADMIN_TOKEN=the-token-of-the-tests-of-the-openapi-document
export TAPDESK_RATE_LIMIT=off TAPDESK_TEST_CLOCK=1
# It is read below, maybe before the service has opened it.
: >"$folder/stdout"
"$binary" serve --database "sqlite:$folder/tapdesk.db" --listen 127.0.0.1:0 \
  >"$folder/stdout" 2>"$folder/stderr" &
service=$!
trap 'kill "$service" 2>/dev/null; wait "$service" || true; rm -rf "$folder"' EXIT
until base=$(sed -n 's/^listening on //p' "$folder/stdout"); [ -n "$base" ]; do
  kill -0 "$service" || { cat "$folder/stderr" >&2; exit 1; }
  sleep 0.1
done

# Something to ask for.
curl --fail --silent --show-error --output /dev/null --request POST \
  --header "Authorization: Bearer $TAPDESK_ADMIN_TOKEN" "$base/admin/v1/demo"

# Not asked for:
# * /admin/v1/events: the live feed has no end that a client could wait for.
# * /admin/v1/tag-url/check, and tests of mails and notifications: they open the address that they
#   are given, and generated ones are strangers'.
# * positive_data_acceptance: a schema cannot say which cursor a list knows, what
#   a macro is or which names a table's columns have; such requests get 422 and a sentence.
# * allow_header_conformance: a tag takes POST only if it leads to a page.
# * ensure_resource_availability: it takes a virtual inlay's inlay_id for its id.
schemathesis="$PWD/target/venv/bin/schemathesis"
settings="$PWD/tests/schemathesis/schemathesis.toml"
cd "$folder"
"$schemathesis" --config-file "$settings" run "$base/openapi.json" \
  --header "Authorization: Bearer $TAPDESK_ADMIN_TOKEN" \
  --exclude-path /admin/v1/events --exclude-path /admin/v1/tag-url/check \
  --exclude-path /admin/v1/mail/test --exclude-path '/admin/v1/notifications/{id}/test' \
  --checks all --exclude-checks positive_data_acceptance,ensure_resource_availability,allow_header_conformance \
  --seed 1 --max-examples "$examples" --generation-database none --request-timeout 30 \
  --continue-on-failure "$@"

if grep -q panicked "$folder/stderr"; then cat "$folder/stderr" >&2; exit 1; fi
