/** HTML is cleaned by the browser's own parser, so this runs in a real one. */

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const CHROMIUM = process.env["CHROMIUM"] || "/usr/bin/chromium";
const SRC = fileURLToPath(new URL("../../../src", import.meta.url));
const ENTRY = fileURLToPath(new URL("./safe.entry.ts", import.meta.url));

interface Cleaners {
  safe(html: string): string;
  shown(markdown: string): string;
  hurt?: boolean;
}

async function bundled(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "silent",
    plugins: [svelte()],
    resolve: { alias: { $: SRC } },
    build: {
      write: false,
      lib: { entry: ENTRY, formats: ["iife"], name: "entry" },
      rollupOptions: { output: { codeSplitting: false } },
    },
  });
  const outputs = Array.isArray(built) ? built : [built];
  const chunks = outputs.flatMap((one) => ("output" in one ? one.output : []));
  return chunks.map((chunk) => (chunk.type === "chunk" ? chunk.code : "")).join("\n");
}

describe.skipIf(!existsSync(CHROMIUM))("what an answer may show", () => {
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    const code = await bundled();
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    });
    page = await browser.newPage();
    await page.setContent("<main></main>");
    await page.addScriptTag({ content: code });
  }, 60_000);

  afterAll(() => browser?.close());

  const safe = (html: string) =>
    page.evaluate((given) => (window as unknown as Cleaners).safe(given), html);
  const shown = (markdown: string) =>
    page.evaluate((given) => (window as unknown as Cleaners).shown(given), markdown);

  /** Puts it on the page and looks whether anything of it ran. */
  const hurts = (html: string) =>
    page.evaluate(async (given) => {
      const all = window as unknown as Cleaners;
      all.hurt = false;
      const main = document.querySelector("main");
      if (main) main.innerHTML = all.safe(given);
      for (const link of document.querySelectorAll("a")) link.click();
      await new Promise((done) => setTimeout(done, 30));
      return all.hurt;
    }, html);

  test.each([
    "<script>window.hurt = true</script>",
    '<img src="x" onerror="window.hurt = true">',
    "<img src=data:image/png;base64,AA onerror=window.hurt=true>",
    '<a href="javascript:window.hurt = true">x</a>',
    '<a href="java&#10;script:window.hurt=true">x</a>',
    "<svg><script>window.hurt = true</script></svg>",
    "<svg/onload=window.hurt=true>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.hurt=true>",
    '<iframe srcdoc="<script>parent.hurt = true</script>"></iframe>',
    "<details open ontoggle=window.hurt=true><summary>x</summary></details>",
    "<form action=javascript:window.hurt=true><button autofocus onfocus=window.hurt=true>",
    "<noscript><p title='</noscript><img src=x onerror=window.hurt=true>'>",
    "<template><img src=x onerror=window.hurt=true></template>",
    "<style>@import 'javascript:window.hurt=true'</style>",
  ])("%s does nothing", async (html) => {
    expect(await hurts(html)).toBe(false);
    expect(await safe(html)).not.toMatch(
      /onerror|onload|ontoggle|onfocus|javascript:|<script|<style/i,
    );
  });

  test("nothing can look like the page or reach into it", async () => {
    const html = '<div class="actions" id="app" style="position:fixed" data-x="1" name="y">x</div>';
    expect(await safe(html)).toBe("<div>x</div>");
    expect(await safe("<input><button>x</button><form>y</form>")).toBe("xy");
  });

  test("links open elsewhere and tell nothing", async () => {
    expect(await shown("[a](https://example.org/x)")).toBe(
      '<a href="https://example.org/x" target="_blank" rel="noopener noreferrer nofollow">a</a>',
    );
    for (const href of [
      "/settings",
      "src/a.py",
      "#top",
      "javascript:alert(1)",
      "data:text/html,x",
    ]) {
      expect(await shown(`[a](${href})`)).toBe("<a>a</a>");
    }
  });

  test("images of other hosts are links", async () => {
    expect(await shown("![a cat](https://example.org/cat.png)")).toMatch(
      /^<a href="https:\/\/example\.org\/cat\.png"[^>]*>a cat<\/a>$/,
    );
    expect(
      await safe('<img src="//example.org/x.png" srcset="https://example.org/y">'),
    ).not.toContain("<img");
    expect(await shown("![](/api/files/fil_1)")).toContain('<img src="/api/files/fil_1"');
    expect(await shown("![](/api/sessions)")).not.toContain("<img");
  });

  test("a formula is put into text only, whatever the text looks like", async () => {
    const tricky = `$x$ <img alt='<code class="math-slot" title="inline">y</code>'> "><b>`;
    expect(await shown(tricky)).not.toMatch(/alt="[^"]*<math/);
    expect(await shown("$x<y$ \u{F0000}")).toMatch(/<math|<code class="formula">x&lt;y<\/code>/);
    expect(await shown("$\\text{<img src=x onerror=window.hurt=true>}$")).not.toContain("<img");
  });
});
