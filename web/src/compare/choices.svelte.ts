/** What was chosen for comparisons on this device. */

import { recall, remember } from "$/state/stored";
import type { Turns } from "./match.svelte";

const KEY = "compare";

interface Chosen {
  models: string[];
  blind: boolean;
  turns: Turns;
  mode: "chat" | "agent";
}

const AT_FIRST: Chosen = { models: [], blind: true, turns: "together", mode: "chat" };

export const TURNS: { value: Turns; label: string }[] = [
  { value: "together", label: "Together" },
  { value: "in_turn", label: "One after another" },
];

export const MODES: { value: Chosen["mode"]; label: string }[] = [
  { value: "chat", label: "Chat" },
  { value: "agent", label: "Agent" },
];

export class Choices {
  readonly chosen: Chosen = $state(recall(KEY, AT_FIRST));

  keep(): void {
    remember(KEY, $state.snapshot(this.chosen));
  }
}
