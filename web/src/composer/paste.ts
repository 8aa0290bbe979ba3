/**
 * The files of a paste, if files are meant: text from an office program comes with a picture of
 * itself, and a copied file comes with its name as text.
 */
export function pastedFiles(data: DataTransfer | null): File[] {
  if (data === null || data.files.length === 0) return [];
  const types = new Set(data.types);
  if (types.has("text/plain") && types.has("text/html")) return [];
  return [...data.files];
}

/** The files of a drop; the words say when folders were left out. */
export function droppedFiles(data: DataTransfer | null): { files: File[]; folders: number } {
  const files: File[] = [];
  let folders = 0;
  for (const item of data?.items ?? []) {
    if (item.kind !== "file") continue;
    const file = item.getAsFile();
    if (item.webkitGetAsEntry?.()?.isDirectory) folders += 1;
    else if (file !== null) files.push(file);
  }
  return { files, folders };
}
