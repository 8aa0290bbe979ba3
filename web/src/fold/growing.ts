/** A message as its events leave it. Text grows by appending; objects are made when they are read. */

import type { Changed, Message, Part, PartField } from "$/wire/types";

interface Grown {
  field: PartField;
  text: string;
  length: number;
}

export class Growing {
  #message: Message;
  /** `#message` is ours to change: nobody has seen it yet. */
  #changed = false;
  #places: Map<string, number> | null = null;
  /** What has grown since it was last read, by place: a part grows in one field at a time. */
  #texts = new Map<number, Grown>();
  #lengths = new Map<number, Grown>();

  constructor(message: Message) {
    this.#message = message;
  }

  /** The message now. Parts that did not change are the same objects as before. */
  now(): Message {
    if (this.#texts.size > 0) {
      const parts = this.#message.parts.slice();
      for (const [place, grown] of this.#texts) {
        const part = parts[place];
        if (part !== undefined) parts[place] = withText(part, grown);
      }
      this.#message = { ...this.#message, parts };
      // Lengths are kept: counting a long text again for each frame would cost its length.
      for (const [place, grown] of this.#texts) this.#lengths.set(place, { ...grown, text: "" });
      this.#texts.clear();
    }
    this.#changed = false;
    return this.#message;
  }

  start(part: Part): void {
    const place = this.#place(part.id);
    if (place !== undefined) {
      this.#texts.delete(place);
      this.#lengths.delete(place);
      this.#own()[place] = part;
      return;
    }
    this.#indexed().set(part.id, this.#message.parts.length);
    this.#own().push(part);
  }

  /** False if the text does not continue what is here: something was missed. */
  grow(partId: string, offset: number, text: string, named?: PartField): boolean {
    const place = this.#place(partId);
    if (place === undefined) return false;
    const part = this.#message.parts[place];
    if (part === undefined) return false;
    const field = fieldOf(part, named);
    const grown = this.#grown(part, place, field);
    if (offset !== grown.length) return false;
    const length = grown.length + codePoints(text);
    this.#texts.set(place, { field, text: grown.text + text, length });
    return true;
  }

  /** Of a tool call, what an update leaves out stays as it was. */
  update(changed: Changed): boolean {
    const place = this.#place(changed.id);
    if (place === undefined) return false;
    if (this.#texts.has(place)) this.now();
    const part = this.#message.parts[place];
    if (part === undefined) return false;
    this.#lengths.delete(place);
    this.#own()[place] = changedBy(part, changed);
    return true;
  }

  finish(reason: string): void {
    this.#message = { ...this.now(), finish_reason: reason };
    this.#places = null;
    this.#lengths.clear();
  }

  #grown(part: Part, place: number, field: PartField): Grown {
    const growing = this.#texts.get(place);
    if (growing?.field === field) return growing;
    if (growing !== undefined) this.now();
    const text = textOf(this.#message.parts[place] ?? part, field);
    const known = this.#lengths.get(place);
    return { field, text, length: known?.field === field ? known.length : codePoints(text) };
  }

  /** The parts, to be changed: whoever has the message of before keeps its own. */
  #own(): Part[] {
    if (!this.#changed) {
      this.#message = { ...this.#message, parts: this.#message.parts.slice() };
      this.#changed = true;
    }
    return this.#message.parts;
  }

  #place(partId: string): number | undefined {
    return this.#indexed().get(partId);
  }

  #indexed(): Map<string, number> {
    this.#places ??= new Map(this.#message.parts.map((part, place) => [part.id, place]));
    return this.#places;
  }
}

/** How many Unicode code points a text has; the wire counts in them. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(at + 1);
    if (next >= 0xdc00 && next <= 0xdfff) {
      count--;
      at++;
    }
  }
  return count;
}

/** Older logs do not say that it is the input of a call that grows. */
function fieldOf(part: Part, named: PartField | undefined): PartField {
  if (part.type === "tool") return named === "output" ? "output" : "input";
  return "text";
}

function textOf(part: Part, field: PartField): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool":
      return field === "output" ? (part.output ?? "") : part.input_text;
    case "file":
      return "";
  }
}

function withText(part: Part, { field, text }: Grown): Part {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { ...part, text };
    case "tool":
      return field === "output" ? { ...part, output: text } : { ...part, input_text: text };
    case "file":
      return part;
  }
}

function changedBy(part: Part, changed: Changed): Part {
  if (changed.type !== "tool") return changed;
  if (part.type !== "tool") return part;
  return { ...part, ...changed };
}
