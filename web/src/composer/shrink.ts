/** Large images become smaller before they are sent: models see no more in them, and refuse some. */

const LONGEST_SIDE = 2000;
const MOST_BYTES = 3.5 * 1024 * 1024;
const QUALITY = 0.85;

/** What a browser both reads and writes, and what to write: sharp first, then small. */
const WRITTEN: Record<string, readonly string[]> = {
  "image/jpeg": ["image/jpeg"],
  "image/png": ["image/png", "image/webp"],
  "image/webp": ["image/webp"],
};

/** The image in a size that every model takes, by the same name; or the file as it is. */
export async function shrunk(file: File): Promise<File> {
  const types = WRITTEN[file.type];
  if (types === undefined) return file;
  try {
    return await smaller(file, types);
  } catch {
    // Not an image after all, or too large for this browser: the server may know better.
    return file;
  }
}

async function smaller(file: File, types: readonly string[]): Promise<File> {
  const image = await createImageBitmap(file);
  try {
    const scale = Math.min(1, LONGEST_SIDE / Math.max(image.width, image.height));
    if (scale === 1 && file.size <= MOST_BYTES) return file;
    const made = await firstThatFits(drawn(image, scale), types);
    return made.size < file.size ? new File([made], file.name, { type: made.type }) : file;
  } finally {
    image.close();
  }
}

function drawn(image: ImageBitmap, scale: number): OffscreenCanvas {
  const [width, height] = [image.width, image.height].map((side) =>
    Math.max(1, Math.round(side * scale)),
  ) as [number, number];
  const canvas = new OffscreenCanvas(width, height);
  const pen = canvas.getContext("2d");
  if (pen === null) throw new Error("nothing to draw with");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, 0, 0, width, height);
  return canvas;
}

/** The last of them if none does. */
async function firstThatFits(canvas: OffscreenCanvas, types: readonly string[]): Promise<Blob> {
  let made = new Blob();
  for (const type of types) {
    made = await canvas.convertToBlob({ type, quality: QUALITY });
    if (made.size <= MOST_BYTES) break;
  }
  return made;
}
