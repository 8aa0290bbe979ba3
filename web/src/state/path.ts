/** What the address says. */

export type PageName = "home" | "session" | "compare" | "usage" | "settings";

export interface Place {
  page: PageName;
  id: string | null;
  section: string | null;
}

export function placeOf(pathname: string): Place {
  const [first = "", second = ""] = pathname.split("/").filter(Boolean).map(decoded);
  const id = second === "" ? null : second;
  switch (first) {
    case "s":
      return id === null ? HOME : { page: "session", id, section: null };
    case "compare":
      return { page: "compare", id, section: null };
    case "usage":
      return { page: "usage", id: null, section: null };
    case "settings":
      return { page: "settings", id: null, section: id };
    default:
      return HOME;
  }
}

const HOME: Place = { page: "home", id: null, section: null };

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
