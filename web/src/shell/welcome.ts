import type { Model } from "$/wire/types";

/** Small things that the small model can do too; it has no tools. */
const FOR_ANY = ["What can you do here?", "Write a haiku about waiting"];
const FOR_EMBEDDED = "Why is the sky blue?";
const FOR_AGENTS = "Look around this folder and tell me what it is";

export function examples(embedded: boolean): string[] {
  return [...FOR_ANY, embedded ? FOR_EMBEDDED : FOR_AGENTS];
}

/** Only the model that comes with the server is there: nobody has added one yet. */
export function onlyEmbedded(models: readonly Model[]): boolean {
  return models.length > 0 && models.every((model) => model.provider === "embedded");
}

export function greeting(hour: number): string {
  if (hour >= 5 && hour < 12) return "Good morning";
  return hour >= 12 && hour < 18 ? "Good afternoon" : "Good evening";
}
