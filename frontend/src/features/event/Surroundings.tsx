import { useMemo, useState } from "react";
import type { EventDetail } from "#/api/oriel.gen.ts";
import { ApiError } from "#/lib/http.ts";
import {
  type Filter,
  listParams,
  type OpenEvent,
  readSurrounding,
  type Search,
  type Surrounding,
  surroundings,
} from "#/lib/search.ts";
import { dateAndTime } from "#/lib/time.ts";
import { Button, Note, Skeleton } from "#/ui/controls.tsx";
import { useUrl } from "#/ui/url.ts";
import { useTip } from "#/ui/useTip.tsx";
import { useZone } from "#/ui/zone.tsx";
import { KeptFilters } from "./KeptFilters.tsx";
import { NeighbourRow } from "./NeighbourRow.tsx";
import { type Context, type ContextRead, step, useContextOf } from "./query-context.ts";
import { Timeline } from "./Timeline.tsx";

const labels: Readonly<Record<Surrounding, string>> = {
  subject: "Subject",
  source: "Source",
  trace: "Trace",
  all: "All",
};

/** Why events around one cannot be told by what it has not. */
function lackOf({ event, traceId }: EventDetail, by: Surrounding): string | undefined {
  if (by === "subject" && !event.subject) return "This event has no subject.";
  if (by === "trace" && !traceId) return "This event has no trace.";
  return undefined;
}

/** What happened around an event: the nearest ones with something in common, more on demand. */
export function Surroundings({
  open,
  detail,
  search,
  wide,
  onOpen,
  onSearch,
}: {
  open: OpenEvent;
  detail: EventDetail;
  /** The search that the event was opened from. Its filters are kept, switched off unless pinned. */
  search: Search | undefined;
  wide: boolean;
  onOpen: (event: OpenEvent) => void;
  /** Shows them in the list of a search. */
  onSearch: (by: Surrounding, filters: readonly Filter[]) => void;
}) {
  const { params, go } = useUrl();
  const chosen = readSurrounding(params);
  const usual = surroundings.find((by) => lackOf(detail, by) === undefined) ?? "all";
  const by = chosen !== undefined && lackOf(detail, chosen) === undefined ? chosen : usual;
  const choose = (next: Surrounding) => {
    const { around: _, ...rest } = params;
    go(next === usual ? rest : { ...rest, around: [next] }, { replace: true });
  };
  const kept = useMemo(() => filtersOf(search), [search]);
  const [turned, setTurned] = useState<ReadonlySet<number>>(() => new Set());
  const on = kept.filter((filter, index) => (filter.pinned === true) !== turned.has(index));
  const filter = listParams({ query: "", filters: on.map(({ disabled: _, ...rest }) => rest) });
  const read = useContextOf(open, by, filter);
  return (
    <div>
      <div className="flex flex-wrap items-center gap-2 px-4 pb-2">
        <Presets detail={detail} value={by} onChange={choose} />
        <span className="flex-1" />
        <Button
          look="ghost"
          size="small"
          icon="search"
          onClick={() =>
            onSearch(
              by,
              kept.map((filter) => (on.includes(filter) ? filter : { ...filter, disabled: true })),
            )
          }
        >
          Search these
        </Button>
      </div>
      {kept.length > 0 && (
        <KeptFilters
          filters={kept}
          on={on}
          onTurn={(index) =>
            setTurned((was) => {
              const next = new Set(was);
              if (!next.delete(index)) next.add(index);
              return next;
            })
          }
        />
      )}
      <Neighbours detail={detail} read={read} by={by} filtered={on.length > 0} wide={wide} onOpen={onOpen} />
    </div>
  );
}

/** Also the words of the query, which are a condition as any other. */
function filtersOf(search: Search | undefined): readonly Filter[] {
  if (!search) return [];
  const words: Filter[] =
    search.query.trim() === "" ? [] : [{ field: "q", negated: false, values: [search.query] }];
  return [...words, ...search.filters.filter((filter) => !filter.disabled)];
}

function Presets({
  detail,
  value,
  onChange,
}: {
  detail: EventDetail;
  value: Surrounding;
  onChange: (by: Surrounding) => void;
}) {
  return (
    <fieldset
      className="m-0 inline-flex flex-none rounded-2 border border-line-2 bg-raised p-0"
      aria-label="With the same"
    >
      {surroundings.map((by) => (
        <Preset
          key={by}
          label={labels[by]}
          pressed={by === value}
          lack={lackOf(detail, by)}
          onPress={() => onChange(by)}
        />
      ))}
    </fieldset>
  );
}

