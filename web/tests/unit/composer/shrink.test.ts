import { afterEach, expect, test, vi } from "vitest";
import { shrunk } from "$/composer/shrink";

const MB = 1024 * 1024;

/** A browser that says how large an image is, and how many bytes it writes for each type. */
function browser(image: { width: number; height: number }, writes: Record<string, number>): void {
  vi.stubGlobal("createImageBitmap", async () => ({ ...image, close: () => undefined }));
  vi.stubGlobal(
    "OffscreenCanvas",
    class {
      constructor(width: number, height: number) {
        canvases.push([width, height]);
      }
      getContext = () => ({ drawImage: () => undefined });
      convertToBlob = async ({ type }: { type: string }) =>
        new Blob([new Uint8Array(writes[type] ?? 0)], { type });
    },
  );
}

let canvases: [number, number][] = [];

function picture(type: string, size: number): File {
  return new File([new Uint8Array(size)], "holiday.png", { type });
}

afterEach(() => {
  vi.unstubAllGlobals();
  canvases = [];
});

test("a large image is made smaller, in its own shape and by its own name", async () => {
  browser({ width: 4000, height: 1000 }, { "image/png": 900 });
  const made = await shrunk(picture("image/png", 2000));
  expect(canvases).toEqual([[2000, 500]]);
  expect([made.name, made.type, made.size]).toEqual(["holiday.png", "image/png", 900]);
});

test("an image of too many bytes is written in another way, and not enlarged", async () => {
  browser({ width: 1900, height: 1200 }, { "image/png": 4 * MB, "image/webp": MB });
  const made = await shrunk(picture("image/png", 5 * MB));
  expect(canvases).toEqual([[1900, 1200]]);
  expect([made.type, made.size]).toEqual(["image/webp", MB]);
});

test.each([
  ["a small image", "image/png", 2000, { width: 2000, height: 300 }],
  ["an image that moves", "image/gif", 5 * MB, { width: 4000, height: 4000 }],
  ["no image", "application/pdf", 5 * MB, { width: 4000, height: 4000 }],
] as const)("%s stays as it is", async (_, type, size, image) => {
  browser(image, { "image/png": 1, "image/webp": 1 });
  const file = picture(type, size);
  expect(await shrunk(file)).toBe(file);
});

test("what would grow, or cannot be read, stays as it is", async () => {
  browser({ width: 4000, height: 1000 }, { "image/jpeg": 3000 });
  const file = picture("image/jpeg", 2000);
  expect(await shrunk(file)).toBe(file);
  vi.stubGlobal("createImageBitmap", async () => Promise.reject(new Error("not an image")));
  expect(await shrunk(file)).toBe(file);
});
