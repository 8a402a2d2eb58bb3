/** The width of one character of the monospaced font, in CSS pixels. */
export function monoWidth(size: number): number {
  const family = getComputedStyle(document.documentElement).getPropertyValue("--font-mono") || "monospace";
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return size * 0.6;
  context.font = `${size}px ${family}`;
  return context.measureText("0".repeat(20)).width / 20 || size * 0.6;
}
