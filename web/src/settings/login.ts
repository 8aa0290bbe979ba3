import { api } from "$/link/http";
import { app, forget } from "$/state/page";

/** The cookie is out of a script's reach: the server takes it back. */
export async function logOut(): Promise<void> {
  app.finish();
  await api.delete("/login");
  forget();
  location.assign("/login");
}
