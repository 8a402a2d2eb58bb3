import type { EventDetail } from "#/api/oriel.gen.ts";
import { shortName } from "#/lib/event-name.ts";
import { emptySearch, type Filter, filterOn, type Search, type Surrounding } from "#/lib/search.ts";

const halfWindow = 5 * 60_000;

/** Ten minutes with the event in the middle. */
export function windowAround(time: string): { from: string; until: string } {
  const ms = Date.parse(time);
  return { from: new Date(ms - halfWindow).toISOString(), until: new Date(ms + halfWindow).toISOString() };
}

/** What events with something in common with this one are found by. */
function commonFilter({ event, traceId }: EventDetail, by: Surrounding): Filter | undefined {
  if (by === "source") return filterOn("source", event.source, false);
  if (by === "subject" && event.subject) return filterOn("subject", event.subject, false);
  if (by === "trace" && traceId) return filterOn("trace", traceId, false);
  return undefined;
}

/** The search for what is around an event, with the filters that one came with. */
export function searchAround(
  detail: EventDetail,
  by: Surrounding,
  filters: readonly Filter[],
  keep: Pick<Search, "zone" | "columns" | "density">,
): Search {
  const { event } = detail;
  const common = commonFilter(detail, by);
  const words = filters.find((filter) => filter.field === "q" && !filter.negated && !filter.disabled);
  // Words are no chip: switched off they would have no place.
  const chips = filters.filter((filter) => filter.field !== "q" || filter.negated);
  return {
    ...emptySearch,
    ...keep,
    ...windowAround(event.occurredAt),
    query: words?.values[0] ?? "",
    filters: [...(common ? [common] : []), ...chips.filter((chip) => !common || chip.field !== common.field)],
    open: { name: shortName(event.name), time: event.occurredAt },
  };
}
