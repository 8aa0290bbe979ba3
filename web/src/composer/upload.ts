import type { Enclosed } from "$/wire/input";
import { uniqueKey } from "$/link/key";
import type { Trouble } from "$/state/problem";

export class UploadFailed extends Error implements Trouble {
  readonly status: number;
  readonly code: string;
  readonly detail: string;

  constructor({ status, code, detail }: Trouble) {
    super(detail || code);
    this.status = status;
    this.code = code;
    this.detail = detail;
  }
}

export interface Upload {
  done: Promise<Enclosed>;
  abort(): void;
}

/** Send one file. `fetch` cannot say how far it is, so this is the older way. */
export function upload(file: File, progress: (share: number) => void): Upload {
  const request = new XMLHttpRequest();
  const done = new Promise<Enclosed>((resolve, reject) => {
    const fail = (code: string): void => reject(new UploadFailed({ status: 0, code, detail: "" }));
    request.upload.onprogress = (event) => progress(event.total ? event.loaded / event.total : 0);
    request.onerror = () => fail("offline");
    request.ontimeout = () => fail("offline");
    request.onabort = () => fail("aborted");
    request.onload = () => {
      if (request.status === 201) resolve(received(request.responseText, file));
      else reject(new UploadFailed(troubleOf(request)));
    };
  });
  request.open("POST", "/api/files");
  request.setRequestHeader("Idempotency-Key", uniqueKey());
  const form = new FormData();
  form.append("file", file, file.name || "file");
  request.send(form);
  return { done, abort: () => request.abort() };
}

function received(body: string, file: File): Enclosed {
  const { id, name, media_type, size } = JSON.parse(body) as {
    id: string;
    name?: string;
    media_type?: string;
    size?: number;
  };
  return {
    file_id: id,
    name: name ?? file.name,
    media_type: media_type ?? file.type,
    size: size ?? file.size,
  };
}

function troubleOf(request: XMLHttpRequest): Trouble {
  const trouble = { status: request.status, code: "", detail: "" };
  if (request.status === 413) trouble.code = "payload_too_large";
  try {
    return { ...trouble, ...(JSON.parse(request.responseText) as Partial<Trouble>) };
  } catch {
    return trouble;
  }
}
