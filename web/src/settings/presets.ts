/** What a person fills in for a provider: names, addresses, and what of it is asked at all. */

import type { Preset, Provider } from "$/wire/settings";

/** The fields that are in sight; the others are there for those who look for them. */
export interface Asked {
  name: boolean;
  address: boolean;
  key: boolean;
}

/** A hosted provider needs its key, a server of one's own its address, any other all. */
export function askedBy(preset: Preset | null): Asked {
  if (preset === null || preset.base_url === "") return { name: true, address: true, key: true };
  const hosted = preset.key === "needed";
  return { name: false, address: !hosted, key: hosted };
}

/** The preset's name, or the next free one: a name stands for one provider. */
export function freeName(wanted: string, taken: readonly Provider[]): string {
  const names = new Set(taken.map((one) => one.name));
  if (!wanted || !names.has(wanted)) return wanted;
  let number = 2;
  while (names.has(`${wanted}-${number}`)) number += 1;
  return `${wanted}-${number}`;
}

/** The model names of a free text: one per line, or separated by commas. */
export function modelNames(text: string): string[] {
  const names = text.split(/[\s,]+/).filter((name) => name !== "");
  return [...new Set(names)];
}

/** Why the name cannot be used, or null. */
export function nameMistake(name: string): string | null {
  if (name === "") return "Give it a name.";
  if (!/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name)) {
    return "Use up to 32 lower-case letters, digits, dashes and underscores.";
  }
  return null;
}

/** Why the address cannot be used, or null. */
export function urlMistake(url: string): string | null {
  if (url === "") return "Give the address of the server.";
  if (!/^https?:\/\/[^/\s]+/.test(url)) return "It begins with http:// or https://.";
  return null;
}
