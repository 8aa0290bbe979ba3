/** What a provider's entry means, in words. */

import { plural } from "$/ui/format";
import type { Provider } from "$/wire/settings";

export function editable(provider: Provider): boolean {
  return provider.source === "settings";
}

const ORIGIN: Record<Provider["source"], string> = {
  settings: "Added here.",
  environment: "From the server's environment. Change it there and restart the server.",
  file: "From tenuto.toml on the server. Change it there and restart the server.",
  local: "Found on the server's machine. It is here as long as it runs.",
};

export function originOf(provider: Provider): string {
  return ORIGIN[provider.source];
}

export interface State {
  word: string;
  kind: "good" | "bad" | "warm";
}

export function stateOf(provider: Provider): State {
  if (provider.error !== null) return { word: "not answering", kind: "bad" };
  if (provider.offers === 0) return { word: "no models", kind: "warm" };
  return { word: plural(provider.offers, "model"), kind: "good" };
}
