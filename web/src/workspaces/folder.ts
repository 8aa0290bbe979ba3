/** The last piece of a path: what a folder is called if nobody says otherwise. */
export function folderName(path: string): string {
  return (
    path
      .trim()
      .replace(/[\\/]+$/, "")
      .split(/[\\/]/)
      .at(-1) ?? ""
  );
}
