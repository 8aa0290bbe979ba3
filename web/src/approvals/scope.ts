/** How much a person allows: as a suggestion of the server's says, or all that the tool does. */

import type { Approval } from "$/wire/types";

/** The place of a suggestion, or everything. */
export type Scope = `${number}` | "all";

export interface ScopeOption {
  value: Scope;
  label: string;
}

/** From the narrowest to the widest. Older servers and calls that no rule can judge have one only. */
export function scopesOf(approval: Approval, everything: string): ScopeOption[] {
  // An approval that was kept before there were suggestions has none.
  const offered = (approval.suggestions ?? []).map((one, at): ScopeOption => ({
    value: `${at}`,
    label: one.about,
  }));
  return [...offered, { value: "all", label: everything }];
}

export function suggestionOf(scope: Scope): number | undefined {
  return scope === "all" ? undefined : Number(scope);
}
