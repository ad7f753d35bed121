// Programs that open links, from well-kept sources: `node .make/preview-agents.mjs` writes
// service/data/link-preview-agents.generated.txt and tests/vectors/user-agents.generated.txt.
// Needs npm and a network; a build reads the files that are committed.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

// Pinned: another version is another list, to be looked through.
const PACKAGES = {
  "crawler-user-agents": { version: "1.60.0", licence: "MIT", by: "Martin Monperrus" },
  isbot: { version: "5.2.3", licence: "Unlicense", by: "Omri Lotan" },
  "user-agents": { version: "2.1.198", licence: "BSD-2-Clause", by: "Intoli, LLC" },
};

// Entries of crawler-user-agents that are browsers: two in-app browsers (an app's name, an
// Android build), the browsers inside of two editors, and one that makes a site an application.
const PEOPLE = new Set([
  "MetaIAB Facebook",
  "AP3A\\.240617\\.008",
  "Code\\/1\\.",
  "Trae\\/",
  "Fluid",
]);
// HTTP libraries, command-line tools and remote-controlled browsers with which developers tap.
const TOOLS = new Set([
  "[wW]get",
  "Python-urllib",
  "python-requests",
  "aiohttp",
  "httpx",
  "libwww-perl",
  "Go-http-client",
  "okhttp",
  "AHC\\/",
  "^Apache-HttpClient",
  "axios",
  "HttpUrlConnection",
  "HeadlessChrome",
  "^curl",
  "^PHP-Curl-Class",
  "node-fetch",
  "sindresorhus\\/got",
  "Playwright",
  "Puppeteer",
  "Selenium",
  "PhantomJS",
  "^HTTPie\\/",
]);
// Kinds whose programs are named even if they show themselves by a sign: they open what people send.
// Of others a name inside of the header is one that an app's browser could have.
const NAMED = new Set(["social-preview", "ai-crawler"]);
// Apps with a browser of their own: their crawlers are known by a sign alone.
const APPS = new Set(["Goodreads", "mail\\.ru"]);
// How many browsers of `user-agents` are quoted: the tests are to have 600 of both kinds.
const BROWSERS = 650;

const folder = "target/preview-agents";
const wanted = Object.entries(PACKAGES).map(([name, { version }]) => `${name}@${version}`);
execFileSync(
  "npm",
  ["install", "--prefix", folder, "--no-save", "--no-package-lock", "--ignore-scripts", ...wanted],
  { stdio: ["ignore", "ignore", "inherit"] },
);
const file = (name, path) => `${folder}/node_modules/${name}/${path}`;
const json = (name, path) => JSON.parse(readFileSync(file(name, path), "utf8"));
for (const [name, { version, licence }] of Object.entries(PACKAGES)) {
  const found = json(name, "package.json");
  if (found.version !== version || found.license !== licence) {
    throw new Error(`${name} is ${found.version}, ${found.license}`);
  }
}
const entries = json("crawler-user-agents", "crawler-user-agents.json");
const { isbot } = await import(pathToFileURL(file("isbot", "index.mjs")));

// The rules of service/crates/domain/src/visitor/user_agent.rs.
const isWord = (char) => char !== undefined && /[a-z0-9]/i.test(char);
const isEdge = (text, at) => !(isWord(text[at - 1]) && isWord(text[at]));
function shows(rule, agent) {
  const token = rule.replace(/^[!^*]/, "").toLowerCase();
  const text = agent.toLowerCase();
  for (let at = text.indexOf(token); at >= 0; at = text.indexOf(token, at + 1)) {
    const begins = rule[0] === "^" ? at === 0 : rule[0] === "*" || isEdge(text, at);
    if (begins && isEdge(text, at + token.length)) return true;
  }
  return false;
}
const rules = (path) =>
  readFileSync(path, "utf8")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line && !line.startsWith("#"));
const isSign = (rule) => rule.startsWith("*") || rule === "://";
const byHand = rules("service/data/link-preview-agents.txt");
const signs = byHand.filter(isSign);
const exempt = byHand.filter((rule) => rule.startsWith("!"));
const names = byHand.filter((rule) => !isSign(rule) && !rule.startsWith("!"));
const any = (list, agent) => list.some((rule) => shows(rule, agent));
const isKnown = (agent) =>
  any(names, agent) || (any(signs, agent) && !any(exempt, agent));

const clean = (agent) => agent.replace(/\s+/g, " ").trim();
function corpus(path) {
  let kind = "";
  const rows = [];
  for (const line of rules(path)) {
    const group = line.match(/^\[(preview|person|tool)\] /);
    if (group) kind = group[1];
    else rows.push([kind, line]);
  }
  return rows;
}
const quoted = corpus("tests/vectors/user-agents.txt");
const seen = new Set(quoted.map(([, agent]) => agent));
const fresh = (agent) => !seen.has(agent) && Boolean(seen.add(agent));
// Printable ASCII: a header takes no more without escaping.
const isPlain = (agent) => /^[\x20-\x7e]+$/.test(agent) && !agent.startsWith("#");

