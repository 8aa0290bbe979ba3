import { app, panels, route } from "$/state/page";
import { newSession } from "./actions";
import { neighbour, rowsOf } from "./groups";
import { focusComposer } from "$/state/panels.svelte";
import type { Shortcut } from "$/ui/shortcuts";

/** The keys of the frame. Those of the composer and the conversation are added by them. */
export function frameShortcuts(): Shortcut[] {
  const group = "Anywhere";
  return [
    { keys: "Mod-K", does: "Find sessions, actions, models", group, run: palette },
    { keys: "Mod-Shift-O", does: "New session", group, run: newSession },
    { keys: "Mod-/", does: "Write a prompt", group, run: focusComposer },
    {
      keys: "Mod-B",
      does: "Show or hide the sidebar",
      group,
      run: () => (panels.sidebar = !panels.sidebar),
    },
    {
      keys: "Mod-I",
      does: "Show or hide the details",
      group,
      run: () => (panels.details = !panels.details),
    },
    { keys: "?", does: "This help", group, run: () => (panels.help = true) },
    { keys: "Alt-ArrowUp", does: "Previous session", group: "Sessions", run: () => step(-1) },
    { keys: "Alt-ArrowDown", does: "Next session", group: "Sessions", run: () => step(1) },
    { keys: "F2", does: "Rename the session in focus", group: "Sessions", run: null },
    { keys: "Delete", does: "Delete the session in focus", group: "Sessions", run: null },
  ];
}

function palette(): void {
  panels.palette = !panels.palette;
}

function step(by: 1 | -1): void {
  const to = neighbour(rowsOf(app.sessions.items, Date.now()), route.id, by);
  if (to) route.go(`/s/${to}`);
}
