import { api } from "$/link/http";

/** The cookie is out of a script's reach: the server takes it back. */
export async function logOut(): Promise<void> {
  await api.delete("/login");
  location.assign("/login");
}
