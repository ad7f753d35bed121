// What is wrong in the screens' code beside its types: the recommended rules, and prettier's
// for its look.

import { fileURLToPath } from "node:url";
import js from "@eslint/js";
import { createNodeResolver, importX } from "eslint-plugin-import-x";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";
import svelteConfig from "./svelte.config.js";

/** Refuses imports that match an expression. */
const restricted = (regex, message) => ({ "no-restricted-imports": ["error", { patterns: [{ regex, message }] }] });
const NO_ROUTE = "A route does not import another one. Move the shared part to a folder of src/lib.";

export default ts.config(
  { ignores: ["dist/", "src/lib/api/schema.d.ts"] },
  js.configs.recommended,
  ts.configs.recommended,
  svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  {
    rules: {
      // A name that begins with _ says that it is taken and not used.
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", destructuredArrayIgnorePattern: "^_" },
      ],
      // Sets, maps and dates are replaced as a whole, in $state.raw, or never shown.
      "svelte/prefer-svelte-reactivity": "off",
    },
  },
  {
    plugins: { "import-x": importX },
    settings: {
      "import-x/extensions": [".ts", ".svelte"],
      "import-x/parsers": {
        "@typescript-eslint/parser": [".ts"],
        [fileURLToPath(import.meta.resolve("./scripts.eslint.js"))]: [".svelte"],
      },
      "import-x/resolver-next": [createNodeResolver({ extensions: [".ts", ".svelte", ".js", ".json"] })],
    },
    rules: { "import-x/no-cycle": "error" },
  },
  // An import that leads to the folder `routes`, and not above it, leaves its own route.
  { files: ["src/routes/*/*"], rules: restricted("^\\.\\./(?!\\.\\./)", NO_ROUTE) },
  { files: ["src/routes/*/*/*"], rules: restricted("^\\.\\./\\.\\./(?!\\.\\./)", NO_ROUTE) },
  {
    files: ["src/lib/**"],
    ignores: ["**/*.test.ts"],
    rules: restricted("^[./]+/routes/", "A part that routes share does not depend on one of them."),
  },
  // So that the screens can be shown without the desktop, too.
  {
    files: ["src/**"],
    ignores: ["src/lib/shell/desktop.ts", "src/kiosk/desktop.ts"],
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector: "ImportDeclaration[source.value=/^@tauri-apps/]",
          message: "Only desktop.ts knows the shell. Add a function there.",
        },
      ],
    },
  },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: [".svelte"], svelteConfig } },
  },
);
