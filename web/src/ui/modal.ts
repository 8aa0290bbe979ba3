import type { Attachment } from "svelte/attachments";

/**
 * Shows a <dialog> over the page, and closes it by Escape or a press outside; the focus returns.
 *
 * The focus goes into its first field, or to the dialog itself where there is none or where a
 * phone's keyboard would jump up for nothing.
 */
export function modal(
  close: () => void,
  into: "field" | "itself" = "field",
): Attachment<HTMLDialogElement> {
  return (dialog) => {
    const before = document.activeElement;
    dialog.showModal();
    // Not the close button, which comes first.
    const field = into === "field" && dialog.querySelector<HTMLElement>("input, textarea, select");
    (field || dialog).focus();

    const cancelled = (event: Event): void => {
      if (event.target !== dialog) return;
      event.preventDefault();
      close();
    };
    // Escape belongs to the topmost layer: the page below must not take it for "stop".
    const keyed = (event: KeyboardEvent): void => {
      if (event.key === "Escape") event.stopPropagation();
    };
    let pressedOutside = false;
    const pressed = (event: PointerEvent): void => {
      pressedOutside = event.target === dialog;
    };
    // Only a press that began outside closes: selecting text and letting go outside does not.
    const released = (event: MouseEvent): void => {
      if (pressedOutside && event.target === dialog && outside(dialog, event)) close();
    };
    dialog.addEventListener("cancel", cancelled);
    dialog.addEventListener("keydown", keyed);
    dialog.addEventListener("pointerdown", pressed);
    dialog.addEventListener("click", released);
    return () => {
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  };
}

function outside(dialog: HTMLDialogElement, { clientX, clientY }: MouseEvent): boolean {
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  return clientX < left || clientX > right || clientY < top || clientY > bottom;
}
