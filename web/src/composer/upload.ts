import type { Enclosed } from "$/wire/input";
import { uniqueKey } from "$/link/key";
import { Problem, problemFrom, unreachable } from "$/link/problem";
import type { FileInfo } from "$/wire/types";

export interface Upload {
  done: Promise<Enclosed>;
  abort(): void;
}

/** Send one file. `fetch` cannot say how far it is, so this is the older way. */
export function upload(file: File, progress: (share: number) => void): Upload {
  const request = new XMLHttpRequest();
  const done = new Promise<Enclosed>((resolve, reject) => {
    request.upload.onprogress = (event) => progress(event.total ? event.loaded / event.total : 0);
    request.onerror = () => reject(unreachable());
    request.ontimeout = () => reject(unreachable());
    request.onabort = () => reject(new Problem(0, "aborted", ""));
    request.onload = () => {
      if (request.status === 201) resolve(received(request.responseText));
      else reject(problemFrom(request.status, request.responseText));
    };
  });
  request.open("POST", "/api/files");
  request.setRequestHeader("Idempotency-Key", uniqueKey());
  const form = new FormData();
  form.append("file", file, file.name || "file");
  request.send(form);
  return { done, abort: () => request.abort() };
}

function received(body: string): Enclosed {
  const { id, name, media_type, size } = JSON.parse(body) as FileInfo;
  return { file_id: id, name, media_type, size };
}
