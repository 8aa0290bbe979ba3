import { svelte } from "@sveltejs/vite-plugin-svelte";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { packed } from "./packed.ts";

/** `TENUTO_URL=http://127.0.0.1:8383 npm run dev` serves the page beside a running server. */
const server = process.env["TENUTO_URL"] ?? "http://127.0.0.1:8383";
const toServer = {
  target: server,
  changeOrigin: true,
  headers: { origin: server },
};

export default defineConfig({
  plugins: [svelte(), packed()],
  resolve: { alias: { $: fileURLToPath(new URL("./src", import.meta.url)) } },
  base: "/",
  worker: { format: "es" },
  build: {
    outDir: "../src/tenuto/api/page",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    // Small files as data: addresses would be against the page's rules for fonts and workers.
    assetsInlineLimit: 0,
  },
  server: {
    host: "127.0.0.1",
    proxy: { "/api": toServer, "/login": toServer, "/docs": toServer, "/openapi.json": toServer },
  },
});
