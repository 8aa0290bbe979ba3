/** What someone prefers on this device. */

import { recall, remember, whenRemembered } from "$/state/stored";
import type { Effort, Mode } from "$/wire/types";

export type Theme = "system" | "light" | "dark";
export type TextSize = "small" | "normal" | "large";

const KEY = "preferences";

export interface Preferred {
  theme: Theme;
  textSize: TextSize;
  enterToSend: boolean;
  reasoningOpen: boolean;
  notifications: boolean;
  /** The one that was picked last; null: the server decides. */
  model: string | null;
  mode: Mode;
  /** null: as the model does by itself. */
  effort: Effort | null;
  workspace: string;
  details: boolean;
  sidebar: boolean;
}

const AT_FIRST: Preferred = {
  theme: "system",
  textSize: "normal",
  enterToSend: true,
  reasoningOpen: false,
  notifications: false,
  model: null,
  mode: "agent",
  effort: null,
  workspace: "default",
  details: false,
  sidebar: true,
};

export function preferred(): Preferred {
  const preferences = $state(recall(KEY, AT_FIRST));
  return preferences;
}

/** Keep them, and show what they say of the looks. */
export function keepPreferences(preferences: Preferred): void {
  $effect.root(() => {
    $effect(() => remember(KEY, $state.snapshot(preferences)));
    $effect(() => {
      const root = document.documentElement;
      if (preferences.theme === "system") delete root.dataset["theme"];
      else root.dataset["theme"] = preferences.theme;
      root.dataset["textSize"] = preferences.textSize;
    });
  });
  whenRemembered(KEY, () => Object.assign(preferences, recall(KEY, AT_FIRST)));
}
