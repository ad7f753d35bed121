#!/usr/bin/env bash
# Stands in for a server on the internet: machine.sh FOLDER PROGRAM. FOLDER has one file for each step of the
# guides, with its commands: install, serve, prove, try. It runs as root in namespaces of its own for mounts,
# network and processes. The server is a copy of this machine that keeps nothing. It has an address and ports
# 80 and 443, and Pebble is its authority.
set -euo pipefail
folder=$1 program=$2
repository=$(cd "$(dirname "$0")/../../.." && pwd)
address=203.0.113.7
domain=tags.example.com
authority=$folder/authority

mkdir "$folder/machine"
mount -t tmpfs -o mode=755 machine "$folder/machine"
mkdir "$folder"/machine/{changes,work,root}
root=$folder/machine/root
mount -t overlay -o "lowerdir=/,upperdir=$folder/machine/changes,workdir=$folder/machine/work" machine "$root"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t tmpfs run "$root/run"
# An installation of this machine is not that of the test.
rm -rf "$root"/{etc,var/lib}/tapdesk "$root"/etc/systemd/system/tapdesk-service.*
ip link set lo up
ip address add "$address/32" dev lo
printf '127.0.0.1 localhost\n%s %s\n' "$address" "$domain" >"$root/etc/hosts"

# The authority looks names up, and opens ports 80 and 443 of the address that they have.
mkdir "$authority"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority \
  -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE -keyout "$authority/key.pem" -out "$authority/host.pem" 2>/dev/null
cat >"$authority/pebble.json" <<JSON
{"pebble": {
  "listenAddress": "127.0.0.1:14000", "managementListenAddress": "127.0.0.1:15000", "httpPort": 80, "tlsPort": 443,
  "certificate": "$authority/host.pem", "privateKey": "$authority/key.pem", "ocspResponderURL": ""
}}
JSON
pebble-challtestsrv -http01 '' -https01 '' -tlsalpn01 '' -defaultIPv4 '' -defaultIPv6 '' \
  -dns01 127.0.0.1:8053 -management 127.0.0.1:8055 >"$authority/names.log" 2>&1 &
PEBBLE_VA_NOSLEEP=1 PEBBLE_WFE_NONCEREJECT=50 pebble -config "$authority/pebble.json" -dnsserver 127.0.0.1:8053 \
  >"$authority/log" 2>&1 &
again=(curl -sS --noproxy '*' --retry 50 --retry-delay 1 --retry-connrefused --fail)
"${again[@]}" --data "{\"host\": \"$domain\", \"addresses\": [\"$address\"]}" http://127.0.0.1:8055/add-a
# Whoever opens the server trusts this authority like a public one.
"${again[@]}" --cacert "$authority/host.pem" https://127.0.0.1:15000/roots/0 >>"$root/etc/ssl/certs/ca-certificates.crt"

install -m 644 "$authority/host.pem" "$root/etc/authority.pem"

# The service, as its archive has it.
tree=$folder/machine/tree
install -D -s -m 755 "$program" "$tree/usr/bin/tapdesk-service"
install -D -m 644 "$repository/service/deploy/tapdesk-service.service" -t "$tree/usr/lib/systemd/system"
install -D -m 644 "$repository/service/deploy/package/sysusers.conf" "$tree/usr/lib/sysusers.d/tapdesk-service.conf"
install -D -m 600 "$repository/service/deploy/tapdesk-service.env" -t "$tree/etc/tapdesk"
tar --owner=0 --group=0 -C "$tree" -c etc usr | gzip -1 >"$root/root/tapdesk-service-0.1.0-static.tar.gz"
install -m 755 "$repository/.make/systemctl" "$root/usr/bin/systemctl"

# in_root COMMAND...: runs it on the server.
in_root() { chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"; }
# step NAME: runs the commands of a step as root pastes them into a shell.
step() {
  echo "== $1"
  { echo "cd /root"; cat "$folder/$1"; } >"$root/root/$1"
  in_root bash -euo pipefail "/root/$1" || { tail -n 50 "$root/var/log/tapdesk-service.log" "$authority/log" >&2; exit 1; }
  echo
}
step install
# The authority is another one than Let's Encrypt, which the guide provides for.
cat >>"$root/etc/tapdesk/tapdesk-service.env" <<ENV
TAPDESK_ACME_DIRECTORY=https://127.0.0.1:14000/dir
TAPDESK_ACME_CA=/etc/authority.pem
ENV
if [ ! -e /proc/net/if_inet6 ]; then
  printf 'TAPDESK_%s\n' HTTPS_LISTEN=0.0.0.0:443 HTTP_LISTEN=0.0.0.0:80 >>"$root/etc/tapdesk/tapdesk-service.env"
fi
step serve
step prove
step try

# A visitor, who follows what the last step printed.
echo "== visitor"
open() { in_root curl -sS -o /dev/null "$@"; }
tapped=$(in_root bash -c 'set -a; . /etc/tapdesk/tapdesk-service.env; cd /; runuser -u tapdesk -- tapdesk-service tap demo-bottle')
echo "URL $tapped"
answer=$(open -w '%{http_code} %header{strict-transport-security} %{redirect_url}' "$tapped")
echo "tap $answer"
key=$(printf %s "${answer##*rk=}" | base64)
echo "payload $(in_root curl -sS --get --data-urlencode "rk=$key" "https://$domain/v2/interactions/rk_payload")"
open -w 'http %{http_code} %{redirect_url}\n' "http://$domain/t/demo-bottle?a=1"
open -w 'admin %{http_code}\n' "https://$domain/admin/v1/tags"
echo "process $(grep -E '^(Uid|CapEff):' "$root/proc/$(cat "$root/run/tapdesk-service.pid")/status" | tr '\t\n' '  ')"
