// A call of the service as code in four languages, ready to paste. Each is a whole program that prints the answer.

import { isText, javascriptText, phpText, pythonText, shellWord, type FromEnvironment, type Value } from "./text";

/** A body: members that are texts, or objects of texts. */
export type Body = Record<string, Value | Record<string, Value>>;

/** A GET request with a query, or a POST request with a JSON body. */
export type Call = { url: string } & ({ query: Record<string, Value> } | { body: Body });

export const languages = [
  { key: "curl", name: "cURL" },
  { key: "javascript", name: "JavaScript" },
  { key: "python", name: "Python" },
  { key: "php", name: "PHP" },
] as const;

export type Language = (typeof languages)[number]["key"];

type Written = (value: Value) => string;

const isValue = (member: Body[string]): member is Value =>
  isText(member as Value) || typeof (member as FromEnvironment).variable === "string";

/** An object of a language: its members, and how a name, a value and the whole are written. */
function object(
  body: Body,
  write: Written,
  member: (name: string, value: string) => string,
  whole: (members: string[], names: string[]) => string,
): string {
  const members = Object.entries(body).map(([name, value]) =>
    member(name, isValue(value) ? write(value) : object(value, write, member, whole)),
  );
  return whole(members, Object.keys(body));
}

/** Whether a member of the call is read from the environment. */
function reads(call: Call): boolean {
  const members: (Value | Record<string, Value>)[] = Object.values("query" in call ? call.query : call.body);
  return members.flatMap((member) => (isValue(member) ? [member] : Object.values(member))).some((value) => !isText(value));
}

/** JSON as a word of the shell, which fills in what its environment has. Only texts without quotes are read from there. */
function shellJson(body: Body): string {
  const parts: Value[] = [];
  const add = (text: string) => {
    const last = parts.at(-1);
    if (last !== undefined && isText(last)) parts[parts.length - 1] = last + text;
    else parts.push(text);
  };
  const write = (members: Body) => {
    add("{");
    Object.entries(members).forEach(([name, value], index) => {
      add(`${index === 0 ? "" : ", "}${JSON.stringify(name)}: `);
      if (!isValue(value)) write(value);
      else if (isText(value)) add(JSON.stringify(value));
      else {
        add('"');
        parts.push(value);
        add('"');
      }
    });
    add("}");
  };
  write(body);
  return shellWord(...parts);
}

function curl(call: Call): string {
  const lines =
    "query" in call
      ? [
          `curl -sS -G ${shellWord(call.url)}`,
          ...Object.entries(call.query).map(
            ([name, value]) => `--data-urlencode ${shellWord(...(isText(value) ? [`${name}=${value}`] : [`${name}=`, value]))}`,
          ),
        ]
      : [`curl -sS ${shellWord(call.url)}`, "-H 'Content-Type: application/json'", `-d ${shellJson(call.body)}`];
  return lines.join(" \\\n  ");
}

function javascript(call: Call): string {
  const write: Written = (value) => (isText(value) ? javascriptText(value) : `process.env.${value.variable}`);
  const name = (text: string) => {
    if (text === "__proto__") return `["__proto__"]`;
    return /^[A-Za-z_]\w*$/.test(text) ? text : javascriptText(text);
  };
  const braces = (members: Body) =>
    object(
      members,
      write,
      (key, value) => `${name(key)}: ${value}`,
      (all) => `{ ${all.join(", ")} }`,
    );
  const url = javascriptText(call.url);
  const lines =
    "query" in call
      ? [`const query = new URLSearchParams(${braces(call.query)});`, `const response = await fetch(${url} + "?" + query);`]
      : [
          `const response = await fetch(${url}, {`,
          `  method: "POST",`,
          `  headers: { "Content-Type": "application/json" },`,
          `  body: JSON.stringify(${braces(call.body)}),`,
          "});",
        ];
  return [...lines, "console.log(await response.text());"].join("\n");
}

function python(call: Call): string {
  const write: Written = (value) => (isText(value) ? pythonText(value) : `os.environ["${value.variable}"]`);
  const braces = (members: Body) =>
    object(
      members,
      write,
      (key, value) => `${pythonText(key)}: ${value}`,
      (all) => `{${all.join(", ")}}`,
    );
  const url = pythonText(call.url);
  const isQuery = "query" in call;
  return [
    ...(isQuery ? [] : ["import json"]),
    ...(reads(call) ? ["import os"] : []),
    "import urllib.error",
    ...(isQuery ? ["import urllib.parse"] : []),
    "import urllib.request",
    "",
    ...(isQuery
      ? [`query = urllib.parse.urlencode(${braces(call.query)})`, `request = urllib.request.Request(${url} + "?" + query)`]
      : [
          `body = json.dumps(${braces(call.body)}).encode()`,
          `request = urllib.request.Request(${url}, body, {"Content-Type": "application/json"})`,
        ]),
    "try:",
    "    answer = urllib.request.urlopen(request)",
    "except urllib.error.HTTPError as refused:",
    "    answer = refused",
    "print(answer.read().decode())",
  ].join("\n");
}

function php(call: Call): string {
  const write: Written = (value) => (isText(value) ? phpText(value) : `getenv('${value.variable}')`);
  const brackets = (members: Body) =>
    object(
      members,
      write,
      (key, value) => `${phpText(key)} => ${value}`,
      // PHP takes such names for numbers, and JSON would be a list.
      (all, names) => `${names.some((one) => /^(0|-?[1-9]\d*)$/.test(one)) ? "(object) " : ""}[${all.join(", ")}]`,
    );
  const url = phpText(call.url);
  if ("query" in call)
    return ["<?php", `$query = http_build_query(${brackets(call.query)});`, `echo file_get_contents(${url} . '?' . $query);`].join("\n");
  return [
    "<?php",
    "$context = stream_context_create(['http' => [",
    "    'method' => 'POST',",
    "    'ignore_errors' => true,",
    "    'header' => 'Content-Type: application/json',",
    `    'content' => json_encode(${brackets(call.body)}),`,
    "]]);",
    `echo file_get_contents(${url}, false, $context);`,
  ].join("\n");
}

const writers: Record<Language, (call: Call) => string> = { curl, javascript, python, php };

/** The call as code of a language. */
export const codeOf = (call: Call, language: Language): string => writers[language](call);
