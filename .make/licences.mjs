// Checks the licence of every crate that goes into a build on this machine: each
// needs one that this list allows. Works offline, by `cargo metadata`.
import { execFileSync } from "node:child_process";

const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "Apache-2.0 WITH LLVM-exception",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CDLA-Permissive-2.0", // webpki-roots: the root certificates, which are data
  "ISC",
  "MIT",
  "MPL-2.0", // copyleft by file: its sources are used as they are published
  "Unicode-3.0",
  "Unlicense",
  "Zlib",
]);

// Whether an SPDX expression can be satisfied from the list. `OR` binds weaker
// than `AND` (SPDX 2.3, annex D.4); crates from before SPDX write `/` for `OR`.
function satisfied(expression) {
  const tokens = expression
    .replaceAll("/", " OR ")
    .replaceAll(" WITH ", "_WITH_")
    .match(/[()]|[^\s()]+/g);
  let at = 0;
  const accept = (token) => tokens[at] === token && ++at > 0;
  const either = () => {
    let value = both();
    while (accept("OR")) value = both() || value;
    return value;
  };
  const both = () => {
    let value = one();
    while (accept("AND")) value = one() && value;
    return value;
  };
  const one = () => {
    if (!accept("(")) return ALLOWED.has(tokens[at++]?.replace("_WITH_", " WITH "));
    const value = either();
    return accept(")") && value;
  };
  return either() && at === tokens.length;
}

const run = (command, ...args) =>
  execFileSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28 });
const host = run("rustc", "-vV").match(/^host: (.*)$/m)[1];
const { packages } = JSON.parse(
  run("cargo", "metadata", "--locked", "--format-version=1", `--filter-platform=${host}`),
);

const refused = packages.filter(({ license }) => !satisfied(license ?? "none"));
for (const { name, version, license } of refused) {
  console.error(`${name} ${version}: the licence "${license ?? "none"}" is not allowed`);
}
console.log(`licences: ${packages.length} crates, ${refused.length} refused`);
process.exit(refused.length ? 1 : 0);
