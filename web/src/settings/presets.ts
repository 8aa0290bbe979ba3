/** Ready-made beginnings for the providers that people have. */

import type { Provider, ProviderKind } from "$/wire/settings";

export interface Preset {
  id: string;
  title: string;
  /** The name it gets unless the person chooses another; models are called `name/model`. */
  name: string;
  kind: ProviderKind;
  base_url: string;
  key: "needed" | "optional";
  hint: string;
}

export const PRESETS: readonly Preset[] = [
  {
    id: "openai",
    title: "OpenAI",
    name: "openai",
    kind: "openai",
    base_url: "https://api.openai.com/v1",
    key: "needed",
    hint: "A key from your OpenAI account.",
  },
  {
    id: "anthropic",
    title: "Anthropic",
    name: "anthropic",
    kind: "anthropic",
    base_url: "https://api.anthropic.com",
    key: "needed",
    hint: "A key from your Anthropic account.",
  },
  {
    id: "openrouter",
    title: "OpenRouter",
    name: "openrouter",
    kind: "openai",
    base_url: "https://openrouter.ai/api/v1",
    key: "needed",
    hint: "One key for the models of many companies.",
  },
  {
    id: "ollama",
    title: "Ollama",
    name: "ollama",
    kind: "openai",
    base_url: "http://127.0.0.1:11434/v1",
    key: "optional",
    hint: "On the server's own machine it is found by itself; add it here if it runs elsewhere.",
  },
  {
    id: "lmstudio",
    title: "LM Studio",
    name: "lmstudio",
    kind: "openai",
    base_url: "http://127.0.0.1:1234/v1",
    key: "optional",
    hint: "Turn on its local server first. On the server's own machine it is found by itself.",
  },
  {
    id: "llamacpp",
    title: "llama.cpp",
    name: "llamacpp",
    kind: "openai",
    base_url: "http://127.0.0.1:8080/v1",
    key: "optional",
    hint: "Start llama-server first. On the server's own machine it is found by itself.",
  },
  {
    id: "other",
    title: "Other, OpenAI-compatible",
    name: "",
    kind: "openai",
    base_url: "",
    key: "optional",
    hint: "Any server that speaks the OpenAI API: vLLM, LiteLLM, Groq, Together, your own.",
  },
];

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