// What is quoted of each entry, with its kind.
const groups = { preview: [], person: [], tool: [] };
const programs = [];
for (const entry of entries) {
  const agents = [...new Set(entry.instances.map(clean))].filter(isPlain);
  const kind = PEOPLE.has(entry.pattern) ? "person" : TOOLS.has(entry.pattern) ? "tool" : "preview";
  // Programs that name themselves before their library are of no kind that is known here.
  const isTool = (agent) => !/check|chkr|monitor/i.test(agent) && (!any(signs, agent) || any(exempt, agent));
  const rows = kind === "tool" ? agents.filter(isTool) : agents;
  if (kind === "preview") programs.push([entry, rows]);
  // Of programs that nobody sends links to, one is quoted: the tests open each.
  const isNamed = kind !== "preview" || entry.tags.some((tag) => NAMED.has(tag));
  groups[kind].push(...(isNamed ? rows : rows.slice(0, 1)).filter(fresh));
}
const browsers = [...new Set(json("user-agents", "dist/user-agents.json").map((row) => clean(row.userAgent)))]
  .filter(isPlain)
  .filter((agent) => !isbot(agent))
  .sort();
const step = Math.max(1, Math.floor(browsers.length / BROWSERS));
const people = [...groups.person];
const sampled = browsers.filter((_, index) => index % step === 0).slice(0, BROWSERS).filter(fresh);
people.push(...sampled, ...browsers, ...quoted.filter(([kind]) => kind === "person").map(([, agent]) => agent));

// The token by which a program is known: what the source's pattern finds, as a whole word, and at
// the beginning of the header if it stands there. One that would also name a browser is left out.
const tokens = new Set();
const leftOut = [];
for (const [entry, rows] of programs) {
  const named = entry.tags.some((tag) => NAMED.has(tag)) && !APPS.has(entry.pattern);
  for (const agent of rows) {
    const found = agent.match(new RegExp(entry.pattern));
    if (!found) continue;
    // No browser's header begins with such a name, so that one harms nobody.
    const begins = agent.slice(0, found.index).trim() === "";
    if (!named && !begins && isKnown(agent)) continue;
    let start = found.index;
    let end = start + found[0].length;
    while (!isEdge(agent, start)) start -= 1;
    while (!isEdge(agent, end)) end += 1;
    const text = agent.slice(start, end);
    start += text.length - text.trimStart().length;
    const token = agent.slice(start, end).trim().toLowerCase();
    const rule = (start === 0 ? "^" : "") + token;
    if (any(names, agent) || any([...tokens], agent)) continue;
    if (begins && any(signs, token)) continue; // the sign stays, whatever else it says
    if (token.length < 3 || people.some((person) => shows(rule, person))) leftOut.push([rule, agent]);
    else tokens.add(rule);
  }
}
const list = [...tokens].filter((rule) => !tokens.has(rule.replace(/^\^/, "")) || !rule.startsWith("^"));
list.sort();
const isPreview = (agent) => isKnown(agent) || any(list, agent);
const missed = groups.preview.filter((agent) => !isPreview(agent));
const taken = [...people, ...groups.tool].filter(isPreview);
for (const [rule, agent] of leftOut) console.error(`left out, it would name browsers: ${rule} (${agent})`);
for (const agent of missed) console.error(`not recognised: ${agent}`);
for (const agent of taken) console.error(`a person or a tool, taken for a preview: ${agent}`);

const source = (name) => {
  const { version, licence, by } = PACKAGES[name];
  return `${name} ${version} (${licence}, ${by})`;
};
writeFileSync(
  "service/data/link-preview-agents.generated.txt",
  [
    "# Made by .make/preview-agents.mjs: not to be edited. The rules are those of link-preview-agents.txt.",
    `# From ${source("crawler-user-agents")}.`,
    `# No token here names a browser of ${source("user-agents")}, or of tests/vectors/user-agents.txt.`,
    ...list,
    "",
  ].join("\n"),
);
writeFileSync(
  "tests/vectors/user-agents.generated.txt",
  [
    "# Made by .make/preview-agents.mjs: not to be edited. As user-agents.txt, with [tool] for what developers tap with.",
    "",
    `[preview] ${source("crawler-user-agents")}`,
    ...groups.preview.filter((agent) => !missed.includes(agent)),
    "",
    `[tool] ${source("crawler-user-agents")}, its HTTP libraries and remote-controlled browsers`,
    ...groups.tool,
    "",
    `[person] ${source("crawler-user-agents")}, entries that are in-app browsers and editors`,
    ...groups.person,
    "",
    `[person] ${source("user-agents")}, those that are people to ${source("isbot")}, too`,
    ...sampled,
    "",
  ].join("\n"),
);
console.log(
  `${list.length} tokens; ${groups.preview.length} previews, ${groups.tool.length} tools, ` +
    `${groups.person.length + sampled.length} people; ${missed.length} not recognised, ${taken.length} wrongly`,
);
process.exit(missed.length || taken.length ? 1 : 0);
