import { Blank } from "#/ui/blank.tsx";
import { Button } from "#/ui/controls.tsx";

export function NoTokens({ filtered, onAll }: { filtered: boolean; onAll: () => void }) {
  return (
    <div className="grid min-h-48 place-content-center">
      {filtered ? (
        <Blank icon="search" heading="No tokens match" headingLevel="h3">
          <p>A name is found by any part of it, a prefix by how it begins.</p>
          <Button onClick={onAll}>Show all</Button>
        </Blank>
      ) : (
        <Blank icon="key" heading="No tokens yet" headingLevel="h3">
          <p>A program needs one to publish or to read. People sign in and need none.</p>
        </Blank>
      )}
    </div>
  );
}
