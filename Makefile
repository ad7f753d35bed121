# The two commands of the README, `make run` and `make test`, and their parts.
# Each does its own set-up; see .make/setup for what a machine needs.
.PHONY: run test test-variants check lint clippy bench soak deb deb-test packages packages-test release reproduce sbom

# Opens the desktop; without a display, starts the service with demo data, in the foreground.
run:
	.make/setup build
	.make/run

# Every test that needs no PostgreSQL, once, at short lengths.
test:
	.make/setup build desktop test
	.make/test

# The tests of PostgreSQL, and others once more: on it, with URL templates, in other sizes and themes, with generated requests.
test-variants:
	.make/setup build desktop test
	.make/test-variants

# Both at long lengths; well over half an hour.
soak: export TAPDESK_TEST_LENGTH = soak
soak:
	.make/setup build desktop test soak
	status=0; .make/test || status=1; .make/test-variants || status=1; exit $$status

# Asking for examples gives the dependencies the features that clippy checked them
# with, for its tests; without, 160 crates are checked again.
AS_TESTS := --lib --examples

# What a change must pass beside the tests.
check: lint clippy

# The part that compiles nothing, in about a minute.
lint:
	.make/setup build desktop lint
	cargo fmt --all -- --check
	node .make/licences.mjs
	.make/deny
	cd ui && npm run check

# The part that compiles everything once more.
clippy:
	.make/setup build desktop lint
	cargo clippy --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps $(AS_TESTS)

# What is shipped, as CycloneDX in target/sbom, and its licences for the screen "About".
sbom:
	.make/setup build
	node .make/sbom.mjs

# Packages of the desktop in target/release/bundle, for Debian and Fedora; about ten minutes.
deb:
	.make/setup build desktop deb
	.make/deb

# Installs what `make deb` made, in a Debian of its own; as root, three minutes.
deb-test:
	.make/setup build packages packages_test
	.make/test-desktop

# Packages of the service in target/packages, for Debian and Fedora, and without a system; twenty minutes.
packages:
	.make/setup build packages
	.make/packages

# Installs what `make packages` made, by the commands of the guide; as root, three minutes.
packages-test:
	.make/setup build packages packages_test
	.make/test-packages

# A release of the last commit in target/releases; half an hour. MINISIGN_KEY names the key that signs it.
release:
	.make/setup build desktop deb packages release
	.make/release

# Builds the packages of the service twice, in two folders, and compares them; over an hour.
reproduce:
	.make/setup build packages
	.make/reproduce

# Ratios of the service to a bare answer of the same size, ten to twenty minutes and 10 GB of disk; then what the desktop costs.
# `make bench CASE=tap` measures one case of the service; CASE=redirector needs TAPDESK_BENCH_REDIRECTOR,
# the path of a chhoto-url binary, and is skipped without it.
bench:
	.make/setup build desktop test
	cargo bench --locked -p tapdesk-service --bench service -- $(CASE)
	$(if $(CASE),,cargo bench --locked -p tapdesk --bench desktop)
