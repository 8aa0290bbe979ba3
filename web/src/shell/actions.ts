import { tick } from "svelte";
import { panels, route } from "$/state/page";
import { focusComposer } from "$/state/panels.svelte";

/** An empty page to write on; the session itself is made by the first prompt. */
export function newSession(): void {
  route.go("/");
  panels.closeSheets();
  void tick().then(focusComposer);
}
