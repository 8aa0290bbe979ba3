/** Characters that cannot be seen and change what is read: directions, joiners, controls. */
const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|(?<!\p{Extended_Pictographic}\ufe0f?)\u200d/gu;

/** The text with every such character shown by its number: what is asked for is what is read. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (one) => {
    const number = one.codePointAt(0) ?? 0;
    return `⟨U+${number.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}
