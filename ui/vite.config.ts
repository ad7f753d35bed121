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
    rollupOptions: { input: ["index.html", "kiosk.html"] },
  },
  // The examples of service/deploy are shown on a screen.
  server: { port: 5173, strictPort: true, fs: { allow: [".."] } },
  clearScreen: false,
});
