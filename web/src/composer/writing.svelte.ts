import { DraftKeeper } from "./draft-keeper";
import { promptOf, type Enclosed } from "$/wire/input";
import { joined, Keep, mayResend } from "./keep";
import { Problem } from "$/link/problem";
import { explain } from "$/state/explain";
import { deliver } from "./post";
import { press, refused, typed, WRITING, type Sending, type Submission } from "./submission";
import { Tray } from "./tray.svelte";
import { uniqueKey } from "$/link/key";
import type { Conversation } from "$/state/conversation.svelte";
import type { Message } from "$/wire/types";

interface Editing {
  message: Message;
  /** What was in the field before, to be put back. */
  aside: { text: string; files: Enclosed[] };
}

/** What is chosen beside the field. */
export type How = Pick<Submission, "model" | "mode" | "effort" | "when_busy">;

/** One text field and the way of its text to the server. Text leaves it only when it is accepted. */
export class Writing {
  text = $state("");
  sending = $state.raw<Sending>(WRITING);
  editing = $state.raw<Editing | null>(null);
  readonly tray: Tray;

  readonly #conversation: Conversation | null;
  readonly #keep: Keep;
  #keeper: DraftKeeper | null = null;
  #server = "";
  #giveUp = new AbortController();

  constructor(conversation: Conversation | null) {
    this.#conversation = conversation;
    this.#keep = new Keep(localStorage, conversation?.id ?? null);
    this.tray = new Tray((files) => {
      if (this.editing === null) this.#keep.files = files;
    });
    this.#restore();
    if (conversation === null) this.hear("");
  }

  get busy(): boolean {
    return this.sending.phase === "sending";
  }

  get empty(): boolean {
    return this.text.trim() === "" && this.tray.items.length === 0;
  }

  get error(): string | null {
    return this.sending.phase === "writing" ? this.sending.error : null;
  }

  /** The server's draft, when it is first known and whenever it changes. */
  hear(server: string): void {
    if (this.#keeper === null) return this.#open(server);
    this.#server = server;
    if (this.busy) return;
    if (this.#keeper.hear(server) && this.editing === null) this.text = this.#keeper.text;
    void this.save();
  }

  type(text: string): void {
    this.text = text;
    this.sending = typed(this.sending, text);
    if (this.sending.phase === "writing" && this.sending.last === null) this.#keep.outbox = null;
    if (this.editing === null) this.#draft(text);
  }

  say(error: string | null): void {
    if (this.sending.phase === "writing") this.sending = { ...this.sending, error };
  }

  /** Put a text back into an empty field. False: there is something in it. */
  putBack(text: string, files: readonly Enclosed[] = []): boolean {
    if (!this.empty || this.editing !== null || this.busy) return false;
    this.type(text);
    this.tray.put(files);
    return true;
  }

  edit(message: Message): void {
    const aside = { text: this.text, files: this.tray.enclosed };
    const { text, files } = promptOf(message);
    this.editing = { message, aside };
    this.text = text;
    this.tray.put(files);
  }

  leaveEdit(): void {
    const aside = this.editing?.aside;
    this.editing = null;
    if (!aside) return;
    this.text = aside.text;
    this.tray.put(aside.files);
  }

  async submit(how: How): Promise<void> {
    const problem = this.tray.problem;
    if (problem !== null) return this.say(problem);
    const text = this.text.replace(/^\s*\n/, "").trimEnd();
    const edits = this.editing?.message.id ?? null;
    const wish = { ...how, text, files: this.tray.enclosed, edits };
    const next = press(this.sending, wish, uniqueKey, Date.now());
    if (next?.phase === "sending") await this.#send(next.submission);
  }

  /** Give up waiting for the server. The key stays: the prompt may have arrived after all. */
  takeBack(): void {
    if (this.sending.phase !== "sending") return;
    this.#giveUp.abort();
    this.#refused(this.sending.submission, null);
  }

  /** Give the draft to the server; the state waits for a pause in the writing. */
  async save(): Promise<void> {
    const [conversation, keeper] = [this.#conversation, this.#keeper];
    const draft = keeper?.take() ?? null;
    if (conversation === null || keeper === null || draft === null) return;
    try {
      await conversation.update({ draft });
      keeper.saved(draft);
      if (!keeper.dirty) this.#keep.unsaved = null;
    } catch {
      // It is kept here, and saved when the connection is back or at the next letter.
      keeper.lost(draft);
    }
  }

  /** What this browser kept is shown at once, also when the server cannot be reached. */
  #restore(): void {
    const unsaved = this.#keep.unsaved;
    const outbox = this.#keep.outbox;
    this.text = unsaved?.text ?? "";
    this.#server = unsaved?.base ?? "";
    this.tray.put(this.#keep.files);
    if (outbox !== null && outbox.edits === null) this.#resume(outbox);
  }

  /** A prompt that was on its way when the page was left: the key makes sending it again safe. */
  #resume(outbox: Submission): void {
    const recent = mayResend(outbox, Date.now());
    if (!outbox.given_up && this.text.trim() === "") this.text = outbox.text;
    if (!outbox.given_up && recent) void this.#send(outbox);
    else this.sending = { phase: "writing", error: null, last: recent ? outbox : null };
  }

  #open(server: string): void {
    const here = this.text === "" ? null : { text: this.text, base: this.#server };
    this.#keeper = new DraftKeeper(server);
    this.#server = server;
    if (!this.busy && this.editing === null) this.text = joined(server, here);
    if (this.editing === null && this.text !== server) this.#draft(this.text);
  }

  #draft(text: string): void {
    this.#keeper?.type(text);
    this.#keep.unsaved = text === this.#server ? null : { text, base: this.#server };
    void this.save();
  }

  async #send(first: Submission): Promise<void> {
    let submission = first;
    this.sending = { phase: "sending", submission };
    this.#keep.outbox = submission;
    this.#giveUp = new AbortController();
    const { signal } = this.#giveUp;
    const changed = (later: Submission): void => {
      submission = later;
      if (signal.aborted) return;
      this.sending = { phase: "sending", submission };
      this.#keep.outbox = submission;
    };
    while (true) {
      try {
        await deliver(submission, this.#conversation, { changed, signal });
        return this.#accepted(submission);
      } catch (error) {
        if (signal.aborted) return;
        if (!passing(error)) return this.#refused(submission, explain(error, "prompt"));
      }
    }
  }

  #accepted(submission: Submission): void {
    const takenBack = this.sending.phase === "writing";
    this.#keep.outbox = null;
    this.sending = WRITING;
    if (takenBack && this.text !== submission.text) return;
    if (this.editing !== null) return this.leaveEdit();
    this.tray.clear();
    this.type("");
  }

  #refused(submission: Submission, error: string | null): void {
    this.#keep.outbox = { ...submission, given_up: true };
    this.sending = refused({ phase: "sending", submission }, error);
  }
}

/** The server is away for a moment; whether the prompt arrived is not known. */
function passing(error: unknown): boolean {
  if (!(error instanceof Problem)) return false;
  const { status, code } = error;
  return code === "offline" || code === "shutting_down" || status === 502 || status === 504;
}
