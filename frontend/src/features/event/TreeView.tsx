import { type KeyboardEvent, useCallback, useId, useMemo, useRef, useState } from "react";
import { type JsonLayout, LineKind } from "#/lib/json-layout.ts";
import { type TreeRows, treeRows } from "#/lib/json-tree.ts";
import { useCopy } from "#/ui/copy.tsx";
import { useKeysSwitch } from "#/ui/keys.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import type { OnValueAction } from "#/ui/value-actions.tsx";
import { TreePath } from "./TreePath.tsx";
import { TreeRowView } from "./TreeRowView.tsx";
import { leafOf, treeKeys } from "./tree-keys.ts";
import { useTreeState } from "./tree-state.ts";
import { useColumns } from "./useColumns.ts";
import { useFixedRows } from "./useFixedRows.ts";
import { useSliced } from "./useSliced.ts";
import { useSourceCopy } from "./useSourceCopy.ts";

const padding = 8;

/** JSON as a tree of which only the rows in sight are in the page; every token is spelled as received. */
export function TreeView({
  text,
  layout,
  unsearchable,
  onAction,
  className,
}: {
  text: string;
  layout: JsonLayout;
  /** Why no value of it can be searched for, where that is so. */
  unsearchable: string | undefined;
  onAction: OnValueAction;
  className: string;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const copy = useCopy();
  const narrow = useNarrow();
  const { on: singleKeys } = useKeysSwitch();
  const columns = useColumns(scroller);
  const state = useTreeState(layout);
  const { open, root, whole } = state;
  const work = useCallback(
    () => (columns === undefined ? undefined : treeRows(text, layout, open, root, columns, whole)),
    [text, layout, open, root, columns, whole],
  );
  const { value: rows } = useSliced<TreeRows>(work);
  const rowHeight = narrow ? 28 : 20;
  const view = useFixedRows(scroller, rows?.length ?? 0, rowHeight, padding);
  const slice = useCallback((from: number, to: number) => text.slice(from, to), [text]);
  useSourceCopy(scroller, slice);

  const [active, setActive] = useState<number>();
  const [hovered, setHovered] = useState<number>();
  // The row under the cursor, or what it is closed in.
  const current = active === undefined ? undefined : rows?.at(rows.rowOf(active)).line;
  const move = (line: number) => {
    setActive(line);
    if (rows) view.reveal(rows.rowOf(line));
  };
  const focus = (line: number) => {
    state.focus(line);
    setActive(line);
    if (scroller.current) scroller.current.scrollTop = 0;
    scroller.current?.focus({ preventScroll: true });
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (!rows || event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (!singleKeys && event.key.length === 1 && event.key !== " ") return;
    const line = current ?? root;
    const act = treeKeys({ layout, rows, open, line, key: event.key });
    const leaf = leafOf(text, layout, line, unsearchable);
    switch (act?.kind) {
      case "move":
        move(act.line);
        break;
      case "toggle":
        state.toggle(line);
        break;
      case "more":
        state.showWhole(line);
        break;
      case "menu":
        document.getElementById(`${id}-${line}`)?.querySelector<HTMLElement>("[aria-haspopup=menu]")?.click();
        break;
      case "copy":
        copy(leaf.copied, leaf.path);
        break;
      case "action":
        if (!leaf.search) return;
        onAction(leaf.search.field, leaf.search.value, act.action);
        break;
      default:
        return;
    }
    setActive(act.kind === "move" ? act.line : line);
    event.preventDefault();
  };
  const inSight = useMemo(
    () => (rows ? Array.from({ length: view.to - view.from }, (_, at) => view.from + at) : []),
    [rows, view.from, view.to],
  );
  return (
    <>
      {root > 0 && <TreePath text={text} layout={layout} root={root} onFocus={focus} />}
      <div
        ref={scroller}
        role="tree"
        aria-label="Data, as a tree"
        aria-busy={rows === undefined}
        aria-activedescendant={current === undefined ? undefined : `${id}-${current}`}
        tabIndex={0}
        className={`group/tree overflow-x-hidden overflow-y-auto mono-12 leading-5 -outline-offset-2 ${className}`}
        onKeyDown={onKeyDown}
        onFocus={() => setActive((was) => was ?? root)}
        onPointerLeave={() => setHovered(undefined)}
      >
        <div role="presentation" className="relative" style={{ height: view.height }}>
          {inSight.map((at) => {
            const row = rows?.at(at);
            if (!row || !rows || at >= rows.length) return null;
            return (
              <TreeRowView
                key={at}
                id={row.starts ? `${id}-${row.line}` : undefined}
                text={text}
                layout={layout}
                row={row}
                root={root}
                columns={columns ?? 80}
                opened={layout.kind(row.line) === LineKind.open && open[row.line] === 1}
                current={row.line === current}
                hot={row.starts && (row.line === current || row.line === hovered)}
                height={rowHeight}
                top={view.top(at)}
                state={state}
                unsearchable={unsearchable}
                onHover={setHovered}
                onActive={setActive}
                onFocus={focus}
                onAction={onAction}
                onCopy={copy}
              />
            );
          })}
        </div>
      </div>
    </>
  );
}
