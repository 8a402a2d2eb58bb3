import type { FacetList, Histogram } from "#/api/oriel.gen.ts";
import { columnsOf, spelled } from "#/lib/visible.ts";
import { SeverityMark } from "#/ui/severity.tsx";
import { Visible } from "#/ui/visible.tsx";
import { numberText, shareText, sparkOf } from "./numbers.ts";
import { Panel, Proof, proofClass, Shown } from "./Panel.tsx";
import { type Box, listed } from "./useOverview.ts";

/** From here on a share of errors is marked. */
const notable = 0.02;

/** The most frequent values of a field. */
export function Ranking({
  heading,
  field,
  facets,
  sparks,
}: {
  heading: string;
  field: "type" | "source";
  facets: Box<FacetList>;
  sparks: Box<Histogram>;
}) {
  const counts = facets.data?.facets.find((facet) => facet.field === field);
  const { window } = facets;
  const values = counts?.values.slice(0, listed) ?? [];
  return (
    <Panel
      heading={heading}
      beside={counts?.relation === "sampled" && `of a sample of ${numberText(counts.sample ?? 0, "exact")}`}
    >
      <Shown box={facets} what={heading} height="h-56">
        {values.length === 0 && <p className="px-4 py-6 t-12 text-ink-2">No event in this window has one.</p>}
        {values.length > 0 && window && (
          <table className="w-full table-fixed t-12">
            <thead className="t-11 text-ink-3">
              <tr className="h-7">
                <th scope="col" className="px-4 text-left font-normal capitalize">
                  {field}
                </th>
                <th scope="col" className="w-20 px-1 text-left font-normal max-wide:hidden">
                  Over time
                </th>
                <th scope="col" className="w-20 px-1 text-right font-normal">
                  Events
                </th>
                <th scope="col" className="w-22 pr-4 pl-1 text-right font-normal">
                  Errors
                </th>
              </tr>
            </thead>
            <tbody>
              {values.map(({ value, count, errors }) => (
                <tr key={value} className="h-10 border-t border-line wide:h-7">
                  <th scope="row" className="px-4 text-left font-normal">
                    <Proof
                      window={window}
                      filters={{ [field]: [value] }}
                      title={spelled(value)}
                      label={value}
                      className={`flex mono-12 ${proofClass}`}
                    >
                      <Ends text={value} />
                    </Proof>
                  </th>
                  <td className="px-1 max-wide:hidden">
                    <Spark counts={sparks.data && sparkOf(sparks.data, value)} />
                  </td>
                  <td className="px-1 text-right tabular-nums">
                    <Proof window={window} filters={{ [field]: [value] }}>
                      {numberText(count, counts?.relation === "exact" ? "exact" : "sampled")}
                    </Proof>
                  </td>
                  <td className="pr-4 pl-1 text-right tabular-nums">
                    <Proof
                      window={window}
                      filters={{ [field]: [value], severity: ["error"] }}
                      title={`${numberText(errors, "exact")} errors`}
                      className={`inline-flex items-center gap-1 ${proofClass} ${errors / count >= notable ? "text-error" : ""}`}
                    >
                      {errors / count >= notable && <SeverityMark level="error" />}
                      {shareText(errors, count)}
                    </Proof>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Shown>
    </Panel>
  );
}

/** Columns of the end, which stays where a text is too long for its place, and tells it from others. */
const kept = 9;

function Ends({ text }: { text: string }) {
  const characters = [...text];
  const end = (length: number) => characters.slice(-length).join("");
  let length = kept;
  // Names of what cannot be seen are wide.
  while (length > 1 && columnsOf(end(length)) > kept) length--;
  return (
    <>
      <span className="min-w-0 cut">
        <Visible text={characters.slice(0, -length).join("")} />
      </span>
      <span className="flex-none whitespace-pre">
        <Visible text={end(length)} />
      </span>
    </>
  );
}

function Spark({ counts }: { counts: readonly number[] | undefined }) {
  if (!counts) return null;
  const most = Math.max(1, ...counts);
  return (
    <span aria-hidden="true" className="flex h-4.5 w-18 items-end gap-px">
      {counts.map((count, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: a bar is told by its place
          key={index}
          className="flex-1 bg-(--color-info-fill) forced-color-adjust-none"
          style={{ height: `${(count / most) * 100}%` }}
        />
      ))}
    </span>
  );
}
