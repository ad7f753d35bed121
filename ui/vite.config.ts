import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [svelte()],
  // The window's strict content security policy allows no inline module preloads.
  build: {
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    // The kiosk is a page of its own, without the owner's screens in it.
    rolldownOptions: {
      input: ["index.html", "kiosk.html"],
      // Otherwise a screen is a hundred small files, and to fetch one costs more than to read it. No
      // group imports a later one, so the styles of all elements come before those of components.
      output: {
        strictExecutionOrder: true,
        codeSplitting: {
          groups: [
            { name: "base", test: /\/src\/app\.css|\/@fontsource/, priority: 2 },
            { name: "vendor", test: /\/node_modules\//, priority: 1 },
            { name: "lib", test: /\/src\/lib\// },
          ],
        },
      },
    },
  },
  // The examples of service/deploy are shown on a screen.
  server: { port: 5173, strictPort: true, fs: { allow: [".."] } },
  clearScreen: false,
});
