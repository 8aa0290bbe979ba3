/** A message as its events leave it. Text grows by appending; objects are made when they are read. */

import type { Message, Part } from "$/wire/types";

export class Growing {
  #message: Message;
  /** `#message` is ours to change: nobody has seen it yet. */
  #changed = false;
  #places: Map<string, number> | null = null;
  #texts = new Map<number, { text: string; length: number }>();
  #lengths = new Map<number, number>();

  constructor(message: Message) {
    this.#message = message;
  }

  /** The message now. Parts that did not change are the same objects as before. */
  now(): Message {
    if (this.#texts.size > 0) {
      const parts = this.#message.parts.slice();
      for (const [place, grown] of this.#texts) {
        const part = parts[place];
        if (part !== undefined) parts[place] = withText(part, grown.text);
      }
      this.#message = { ...this.#message, parts };
      // Lengths are kept: counting a long text again for each frame would cost its length.
      for (const [place, grown] of this.#texts) this.#lengths.set(place, grown.length);
      this.#texts.clear();
    }
    this.#changed = false;
    return this.#message;
  }

  start(part: Part): void {
    const place = this.#place(part.id);
    if (place !== undefined) {
      this.update(part);
      return;
    }
    this.#indexed().set(part.id, this.#message.parts.length);
    this.#own().push(part);
  }

  /** False if the text does not continue what is here: something was missed. */
  grow(partId: string, offset: number, text: string): boolean {
    const place = this.#place(partId);
    if (place === undefined) return false;
    const part = this.#message.parts[place];
    if (part === undefined) return false;
    const grown = this.#texts.get(place) ?? this.#text(part, place);
    if (offset !== grown.length) return false;
    this.#texts.set(place, { text: grown.text + text, length: grown.length + codePoints(text) });
    return true;
  }

  /** An update is the whole part: what had grown before it is in it. */
  update(part: Part): boolean {
    const place = this.#place(part.id);
    if (place === undefined) return false;
    this.#texts.delete(place);
    this.#lengths.delete(place);
    this.#own()[place] = part;
    return true;
  }

  finish(reason: string): void {
    this.#message = { ...this.now(), finish_reason: reason };
    this.#places = null;
    this.#lengths.clear();
  }

  #text(part: Part, place: number): { text: string; length: number } {
    const text = textOf(part);
    return { text, length: this.#lengths.get(place) ?? codePoints(text) };
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

function textOf(part: Part): string {
  switch (part.type) {
    case "text":
    case "reasoning":
      return part.text;
    case "tool":
      return part.input_text;
    case "file":
      return "";
  }
}

function withText(part: Part, text: string): Part {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { ...part, text };
    case "tool":
      return { ...part, input_text: text };
    case "file":
      return part;
  }
}
