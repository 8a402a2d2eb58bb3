import { memo } from "react";
import { cut, type Fragment, shownEnd, valueKinds } from "#/lib/code.ts";
import { type JsonLayout, type JsonLine, LineKind } from "#/lib/json-layout.ts";
import { deepestIndent, sourceOf, type TreeRow, treeIndent } from "#/lib/json-tree.ts";
import { Icon } from "#/ui/icons.tsx";
import { Menu, type MenuItem } from "#/ui/popover.tsx";
import { type OnValueAction, useFieldItems, ValueActions } from "#/ui/value-actions.tsx";
import { Visible } from "#/ui/visible.tsx";
import { Piece } from "./Piece.tsx";
import { leafOf } from "./tree-keys.ts";
import type { TreeState } from "./tree-state.ts";

interface TreeRowProps {
  readonly id: string | undefined;
  readonly text: string;
  readonly layout: JsonLayout;
  readonly row: TreeRow;
  readonly root: number;
  readonly columns: number;
  readonly opened: boolean;
  readonly current: boolean;
  /** Its actions are shown. */
  readonly hot: boolean;
  readonly height: number;
  readonly top: number;
  readonly state: TreeState;
  readonly unsearchable: string | undefined;
  readonly onHover: (line: number) => void;
  readonly onActive: (line: number) => void;
  readonly onFocus: (line: number) => void;
  readonly onAction: OnValueAction;
  readonly onCopy: (text: string, what: string) => void;
}

export const TreeRowView = memo(function TreeRowView(props: TreeRowProps) {
  const { id, text, layout, row, root, columns, opened, current, hot, height, top, state } = props;
  const line = layout.at(row.line);
  const container = line.kind === LineKind.open;
  const depth = line.depth - layout.at(root).depth;
  const deepest = deepestIndent(columns);
  const indent = Math.min(depth, deepest) * treeIndent + (row.starts ? 0 : treeIndent);
  const slice = (from: number, to: number) => text.slice(from, to);
  const role = row.starts
    ? {
        role: "treeitem",
        "aria-level": depth + 1,
        "aria-selected": current,
        ...(row.line !== root && {
          "aria-posinset": line.ordinal + 1,
          "aria-setsize": layout.members(line.parent),
        }),
        ...(container && { "aria-expanded": opened }),
      }
    : { role: "presentation" };
  const toggle = () => {
    props.onActive(row.line);
    // A press that ends a selection is meant for it.
    if (container && document.getSelection()?.isCollapsed !== false) state.toggle(row.line);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it is an item of the tree, which has the focus and the keys
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above
    <div
      {...role}
      id={id}
      className={`absolute inset-x-0.5 top-0 flex items-center pr-1 pl-2 whitespace-pre hover:bg-hover ${
        current ? "bg-hover group-focus/tree:bg-accent-tint" : ""
      } ${container ? "cursor-default" : ""}`}
      style={{ height, transform: `translateY(${top}px)` }}
      onPointerEnter={() => props.onHover(row.line)}
      onClick={toggle}
    >
      <span className="flex min-w-0 flex-1 items-center overflow-hidden">
        <span className="flex-none" style={{ width: `${indent}ch` }} />
        <span className="grid w-4 flex-none place-items-center text-ink-3">
          {container && row.starts && <Icon name={opened ? "down" : "right"} small />}
        </span>
        {depth > deepest && (
          <span className="flex-none text-ink-3 select-none">{`${depth} `.padStart(6)}</span>
        )}
        {fragments(props, line).map((fragment, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row's fragments never move
          <Piece key={index} fragment={fragment} slice={slice} onMore={state.showWhole} inTree />
        ))}
      </span>
      {hot && <RowActions {...props} line={line} />}
    </div>
  );
});

