import { type ReactNode, useEffect, useState } from "react";
import { ApiError, codesOf } from "#/lib/http.ts";
import type { Params } from "#/lib/search.ts";
import { rangeText, windowName } from "#/lib/time.ts";
import { Button, buttonClass, Note, Skeleton } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Popover } from "#/ui/popover.tsx";
import { useUrl } from "#/ui/url.ts";
import { WindowChoices } from "#/ui/window-choices.tsx";
import { useZone } from "#/ui/zone.tsx";
import { Alerts } from "./Alerts.tsx";
import { changeText, errorsOf, minuteBefore, numberText, shareText } from "./numbers.ts";
import { Proof } from "./Panel.tsx";
import { deadLettersTitle, NewestCommit, PipelinePanel, rateText } from "./PipelinePanel.tsx";
import { Ranking } from "./Ranking.tsx";
import { SeverityMix } from "./SeverityMix.tsx";
import { type Overview, useOverview } from "./useOverview.ts";
import { usePipeline } from "./usePipeline.ts";
import { Volume } from "./Volume.tsx";

const presets = ["-15m", "-1h", "-6h", "-24h", "-7d", "-30d"] as const;
const usual = "-24h";

/** What happens here, at a glance; every number opens the search that proves it. */
export function OverviewPage() {
  const { params, go } = useUrl();
  const from = params.from?.[0] || undefined;
  const until = params.until?.[0] || undefined;
  const overview = useOverview(from ?? usual, until);
  useEffect(() => {
    document.title = "Overview · Oriel";
  }, []);
  const onWindow = (nextFrom: string | undefined, nextUntil: string | undefined) => {
    const { from: _from, until: _until, ...rest } = params;
    const next: Params = {
      ...rest,
      ...(nextFrom && { from: [nextFrom] }),
      ...(nextUntil && { until: [nextUntil] }),
    };
    go(next);
  };
  const { error } = overview;
  return (
    <main className="relative flex min-h-0 flex-1 flex-col gap-3 overflow-auto px-4 pt-3 pb-6 *:flex-none wide:pt-4">
      <div className="flex min-h-8 flex-wrap items-center gap-2">
        <h1 className="t-16">Overview</h1>
        <span className="min-w-0 flex-1 cut t-12 text-ink-3 max-wide:hidden">
          Every number of events opens the search that proves it
        </span>
        <span className="flex-1 wide:hidden" />
        <span className="flex min-w-0 items-center gap-2">
          <WindowButton overview={overview} from={from ?? usual} until={until} onWindow={onWindow} />
          <Button
            look="ghost"
            icon="refresh"
            aria-label="Count again"
            title="Count again"
            unavailable={overview.reading ? "It is being counted." : undefined}
            onClick={overview.again}
          />
        </span>
      </div>
      {error && (
        <Note
          look="error"
          fact={overview.taken ? "These numbers may be old." : "The overview could not be read."}
          codes={error instanceof ApiError ? codesOf(error) : undefined}
          actions={
            <Button size="small" icon="refresh" onClick={overview.again}>
              Try again
            </Button>
          }
        >
          {error.message}
        </Note>
      )}
      <Figures overview={overview} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 wide:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
        <Volume box={overview.histogram} />
        <Alerts />
      </div>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 wide:grid-cols-3">
        <Ranking heading="Busiest types" field="type" facets={overview.facets} sparks={overview.types} />
        <Ranking
          heading="Busiest sources"
          field="source"
          facets={overview.facets}
          sparks={overview.sources}
        />
        <PipelinePanel />
      </div>
      <SeverityMix facets={overview.facets} />
    </main>
  );
}

