import { vitePreprocess } from "@sveltejs/vite-plugin-svelte";
import { readFileSync } from "node:fs";

const BREAKPOINTS = JSON.parse(
  readFileSync(new URL("./src/styles/breakpoints.json", import.meta.url), "utf8"),
);

/** `@media (--small)`: browsers know no names for widths, so each is written out here. */
const breakpoints = {
  style: ({ content }) => ({
    code: content.replace(/(?<=@media[^{]*)\(--(\w+)\)/g, (_, name) => {
      if (!(name in BREAKPOINTS)) throw new Error(`There is no breakpoint "${name}".`);
      return `(max-width: ${BREAKPOINTS[name]})`;
    }),
  }),
};

export default {
  preprocess: [breakpoints, vitePreprocess()],
  compilerOptions: { runes: true },
};
