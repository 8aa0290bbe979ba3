/** A finger and a keyboard on the screen: Enter makes a new line, and focus brings up the keyboard. */
export function byFinger(): boolean {
  return matchMedia("(hover: none) and (pointer: coarse)").matches;
}
