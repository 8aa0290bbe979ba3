import { expect, test } from "vitest";
import { faultsOf } from "../../../scripts/layers";

function sources(files: Record<string, string>): Map<string, string> {
  return new Map(Object.entries(files));
}

test("a room may know those below it", () => {
  const files = sources({
    "shell/Shell.svelte": `<script lang="ts">import Pad from "$/composer/Pad.svelte";</script>`,
    "composer/Pad.svelte": `<script lang="ts">import { app } from "$/state/app.svelte";</script>`,
    "state/app.svelte.ts": `import { link } from "$/link/link";\nimport { tick } from "svelte";`,
    "link/link.ts": "",
  });
  expect(faultsOf(files)).toEqual([]);
});

test("a room may not know one above it, not even for a type, and not when it is fetched later", () => {
  const files = sources({
    "ui/menu.ts": `import type { App } from "$/state/app.svelte";`,
    "state/app.svelte.ts": `const page = () => import("$/shell/Shell.svelte");`,
    "shell/Shell.svelte": "<p>hello</p>",
  });
  expect(faultsOf(files)).toEqual([
    "ui/menu.ts may not know state/app.svelte.ts: state is not below ui",
    "state/app.svelte.ts may not know shell/Shell.svelte: shell is not below state",
  ]);
});

test("rooms side by side do not know each other", () => {
  const files = sources({
    "settings/Models.svelte": `<script module>export * from "$/usage/tally";</script>`,
    "usage/tally.ts": "",
  });
  expect(faultsOf(files)).toEqual([
    "settings/Models.svelte may not know usage/tally.ts: usage is not below settings",
  ]);
});

test("files of one room do not go round in a circle", () => {
  const files = sources({
    "fold/a.ts": `import { b } from "./b";`,
    "fold/b.ts": `import { c } from "$/fold/c";`,
    "fold/c.ts": `import type { A } from "./a";`,
  });
  expect(faultsOf(files)).toEqual(["a circle: fold/a.ts → fold/b.ts → fold/c.ts → fold/a.ts"]);
});

test("a component may show itself inside itself", () => {
  const files = sources({
    "markdown/Block.svelte": `<script>import Block from "./Block.svelte";</script><Block />`,
  });
  expect(faultsOf(files)).toEqual([]);
});

test("a new room needs a layer", () => {
  expect(faultsOf(sources({ "attic/box.ts": "" }))).toEqual([
    "attic/box.ts is in a room without a layer",
  ]);
});
