import type { ReactNode } from "react";
import type { Pipeline, PipelinePartition } from "#/api/oriel.gen.ts";
import { dateAndTime, lag as lagText } from "#/lib/time.ts";
import { spelled } from "#/lib/visible.ts";
import { Icon } from "#/ui/icons.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import { arrivedAt, minuteBefore, numberText } from "./numbers.ts";
import { Panel, Proof, Shown } from "./Panel.tsx";
import { useAlerts, usePipeline } from "./usePipeline.ts";

/** `0.6/s`, `356/s` */
export function rateText(perSecond: number): string {
  return `${perSecond < 10 ? Number(perSecond.toFixed(1)) : numberText(Math.round(perSecond), "exact")}/s`;
}

/** How long ago the newest records were stored, by the server's own clock. */
export function freshness({ lastCommitTime, time }: Pipeline): string | undefined {
  return lastCommitTime === undefined ? undefined : lagText(lastCommitTime, time);
}

function standing(partitions: readonly PipelinePartition[]): string {
  const stuck = partitions.filter(({ state }) => state !== "running");
  if (stuck.length > 0) {
    const named = stuck.map(({ partition, state }) => `${partition} (${state})`).join(", ");
    return `partition ${named} of ${partitions.length}`;
  }
  return partitions.length === 1 ? "1 partition runs" : `${partitions.length} partitions run`;
}

export const deadLettersTitle =
  "Records that could not be read as events: no search finds them, and there is no page of them here";

/** How long ago the newest records were stored, which leads to them. */
export function NewestCommit({ data }: { data: Pipeline }) {
  const zone = useZone();
  if (data.lastCommitTime === undefined) return "—";
  const { window, arrived } = arrivedAt(data.lastCommitTime);
  return (
    <Proof
      window={window}
      filters={arrived}
      title={`The events that were stored about ${dateAndTime(data.lastCommitTime, zone)}`}
    >
      <time dateTime={data.lastCommitTime}>{freshness(data)}</time>
    </Proof>
  );
}

export function PipelinePanel() {
  const box = usePipeline();
  const { data } = box;
  const minute = data && minuteBefore(data.time);
  const { data: told } = useAlerts();
  const holds = (name: string) => told?.alerts.some((alert) => alert.name === name) ?? false;
  return (
    <Panel heading="Pipeline" beside={data && "now, whatever the window"}>
      <Shown box={box} what="The pipeline" height="h-56">
        {data && (
          <ul className="py-1 t-12">
            <Row
              ok={data.partitions.every(({ state }) => state === "running") && !holds("LagHigh")}
              name={data.consumer}
              about={data.partitions.length === 0 ? "nothing was stored yet" : standing(data.partitions)}
            >
              {data.lag === undefined ? (
                <span title="The broker does not say how far the topic goes.">lag not known</span>
              ) : (
                `${numberText(data.lag, "exact")} behind`
              )}
            </Row>
            <Row ok name="Ingest" about="stored in the last minute">
              {minute && (
                <Proof
                  window={minute.window}
                  filters={minute.arrived}
                  title="The events that were stored then"
                >
                  {rateText(data.storedPerSecond)}
                </Proof>
              )}
            </Row>
            <Row ok name="Freshness" about="since the newest record">
              <NewestCommit data={data} />
            </Row>
            <Row
              // Some are no alert: what is one is told among the alerts.
              ok={holds("DeadLettersRising") ? false : data.deadLettersRecent === 0 || undefined}
              name="Dead letters"
              title={deadLettersTitle}
              about={`${numberText(data.deadLettersRecent, "exact")} in the last 10 min`}
            >
              {numberText(data.deadLettersDay, "exact")} in 24 h
            </Row>
            {data.partitions
              .filter(({ state }) => state !== "running")
              .map((partition) => (
                <Row
                  key={partition.partition}
                  ok={false}
                  name={`Partition ${partition.partition}`}
                  about={partition.reason ?? partition.state}
                >
                  <span className="mono-11" title="The first offset that is not accounted for">
                    {partition.nextOffset}
                    {partition.lag !== undefined &&
                      partition.lag > 0 &&
                      `, ${numberText(partition.lag, "exact")} behind`}
                  </span>
                </Row>
              ))}
          </ul>
        )}
      </Shown>
    </Panel>
  );
}

function Row({
  ok,
  name,
  about,
  title,
  children,
}: {
  /** Undefined of what is neither well nor broken. */
  ok: boolean | undefined;
  name: string;
  title?: string;
  about: string;
  children: ReactNode;
}) {
  return (
    <li className="flex min-h-10 items-center gap-2 px-4 wide:min-h-7">
      {ok === undefined ? (
        <Icon name="info" className="text-ink-3" />
      ) : (
        <Icon name={ok ? "check" : "alert"} className={ok ? "text-accent" : "text-error"} />
      )}
      <span className="flex-none">{name}</span>
      <span className="min-w-0 flex-1 cut text-ink-3" title={title ?? spelled(about)}>
        <Visible text={about} />
      </span>
      <span className="flex-none tabular-nums">{children}</span>
    </li>
  );
}
