export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Size {
  width: number;
  height: number;
}

const MARGIN = 8;
const GAP = 4;

/** Where something that floats goes: below its anchor, above where that is short, always in sight. */
export function place(anchor: Box, size: Size, view: Size, align: "start" | "end" = "start") {
  const below = view.height - anchor.bottom - GAP - MARGIN;
  const above = anchor.top - GAP - MARGIN;
  const up = size.height > below && above > below;
  const height = Math.min(size.height, Math.max(up ? above : below, 0));
  const left = align === "start" ? anchor.left : anchor.right - size.width;
  return {
    left: Math.max(MARGIN, Math.min(left, view.width - size.width - MARGIN)),
    top: up ? anchor.top - GAP - height : anchor.bottom + GAP,
    maxHeight: up ? above : below,
  };
}
