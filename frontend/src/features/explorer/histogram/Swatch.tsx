import type { Series } from "./geometry.ts";

/** The look of a layer of the bars. */
export function Swatch({ layer }: { layer: Series }) {
  return (
    <span
      aria-hidden="true"
      className="size-2 flex-none rounded-[1px] forced-color-adjust-none"
      style={{
        background: layer.hatched
          ? `repeating-linear-gradient(45deg, ${layer.fill} 0 2px, color-mix(in srgb, ${layer.fill} 50%, var(--color-surface)) 2px 4px)`
          : layer.fill,
      }}
    />
  );
}
