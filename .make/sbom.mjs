// What is shipped: bills of materials (CycloneDX 1.6) in target/sbom, and licences for the screens.
// Works offline, by `cargo metadata` and `npm sbom`; a tool of its own would be compiled on every
// machine to say what these know.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const run = (command, args, options = {}) =>
  execFileSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28, ...options });

const host = run("rustc", ["-vV"]).match(/^host: (.*)$/m)[1];
const { packages, resolve } = JSON.parse(
  run("cargo", ["metadata", "--locked", "--format-version=1", `--filter-platform=${host}`]),
);
const byId = new Map(packages.map((one) => [one.id, one]));
const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
const shipped = packages.filter(({ name, source }) => !source && ["tapdesk", "tapdesk-service"].includes(name));

// What is linked into these programs: neither what tests need, nor what only builds.
function linked(programs) {
  const reached = new Set(programs.map(({ id }) => id));
  for (const id of reached) {
    for (const { pkg, dep_kinds } of nodes.get(id).deps) {
      if (dep_kinds.some(({ kind }) => kind === null)) reached.add(pkg);
    }
  }
  return reached;
}

const purl = ({ name, version }) => `pkg:cargo/${name}@${version}`;
const checksums = new Map(
  [...readFileSync("Cargo.lock", "utf8").matchAll(/name = "(.+)"\nversion = "(.+)"\nsource = .*\nchecksum = "(.+)"/g)].map(
    ([, name, version, sum]) => [`${name}@${version}`, sum],
  ),
);
const component = (one) => {
  const sum = checksums.get(`${one.name}@${one.version}`);
  return {
    type: shipped.includes(one) ? "application" : "library",
    "bom-ref": purl(one),
    name: one.name,
    version: one.version,
    purl: purl(one),
    ...(one.license && { licenses: [{ expression: one.license.replaceAll("/", " OR ") }] }),
    ...(sum && { hashes: [{ alg: "SHA-256", content: sum }] }),
  };
};
const cratesOf = (reached) => [...reached].map((id) => byId.get(id)).sort((a, b) => purl(a).localeCompare(purl(b)));
function bill(reached, name) {
  const crates = cratesOf(reached);
  const main = crates.find((one) => one.name === name);
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: component(main) },
    components: crates.filter((one) => one !== main).map(component),
    dependencies: crates.map((one) => ({
      ref: purl(one),
      dependsOn: nodes
        .get(one.id)
        .deps.filter(({ pkg, dep_kinds }) => reached.has(pkg) && dep_kinds.some(({ kind }) => kind === null))
        .map(({ pkg }) => purl(byId.get(pkg))),
    })),
  };
}
const all = linked(shipped);
const bom = bill(all, "tapdesk");
// The packages of the service contain nothing of the desktop.
const ofService = linked(shipped.filter(({ name }) => name === "tapdesk-service"));
const npm = JSON.parse(run("npm", ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--omit", "dev"], { cwd: "ui" }));

mkdirSync("target/sbom", { recursive: true });
const write = (path, json) => writeFileSync(path, `${JSON.stringify(json, null, 2)}\n`);
write("target/sbom/tapdesk.cdx.json", bom);
write("target/sbom/tapdesk-service.cdx.json", bill(ofService, "tapdesk-service"));
write("target/sbom/screens.cdx.json", npm);

const licenceOf = ({ licenses = [] }) => licenses.map(({ expression, license }) => expression ?? license.id ?? license.name).join(" AND ");
const row = (one) => [one.group ? `${one.group}/${one.name}` : one.name, one.version, licenceOf(one)];
// Crates of this workspace have no source.
const others = cratesOf(all).filter(({ source }) => source).map(component);
const rows = [...others, ...npm.components].map(row);
const lines = rows.sort(([a], [b]) => a.localeCompare(b)).map((one) => `  ${JSON.stringify(one)}`);
writeFileSync("ui/src/routes/settings/about/licences.json", `[\n${lines.join(",\n")}\n]\n`);
console.log(`sbom: ${bom.components.length} crates, ${npm.components.length} packages of the screens`);
