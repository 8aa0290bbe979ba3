/** Where a link or an image of an answer may point. */

const OPENABLE = new Set(["http:", "https:", "mailto:"]);

/** The address to open, or null: answers know nothing about pages of this site. */
export function openable(href: string): string | null {
  const url = parsed(href);
  return url && OPENABLE.has(url.protocol) ? url.href : null;
}

/** An image that can be shown without asking another host. */
export function showable(src: string): boolean {
  return (
    /^\/api\/files\/[\w-]+$/.test(src) || /^data:image\/(?:png|jpeg|gif|webp);base64,/i.test(src)
  );
}

function parsed(href: string): URL | null {
  try {
    return new URL(href);
  } catch {
    // Relative, or no address at all.
    return null;
  }
}
