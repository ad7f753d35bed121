import { expect, test } from "vitest";
import { codeOf, languages, type Call } from "./calls";

const url = "http://127.0.0.1:8787/v2/interactions";
const payload: Call = { url: `${url}/rk_payload`, query: { rk: "a+b/c=" } };
const update: Call = { url: `${url}/data`, body: { rolling_key: "a+b/c=", data: { registered: "true" } } };
const unknown = { variable: "RK" };

test("a request with a query", () => {
  expect(codeOf(payload, "curl")).toBe(`curl -sS -G 'http://127.0.0.1:8787/v2/interactions/rk_payload' \\
  --data-urlencode 'rk=a+b/c='`);
  expect(codeOf(payload, "javascript")).toBe(`const query = new URLSearchParams({ rk: "a+b/c=" });
const response = await fetch("http://127.0.0.1:8787/v2/interactions/rk_payload" + "?" + query);
console.log(await response.text());`);
  expect(codeOf(payload, "python")).toBe(`import urllib.error
import urllib.parse
import urllib.request

query = urllib.parse.urlencode({"rk": "a+b/c="})
request = urllib.request.Request("http://127.0.0.1:8787/v2/interactions/rk_payload" + "?" + query)
try:
    answer = urllib.request.urlopen(request)
except urllib.error.HTTPError as refused:
    answer = refused
print(answer.read().decode())`);
  expect(codeOf(payload, "php")).toBe(`<?php
$query = http_build_query(['rk' => 'a+b/c=']);
echo file_get_contents('http://127.0.0.1:8787/v2/interactions/rk_payload' . '?' . $query);`);
});

test("a request with a body", () => {
  expect(codeOf(update, "curl")).toBe(`curl -sS 'http://127.0.0.1:8787/v2/interactions/data' \\
  -H 'Content-Type: application/json' \\
  -d '{"rolling_key": "a+b/c=", "data": {"registered": "true"}}'`);
  expect(codeOf(update, "javascript")).toBe(`const response = await fetch("http://127.0.0.1:8787/v2/interactions/data", {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ rolling_key: "a+b/c=", data: { registered: "true" } }),
});
console.log(await response.text());`);
  expect(codeOf(update, "python")).toBe(`import json
import urllib.error
import urllib.request

body = json.dumps({"rolling_key": "a+b/c=", "data": {"registered": "true"}}).encode()
request = urllib.request.Request("http://127.0.0.1:8787/v2/interactions/data", body, {"Content-Type": "application/json"})
try:
    answer = urllib.request.urlopen(request)
except urllib.error.HTTPError as refused:
    answer = refused
print(answer.read().decode())`);
  expect(codeOf(update, "php")).toBe(`<?php
$context = stream_context_create(['http' => [
    'method' => 'POST',
    'ignore_errors' => true,
    'header' => 'Content-Type: application/json',
    'content' => json_encode(['rolling_key' => 'a+b/c=', 'data' => ['registered' => 'true']]),
]]);
echo file_get_contents('http://127.0.0.1:8787/v2/interactions/data', false, $context);`);
});

test("a key that the window does not know comes from the environment", () => {
  const read: Call = { url, query: { rk: unknown } };
  const write: Call = { url, body: { rolling_key: unknown, data: { registered: "true" } } };
  expect(codeOf(read, "curl")).toContain(`--data-urlencode 'rk='"$RK"`);
  expect(codeOf(write, "curl")).toContain(`-d '{"rolling_key": "'"$RK"'", "data": {"registered": "true"}}'`);
  for (const call of [read, write]) {
    expect(codeOf(call, "javascript")).toContain("process.env.RK");
    expect(codeOf(call, "python")).toContain(`import os\n`);
    expect(codeOf(call, "python")).toContain(`os.environ["RK"]`);
    expect(codeOf(call, "php")).toContain("getenv('RK')");
  }
});

const names = { "it's": "</script>", "a-b": `"\\$x` };
const hostile: Call = { url: "http://h/'$(x)\"", body: { data: { ...names, ["__proto__"]: "1", "7": "\n" } } };

test("names and values are data in each language", () => {
  const last = (language: Parameters<typeof codeOf>[1], start: string) =>
    codeOf(hostile, language)
      .split("\n")
      .find((line) => line.trimStart().startsWith(start))
      ?.trim();
  expect(last("curl", "curl")).toBe(`curl -sS 'http://h/'\\''$(x)"' \\`);
  expect(last("curl", "-d")).toBe(`-d '{"data": {"7": "\\n", "it'\\''s": "</script>", "a-b": "\\"\\\\$x", "__proto__": "1"}}'`);
  expect(last("javascript", "body")).toBe(
    `body: JSON.stringify({ data: { "7": "\\n", "it's": "\\u003c/script>", "a-b": "\\"\\\\$x", ["__proto__"]: "1" } }),`,
  );
  expect(last("python", "body")).toBe(
    `body = json.dumps({"data": {"7": "\\n", "it's": "</script>", "a-b": "\\"\\\\$x", "__proto__": "1"}}).encode()`,
  );
  expect(last("php", "'content'")).toBe(
    `'content' => json_encode(['data' => (object) ['7' => "\\n", 'it\\'s' => '</script>', 'a-b' => '"\\\\$x', '__proto__' => '1']]),`,
  );
});

test("each language has a name", () => {
  expect(languages.map((language) => language.name)).toEqual(["cURL", "JavaScript", "Python", "PHP"]);
});
