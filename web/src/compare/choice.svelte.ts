/** What was chosen for comparisons on this device, and the prompt that begins the next one. */

import { recall, remember } from "$/state/stored";
import type { Input } from "$/wire/types";
import type { Turns } from "./match.svelte";

const KEY = "compare";

interface Choices {
  models: string[];
  blind: boolean;
  turns: Turns;
  mode: "chat" | "agent";
}

export const TURNS: { value: Turns; label: string }[] = [
  { value: "together", label: "Together" },
  { value: "in_turn", label: "One after another" },
];

export const MODES: { value: Choices["mode"]; label: string }[] = [
  { value: "chat", label: "Chat" },
  { value: "agent", label: "Agent" },
];

export const choices: Choices = $state(
  recall<Choices>(KEY, { models: [], blind: true, turns: "together", mode: "chat" }),
);

export function keepChoices(): void {
  remember(KEY, $state.snapshot(choices));
}

let beginning: { id: string; input: Input } | null = null;

/** The prompt waits here while the page goes from the setup to the new comparison. */
export function begin(id: string, input: Input): void {
  keepChoices();
  beginning = { id, input };
}

/** The prompt that this comparison begins with, once. */
export function takeBeginning(id: string): Input | null {
  const found = beginning?.id === id ? beginning.input : null;
  beginning = null;
  return found;
}
