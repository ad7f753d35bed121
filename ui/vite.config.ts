import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [svelte()],
  // The window's strict content security policy allows no inline module preloads.
  build: {
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    // The kiosk is a page of its own, without the owner's screens in it.
    rollupOptions: { input: ["index.html", "kiosk.html"] },
  },
  server: { port: 5173, strictPort: true },
  clearScreen: false,
  test: { include: ["src/**/*.test.ts"] },
});