function Preset({
  label,
  pressed,
  lack,
  onPress,
}: {
  label: string;
  pressed: boolean;
  lack: string | undefined;
  onPress: () => void;
}) {
  const { props, tip, show } = useTip(lack);
  return (
    <>
      <button
        {...props}
        type="button"
        aria-pressed={pressed}
        aria-disabled={lack === undefined ? undefined : true}
        className="h-10 min-w-10 border-r border-line-2 px-2.5 wide:min-w-0 whitespace-nowrap t-12 font-medium text-ink-2 first:rounded-l-[4px] last:rounded-r-[4px] last:border-r-0 hover:bg-hover aria-disabled:text-ink-off aria-pressed:bg-accent-tint aria-pressed:text-accent wide:h-5.5 wide:px-2"
        onClick={(event) => (lack === undefined ? onPress() : show(event.currentTarget))}
      >
        {label}
      </button>
      {tip}
    </>
  );
}

function Neighbours({
  detail,
  read,
  by,
  filtered,
  wide,
  onOpen,
}: {
  detail: EventDetail;
  read: ContextRead;
  by: Surrounding;
  filtered: boolean;
  wide: boolean;
  onOpen: (event: OpenEvent) => void;
}) {
  const { context, error, reading } = read;
  if (error) {
    return (
      <div className="px-4 pb-3">
        <Note
          look="error"
          fact="The events around it could not be read."
          codes={error instanceof ApiError ? `${error.status} · request ${error.requestId}` : error.name}
          actions={
            <Button size="small" icon="refresh" onClick={read.retry}>
              {reading ? "Trying again…" : "Try again"}
            </Button>
          }
        >
          {error.message}
        </Note>
      </div>
    );
  }
  if (!context) return <ReadingNeighbours />;
  const others = [...context.newer, ...context.older];
  const row = { detail, wide, onOpen, by };
  return (
    <div className="pb-2" aria-busy={reading}>
      {wide && others.length > 0 && (
        <Timeline anchor={detail.event} others={others} by={by} onOpen={onOpen} />
      )}
      <End
        more={context.hasNewer}
        loading={read.loading === "newer"}
        word={`Load ${step} newer`}
        none={context.newer.length === 0 ? "None newer" : "No more newer ones"}
        filtered={filtered}
        onMore={read.loadNewer}
      />
      <ol aria-label="Events around it, newest first">
        {context.newer.map((event) => (
          <NeighbourRow key={`${event.name} ${event.occurredAt}`} event={event} {...row} />
        ))}
        <NeighbourRow event={detail.event} anchor {...row} />
        {context.older.map((event) => (
          <NeighbourRow key={`${event.name} ${event.occurredAt}`} event={event} {...row} />
        ))}
      </ol>
      <OlderEnd context={context} read={read} filtered={filtered} />
      {read.moreError && (
        <div className="px-4 pt-1">
          <Note look="warning" fact="More could not be read.">
            {read.moreError.message}
          </Note>
        </div>
      )}
    </div>
  );
}

function OlderEnd({ context, read, filtered }: { context: Context; read: ContextRead; filtered: boolean }) {
  const zone = useZone();
  const since = context.since ? ` since ${dateAndTime(context.since, zone, 0)}` : "";
  return (
    <End
      more={context.hasOlder}
      loading={read.loading === "older"}
      word={`Load ${step} older`}
      none={context.older.length === 0 ? `None older${since}` : `No more older ones${since}`}
      filtered={filtered}
      onMore={read.loadOlder}
    />
  );
}

function End({
  more,
  loading,
  word,
  none,
  filtered,
  onMore,
}: {
  more: boolean;
  loading: boolean;
  word: string;
  none: string;
  filtered: boolean;
  onMore: () => void;
}) {
  return (
    <p className="flex min-h-10 items-center px-4 t-12 wide:min-h-7">
      {more ? (
        <button type="button" className="text-accent hover:underline max-wide:min-h-10" onClick={onMore}>
          {loading ? "Reading…" : word}
        </button>
      ) : (
        <span className="text-ink-3">
          {none}
          {filtered ? " that match the filters." : "."}
        </span>
      )}
    </p>
  );
}

function ReadingNeighbours() {
  return (
    <div role="status" aria-label="Reading the events around it" className="px-4 pb-2">
      {["64%", "52%", "58%", "70%", "46%", "60%"].map((width) => (
        <div key={width} className="flex h-10 items-center wide:h-7">
          <Skeleton width={width} />
        </div>
      ))}
    </div>
  );
}
