#!/usr/bin/env bash
# The plugin for pytest, as a developer has it: installed from its folder, and used by tests.
# Needs what `.make/setup test` installs.
set -euo pipefail
cd "$(dirname "$0")/../.."

binary=${TAPDESK_SERVICE:-$PWD/target/debug/tapdesk-service}
if [ -z "${TAPDESK_SERVICE:-}" ]; then cargo build --locked --quiet -p tapdesk-service; fi
python=$PWD/target/venv/bin/python
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A copy, because a build writes beside its sources. It takes what is installed, and downloads nothing.
cp -r service/kit/pytest "$folder/source"
"$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation \
  --target "$folder/site" "$folder/source"
mkdir "$folder/shop"
# The files that the guide names to copy: with the test, they are all that a developer has.
copied=$(grep -o '~/tapdesk/service/kit/server/[a-z.]*' service/docs/guides/local-development.md)
cp tests/pytest_plugin/test_*.py "${copied/#\~\/tapdesk/$PWD}" "$folder/shop"
# The test of the guide, as it stands there.
sed -n '/^\*\*`test_product.py`\*\*$/,/^```$/p' service/docs/guides/local-development.md | sed '1,3d;$d' >"$folder/shop/test_product.py"
cd "$folder/shop"
PYTHONPATH="$folder/site" PYTHONDONTWRITEBYTECODE=1 TAPDESK_SERVICE="$binary" \
  "$python" -m pytest --quiet --override-ini tap_page=https://shop.example/product -p no:cacheprovider "$@"
