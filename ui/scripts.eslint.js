// The scripts of a component as one module, for import-x. It looks for imports at the top of a file,
// where the usual parser has a component's script elements.

import ts from "typescript-eslint";

/** The contents of the script elements of a component. */
const scripts = (component) => [...component.matchAll(/<script\b[^>]*>(.*?)<\/script>/gs)].map(([, script]) => script).join("\n");

export const meta = { name: "scripts", version: "1" };
export const parseForESLint = (component, options) => ts.parser.parseForESLint(scripts(component), { ...options, filePath: undefined });
