/** Draws the PNG icons from public/icon.svg: `node scripts/icons.mjs`. */
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const PUBLIC = new URL("../public/", import.meta.url);
const source = readFileSync(new URL("icon.svg", PUBLIC), "utf8");
/** Launchers cut a maskable icon to any shape: no corners of its own, and the mark well inside. */
const maskable = source
  .replace(' rx="14"', "")
  .replace('viewBox="0 0 64 64"', 'viewBox="-6 -6 76 76"')
  .replace('<rect width="64" height="64"', '<rect x="-6" y="-6" width="76" height="76"');

const ICONS = [
  { name: "icon-192.png", size: 192, svg: source },
  { name: "icon-512.png", size: 512, svg: source },
  { name: "icon-maskable-512.png", size: 512, svg: maskable },
  { name: "apple-touch-icon.png", size: 180, svg: maskable },
];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
for (const { name, size, svg } of ICONS) {
  const page = await browser.newPage({ viewport: { width: size, height: size } });
  const url = `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
  await page.setContent(`<style>body{margin:0}</style><img src="${url}" width="${size}">`);
  await page.screenshot({ path: new URL(name, PUBLIC).pathname, omitBackground: true });
  await page.close();
}
await browser.close();