function fragments({ text, row, state, root }: TreeRowProps, line: JsonLine): Fragment[] {
  const parts: Fragment[] = [];
  if (row.starts && line.keyStart >= 0) parts.push(...keyFragments(text, line), own("punct", ": "));
  else if (row.starts && line.parent >= 0 && row.line !== root) parts.push(own("dim", `${line.ordinal}: `));
  if (line.kind === LineKind.open || line.kind === LineKind.empty) {
    const [open, close] = text[line.valueStart] === "{" ? ["{", "}"] : ["[", "]"];
    parts.push(
      own(
        "punct",
        line.members === 0 ? `${open}${close}` : `${open} ${line.members.toLocaleString("en")} ${close}`,
      ),
    );
  } else {
    parts.push(...cut(text, row.from, row.to, valueKinds[line.kind]));
  }
  if (!row.ends) return parts;
  const shown = shownEnd(text, line, state.whole.has(row.line));
  if (shown < line.valueEnd && line.kind === LineKind.string) {
    const count = (line.valueEnd - line.valueStart - 2).toLocaleString("en");
    parts.push({ kind: "more", text: `Show all ${count} characters`, start: -1, units: row.line });
  }
  if (line.duplicate) parts.push(own("duplicate", "duplicate key"));
  if (line.exact) parts.push(own("exact", "exact"));
  return parts;
}

function own(kind: Fragment["kind"], text: string): Fragment {
  return { kind, text, start: -1, units: 0 };
}

/** Without its quotes where nothing is hidden by that. */
function keyFragments(text: string, { keyStart, keyEnd }: JsonLine): Fragment[] {
  const body = text.slice(keyStart + 1, keyEnd - 1);
  const bare = body !== "" && !/^\s|\s$|[:{}[\]]/.test(body);
  return bare ? cut(text, keyStart + 1, keyEnd - 1, "key") : cut(text, keyStart, keyEnd, "key");
}

const menuButton =
  "grid h-9 min-w-10 place-items-center rounded-1 border border-line-2 bg-raised px-1 text-ink-2 hover:bg-hover hover:text-ink max-wide:border-transparent max-wide:bg-transparent wide:h-5 wide:min-w-5";

/** Made of a row only while it is pointed at: the path of every row would cost much. */
function RowActions({
  text,
  layout,
  row,
  line,
  root,
  opened,
  state,
  unsearchable,
  onAction,
  onCopy,
  onFocus,
}: TreeRowProps & { line: JsonLine }) {
  const { path, copied, search, why } = leafOf(text, layout, row.line, unsearchable);
  const fieldItems = useFieldItems(path);
  const source = () => onCopy(sourceOf(text, layout, row.line), "the value as received");
  const cutShort =
    shownEnd(text, line, state.whole.has(row.line)) < line.valueEnd && line.kind === LineKind.string;
  const copies: MenuItem[] = [
    ...(cutShort
      ? [{ label: "Show all of it", icon: "down" as const, onSelect: () => state.showWhole(row.line) }]
      : []),
    { label: "Copy as received", icon: "copy", onSelect: source },
    { label: "Copy path", icon: "copy", hint: "", onSelect: () => onCopy(path, "the path") },
  ];
  const stop = { onClick: (event: { stopPropagation: () => void }) => event.stopPropagation() };
  if (search) {
    return (
      <span className="ml-1 flex-none" {...stop}>
        <ValueActions
          field={search.field}
          value={search.value}
          onAction={onAction}
          onCopy={onCopy}
          more={[copies]}
          tabbable={false}
        />
      </span>
    );
  }
  const container = line.kind === LineKind.open;
  const parts: MenuItem[] = container
    ? [
        ...(row.line === root
          ? []
          : [{ label: "Show this part alone", icon: "around" as const, onSelect: () => onFocus(row.line) }]),
        { label: "Open all of it", icon: "down", onSelect: () => state.toggleAll(row.line, true) },
        ...(opened
          ? [
              {
                label: "Close all of it",
                icon: "right" as const,
                onSelect: () => state.toggleAll(row.line, false),
              },
            ]
          : []),
      ]
    : [];
  const value: MenuItem[] =
    why === undefined
      ? []
      : [{ label: "Copy value", icon: "copy", key: "c", onSelect: () => onCopy(copied, path) }];
  return (
    <span className="ml-1 flex-none select-none" {...stop}>
      <Menu
        label={path}
        align="end"
        heading={
          <span className="wrap-anywhere">
            <span className="mono-11">
              <Visible text={path} />
            </span>
            {why && <span className="mt-1 block t-11">{why}</span>}
          </span>
        }
        items={[parts, [...value, ...copies], fieldItems].filter((group) => group.length > 0)}
        trigger={{
          className: menuButton,
          title: "More",
          "aria-label": `More for ${path}`,
          tabIndex: -1,
          children: <Icon name="dots" small />,
        }}
      />
    </span>
  );
}
