import type { Enclosed } from "$/wire/input";
import { uniqueKey } from "$/link/key";
import { explainUpload } from "$/state/explain";
import { shrunk } from "./shrink";
import { upload, type Upload } from "./upload";

export const MOST_FILES = 20;

/** One file on its way to the server, or there already. */
export class Attachment {
  readonly id = uniqueKey();
  readonly name: string;
  readonly size: number;
  readonly media_type: string;
  readonly preview: string | null;
  share = $state(0);
  error = $state<string | null>(null);
  enclosed = $state.raw<Enclosed | null>(null);
  #file: File | null = null;
  #upload: Upload | null = null;

  private constructor(about: { name: string; size: number; media_type: string }, source: string) {
    this.name = about.name;
    this.size = about.size;
    this.media_type = about.media_type;
    this.preview = about.media_type.startsWith("image/") ? source : null;
  }

  static of(file: File): Attachment {
    const about = { name: file.name || "file", size: file.size, media_type: file.type };
    const source = file.type.startsWith("image/") ? URL.createObjectURL(file) : "";
    const made = new Attachment(about, source);
    made.#file = file;
    return made;
  }

  /** One that the server has. */
  static stored(enclosed: Enclosed): Attachment {
    const made = new Attachment(enclosed, `/api/files/${enclosed.file_id}`);
    made.enclosed = enclosed;
    return made;
  }

  get busy(): boolean {
    return this.enclosed === null && this.error === null;
  }

  async send(): Promise<void> {
    if (this.#file === null) return;
    this.error = null;
    this.share = 0;
    const file = await shrunk(this.#file);
    // It may have been taken out meanwhile.
    if (this.#file === null) return;
    this.#upload = upload(file, (share) => (this.share = share));
    try {
      this.enclosed = await this.#upload.done;
    } catch (error) {
      this.error = explainUpload(error, this);
    }
  }

  drop(): void {
    this.#file = null;
    this.#upload?.abort();
    if (this.preview?.startsWith("blob:")) URL.revokeObjectURL(this.preview);
  }
}

/** The files that go with the next prompt. */
export class Tray {
  items = $state.raw<Attachment[]>([]);
  #changed: (files: Enclosed[]) => void;

  constructor(changed: (files: Enclosed[]) => void = () => undefined) {
    this.#changed = changed;
  }

  get enclosed(): Enclosed[] {
    return this.items.flatMap((item) => (item.enclosed ? [item.enclosed] : []));
  }

  /** Why the prompt cannot be sent with these files; null: it can. */
  get problem(): string | null {
    const failed = this.items.find((item) => item.error !== null);
    if (failed) return `${failed.name} was not uploaded. Remove it or try again.`;
    return this.items.some((item) => item.busy) ? "A file is still being uploaded." : null;
  }

  /** Take these files; the words say why some were not taken. */
  add(files: readonly File[]): string | null {
    const room = MOST_FILES - this.items.length;
    const taken = files.slice(0, Math.max(0, room)).map(Attachment.of);
    this.items = [...this.items, ...taken];
    for (const item of taken) void this.send(item);
    return files.length > room ? `A prompt can carry ${MOST_FILES} files at most.` : null;
  }

  async send(item: Attachment): Promise<void> {
    await item.send();
    this.#changed(this.enclosed);
  }

  remove(item: Attachment): void {
    item.drop();
    this.items = this.items.filter((other) => other !== item);
    this.#changed(this.enclosed);
  }

  put(files: readonly Enclosed[]): void {
    this.clear();
    this.items = files.map(Attachment.stored);
    this.#changed(this.enclosed);
  }

  clear(): void {
    for (const item of this.items) item.drop();
    this.items = [];
    this.#changed([]);
  }
}
