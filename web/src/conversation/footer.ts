/** The line under an answer. */

import { effortWords } from "$/models/effort";
import { between, duration, money, number } from "$/ui/format";
import type { Message, Run } from "$/wire/types";

/** "openai/gpt-x" → "gpt-x": the provider is said in the tooltip. */
export function modelName(id: string): string {
  const cut = id.indexOf("/");
  return cut < 0 ? id : id.slice(cut + 1);
}

/** Model, tokens, cost and time, as far as they are known. */
export function facts(run: Run): string[] {
  const { input_tokens, output_tokens, cache_read_tokens, exact, cost_usd } = run.usage;
  const tokens = input_tokens + output_tokens;
  const found: string[] = [];
  if (run.model) found.push(modelName(run.model));
  if (run.effort) found.push(effortWords(run.effort).toLowerCase());
  const cached = cache_read_tokens > 0 ? `, ${number(cache_read_tokens)} from cache` : "";
  if (tokens > 0) found.push(`${exact ? "" : "about "}${number(tokens)} tokens${cached}`);
  if (cost_usd !== null && cost_usd > 0) found.push(money(cost_usd));
  if (run.started_at && run.finished_at) {
    found.push(duration(between(run.started_at, run.finished_at)));
  }
  return found;
}

/** The same in full, for the tooltip. */
export function details(run: Run): string {
  const { input_tokens, output_tokens, reasoning_tokens, exact } = run.usage;
  const { cache_read_tokens, cache_write_tokens } = run.usage;
  const lines = [run.model ?? ""];
  if (input_tokens + output_tokens > 0) {
    lines.push(`${number(input_tokens)} tokens in, ${number(output_tokens)} out`);
    if (cache_read_tokens > 0) lines.push(`Of those in, ${number(cache_read_tokens)} from cache`);
    if (cache_write_tokens > 0) lines.push(`Of those in, ${number(cache_write_tokens)} into cache`);
    if (reasoning_tokens > 0) lines.push(`Of those out, ${number(reasoning_tokens)} to think`);
    if (!exact) lines.push("Counted here: the provider did not say.");
  }
  return lines.filter((line) => line !== "").join("\n");
}

/** The markdown of an answer. */
export function answerText(message: Message): string {
  const texts = message.parts.flatMap((part) => (part.type === "text" ? [part.text.trim()] : []));
  return texts.filter((text) => text !== "").join("\n\n");
}
