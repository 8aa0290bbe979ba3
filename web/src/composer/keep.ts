import type { Enclosed } from "$/wire/input";
import type { Submission } from "./submission";

/**
 * What this browser keeps until the server has it: a prompt on its way, a draft not yet saved, files
 * already uploaded. A reload or a closed tab in between loses none of it.
 */
export interface Shelf {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** A prompt older than this is put back instead of sent by itself. */
const RESEND_MS = 60 * 60 * 1000;

export interface Unsaved {
  text: string;
  /** What the server had when this was typed. */
  base: string;
}

export class Keep {
  #shelf: Shelf;
  #place: string;

  constructor(shelf: Shelf, sessionId: string | null) {
    this.#shelf = shelf;
    this.#place = sessionId ?? "home";
  }

  get outbox(): Submission | null {
    return this.#read<Submission>("outbox");
  }
  set outbox(submission: Submission | null) {
    this.#write("outbox", submission);
  }

  get unsaved(): Unsaved | null {
    return this.#read<Unsaved>("draft");
  }
  set unsaved(draft: Unsaved | null) {
    this.#write("draft", draft);
  }

  get files(): Enclosed[] {
    return this.#read<Enclosed[]>("files") ?? [];
  }
  set files(files: Enclosed[]) {
    this.#write("files", files.length > 0 ? files : null);
  }

  #read<T>(what: string): T | null {
    try {
      const value = this.#shelf.getItem(this.#key(what));
      return value === null ? null : (JSON.parse(value) as T);
    } catch {
      return null;
    }
  }

  #write(what: string, value: unknown): void {
    try {
      if (value === null) this.#shelf.removeItem(this.#key(what));
      else this.#shelf.setItem(this.#key(what), JSON.stringify(value));
    } catch {
      // A full or forbidden store costs the safety net, not the prompt.
    }
  }

  #key(what: string): string {
    return `tenuto.${what}.${this.#place}`;
  }
}

export function mayResend(submission: Submission, now: number): boolean {
  return now - submission.at < RESEND_MS;
}

/** The text to open with: what was typed here and not saved, and what was written elsewhere. */
export function joined(server: string, unsaved: Unsaved | null): string {
  if (unsaved === null || unsaved.text === server || unsaved.text === "") return server;
  if (server === unsaved.base || server === "" || unsaved.text.startsWith(server)) {
    return unsaved.text;
  }
  return `${server}\n\n${unsaved.text}`;
}
