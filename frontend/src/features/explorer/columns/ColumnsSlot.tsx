import type { ComponentProps } from "react";
import { Button, buttonClass } from "#/ui/controls.tsx";
import { Dialog, DialogFooter } from "#/ui/dialog.tsx";
import { Icon } from "#/ui/icons.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { Popover } from "#/ui/popover.tsx";
import { ColumnsPanelPart } from "../parts.ts";

type Panel = Omit<ComponentProps<typeof ColumnsPanelPart>, "narrow" | "failed" | "waiting">;

/** Opens the columns: below a button, and in one column as a sheet. */
export function ColumnsSlot({
  open,
  onOpenChange,
  ...panel
}: Panel & { open: boolean; onOpenChange: (open: boolean) => void }) {
  const narrow = useNarrow();
  const content = (
    <ColumnsPanelPart
      {...panel}
      narrow={narrow}
      waiting={<div className="h-120" />}
      failed={({ retry }) => (
        <p className="p-3 text-ink-2">
          The code of the columns did not come.{" "}
          <Button look="ghost" size="small" onClick={retry}>
            Try again
          </Button>
        </p>
      )}
    />
  );
  if (narrow) {
    return (
      open && (
        <Dialog heading="Columns and rows" onClose={() => onOpenChange(false)}>
          {(close) => (
            <>
              <div className="px-3 py-2">{content}</div>
              <DialogFooter>
                <Button onClick={close}>Done</Button>
              </DialogFooter>
            </>
          )}
        </Dialog>
      )
    );
  }
  return (
    <Popover
      label="Columns and rows"
      align="end"
      open={open}
      onOpenChange={onOpenChange}
      trigger={{
        className: buttonClass("ghost", "small"),
        title: "Columns and height of the rows",
        children: (
          <>
            <Icon name="list" small />
            <span className="@max-[600px]/strip:sr-only">Columns</span>
          </>
        ),
      }}
    >
      {content}
    </Popover>
  );
}
