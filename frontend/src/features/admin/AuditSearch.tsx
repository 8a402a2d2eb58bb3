import { useState } from "react";
import { Kbd } from "#/ui/controls.tsx";
import { SearchInput } from "#/ui/field.tsx";

/** Text to find anywhere in an entry. It is looked for on Enter. */
export function AuditSearch({ query, onQuery }: { query: string; onQuery: (query: string) => void }) {
  const [text, setText] = useState(query);
  const [applied, setApplied] = useState(query);
  if (query !== applied) {
    setApplied(query);
    setText(query);
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: <search> has no role in all browsers yet
    <form
      role="search"
      className="relative max-wide:order-1 max-wide:w-full"
      onSubmit={(event) => {
        event.preventDefault();
        onQuery(text.trim());
      }}
    >
      <SearchInput
        label="Text, or a request id"
        value={text}
        maxLength={200}
        className="w-full wide:w-64"
        onChange={(event) => {
          setText(event.currentTarget.value);
          // Cleared by its cross, what was found by it is let go.
          if (event.currentTarget.value === "" && query !== "") onQuery("");
        }}
      />
      {text.trim() !== query && (
        <span
          className="pointer-events-none absolute inset-y-0 right-7 flex items-center"
          title="Not looked for yet"
        >
          <Kbd>Enter</Kbd>
        </span>
      )}
    </form>
  );
}
