import type { Model } from "$/wire/types";

export interface Group {
  provider: string;
  models: Model[];
}

/** Models that have every word of the query in their name or provider, best matches first. */
export function matching(models: readonly Model[], query: string): Model[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...models];
  return models
    .map((model) => ({ model, rank: rank(model, words) }))
    .filter(({ rank }) => rank !== null)
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
    .map(({ model }) => model);
}

/** In the order in which providers first appear, so that the order of the matches shows. */
export function grouped(models: readonly Model[]): Group[] {
  const groups = new Map<string, Model[]>();
  for (const model of models) {
    groups.set(model.provider, [...(groups.get(model.provider) ?? []), model]);
  }
  return [...groups].map(([provider, models]) => ({ provider, models }));
}

export function nameOf(models: readonly Model[], id: string): string {
  return models.find((model) => model.id === id)?.name ?? id.slice(id.indexOf("/") + 1);
}

/** "128k context · tools, sees · $2.50 in, $10 out per million", as far as it is known. */
export function aboutModel(model: Model): string {
  const { price } = model;
  const facts = [
    model.context_window ? `${short(model.context_window)} context` : "",
    abilities(model).join(", "),
    price === null ? "" : priceText(price),
  ];
  return facts.filter(Boolean).join(" · ");
}

const ABILITY: Record<string, string> = {
  tools: "tools",
  vision: "sees",
  documents: "reads PDFs",
  reasoning: "thinks",
};

/** What it can do, in words. */
export function abilities(model: Model): string[] {
  return model.capabilities.map((ability) => ABILITY[ability] ?? ability);
}

/** "low to max", "none to high"; empty if there is nothing to choose. */
export function effortRange({ efforts }: Model): string {
  const [least, most] = [efforts[0], efforts.at(-1)];
  return least && most && least !== most ? `${least} to ${most}` : (least ?? "");
}

/** "$3 in · $15 out · $0.30 cached", for a million tokens. */
export function prices({ price }: Model): string {
  if (price === null) return "price not known";
  if (price.input === 0 && price.output === 0) return "free";
  const cached = price.cache_read ?? null;
  const facts = [`$${dollars(price.input)} in`, `$${dollars(price.output)} out`];
  if (cached !== null) facts.push(`$${dollars(cached)} cached`);
  return facts.join(" · ");
}

const SOURCE: Record<string, string> = {
  file: "Set in tenuto.toml.",
  listing: "As the provider says.",
  catalogue: "From the table that comes with the server.",
  family: "Guessed from its name.",
  default: "Not known: a guess.",
};

/** Where this is known from, as a sentence. */
export function sourceOf({ source }: Model): string {
  return SOURCE[source] ?? "";
}

function priceText({ input, output }: NonNullable<Model["price"]>): string {
  if (input === 0 && output === 0) return "free";
  return `$${dollars(input)} in, $${dollars(output)} out per million`;
}

function dollars(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 0.1 ? 3 : 2);
}

function short(tokens: number): string {
  if (tokens >= 1_000_000) return `${Number((tokens / 1_000_000).toFixed(1))}M`;
  return tokens >= 1000 ? `${Math.round(tokens / 1000)}k` : String(tokens);
}

/** Lower is better: the beginning of a name, of a word in it, anywhere; null: not at all. */
function rank(model: Model, words: readonly string[]): number | null {
  const name = model.name.toLowerCase();
  const all = `${model.provider} ${model.id} ${name}`.toLowerCase();
  if (!words.every((word) => all.includes(word))) return null;
  const first = words[0] ?? "";
  if (name.startsWith(first)) return 0;
  if (name.split(/[^a-z0-9]+/).some((piece) => piece.startsWith(first))) return 1;
  return name.includes(first) ? 2 : 3;
}