function WindowButton({
  overview,
  from,
  until,
  onWindow,
}: {
  overview: Overview;
  from: string;
  until: string | undefined;
  onWindow: (from: string | undefined, until: string | undefined) => void;
}) {
  const zone = useZone();
  const [open, setOpen] = useState(false);
  const { window } = overview;
  const dates = window && rangeText(window.from, window.until, zone);
  return (
    <Popover
      label="Time window"
      align="end"
      open={open}
      onOpenChange={setOpen}
      trigger={{
        className: `${buttonClass()} max-w-full min-w-0`,
        children: (
          <>
            <Icon name="clock" className="-ml-0.5 text-ink-2" />
            <span className="min-w-0 cut">{windowName(from, until) ?? dates ?? "Chosen dates"}</span>
            {windowName(from, until) && dates && (
              <span className="mono-11 text-ink-3 max-wide:hidden">{dates}</span>
            )}
            <Icon name="down" small className="text-ink-2" />
          </>
        ),
      }}
    >
      <WindowChoices
        from={from}
        until={until}
        presets={presets}
        usual={usual}
        onChoose={(nextFrom, nextUntil) => {
          setOpen(false);
          onWindow(nextFrom, nextUntil);
        }}
      />
    </Popover>
  );
}

function Figures({ overview }: { overview: Overview }) {
  const { histogram, earlier } = overview;
  const { data, window } = histogram;
  const relation = data?.total.relation ?? "exact";
  const errors = data && errorsOf(data);
  const comparable = earlier.data?.relation === "exact" && relation === "exact" && !earlier.outdated;
  const change = data && comparable ? changeText(data.total.value, earlier.data?.value ?? 0) : undefined;
  return (
    <div className="grid grid-cols-2 gap-px overflow-hidden rounded-3 border border-line bg-line wide:grid-cols-6">
      <Figure
        name="Events"
        failed={histogram.error !== null}
        note={change && `${change}${change.endsWith("×") ? "" : " on"} the window before`}
        value={data && window && <Proof window={window}>{numberText(data.total.value, relation)}</Proof>}
      />
      <Figure
        name="Errors"
        failed={histogram.error !== null}
        note={data && errors !== undefined && `${shareText(errors, data.total.value)} of all events`}
        value={
          errors !== undefined &&
          window && (
            <Proof window={window} filters={{ severity: ["error"] }}>
              {numberText(errors, relation)}
            </Proof>
          )
        }
      />
      <Now />
    </div>
  );
}

/** What is told of now, whatever the window. */
function Now() {
  const { data, error } = usePipeline();
  const failed = error !== null;
  const minute = data && minuteBefore(data.time);
  return (
    <>
      <Figure
        name="Ingest"
        failed={failed}
        note="stored in the last minute"
        value={
          data &&
          minute && (
            <Proof window={minute.window} filters={minute.arrived} title="The events that were stored then">
              {rateText(data.storedPerSecond)}
            </Proof>
          )
        }
      />
      <Figure
        name="Freshness"
        failed={failed}
        note="since the newest record"
        value={data && <NewestCommit data={data} />}
      />
      <Figure
        name="Lag"
        failed={failed}
        note={data?.lag === undefined ? "the broker does not say" : "records not accounted for"}
        title="Records that are not stored yet, so that no search finds them"
        value={data && (data.lag === undefined ? "—" : numberText(data.lag, "exact"))}
      />
      <Figure
        name="Dead letters"
        failed={failed}
        title={deadLettersTitle}
        note={data && `${numberText(data.deadLettersRecent, "exact")} in the last 10 min`}
        value={data && numberText(data.deadLettersDay, "exact")}
      />
    </>
  );
}

function Figure({
  name,
  value,
  note,
  title,
  failed,
}: {
  name: string;
  value: ReactNode;
  note?: ReactNode;
  /** Why no search proves it. */
  title?: string;
  failed: boolean;
}) {
  return (
    <div title={title} className="grid min-h-20 content-center gap-0.5 bg-surface px-4 py-2">
      <span className="t-12 text-ink-2">{name}</span>
      <span className="flex min-h-7 items-center text-[20px]/7 font-semibold tabular-nums">
        {value || (failed ? <span title="It could not be read.">—</span> : <Skeleton width="96px" />)}
      </span>
      <span className="min-h-4 cut t-11 text-ink-3">{value ? note : failed ? "not read" : ""}</span>
    </div>
  );
}
