import { dateAndTime, minutesAgo } from "#/lib/time.ts";
import { Badge } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { SeverityMark } from "#/ui/severity.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import { Panel, Shown } from "./Panel.tsx";
import { useAlerts } from "./usePipeline.ts";

/** The named conditions that hold now, the worst first. */
export function Alerts() {
  const box = useAlerts();
  const zone = useZone();
  const alerts = box.data?.alerts ?? [];
  const now = box.data ? Date.parse(box.data.time) : 0;
  return (
    <Panel
      heading="Alerts"
      beside={box.data && "now, whatever the window"}
      tools={alerts.length > 0 && <Badge look="error">{alerts.length}</Badge>}
    >
      <Shown box={box} what="The alerts" height="h-40">
        {alerts.length === 0 ? (
          <p className="flex items-center gap-2 px-4 py-4 t-12 text-ink-2">
            <Icon name="check" className="text-accent" />
            None of the named conditions holds.
          </p>
        ) : (
          <ul className="max-h-80 overflow-y-auto" aria-live="polite">
            {alerts.map(({ name, target, severity, summary, detail, since }) => (
              <li
                key={`${name} ${target ?? ""}`}
                className="flex gap-2 border-t border-line px-4 py-2 first:border-t-0"
              >
                <span className="pt-1">
                  <SeverityMark level={severity} />
                </span>
                <div className="min-w-0 flex-1 t-12">
                  <p className="font-medium wrap-anywhere">
                    <span className="sr-only">{severity}: </span>
                    {summary}
                  </p>
                  <p className="t-11 wrap-anywhere text-ink-3">
                    <Visible text={detail} /> <span className="mono-11">{name}</span>
                  </p>
                </div>
                {since && (
                  <time
                    dateTime={since}
                    title={`Since ${dateAndTime(since, zone)}`}
                    className="flex-none t-11 text-ink-3"
                  >
                    {minutesAgo(since, now)}
                  </time>
                )}
              </li>
            ))}
          </ul>
        )}
      </Shown>
    </Panel>
  );
}
