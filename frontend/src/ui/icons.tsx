/** Icons of 16 units, drawn with a 1.5 stroke in the text's colour. They never carry meaning alone. */

const paths = {
  search: "M11.5 7a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0ZM10.5 10.5l3 3",
  clock: "M13.75 8a5.75 5.75 0 1 1-11.5 0 5.75 5.75 0 0 1 11.5 0ZM8 4.75V8l2.25 1.5",
  close: "m4 4 8 8M12 4l-8 8",
  plus: "M8 3.5v9M3.5 8h9",
  minus: "M3.5 8h9",
  down: "m4 6 4 4 4-4",
  up: "m4 10 4-4 4 4",
  left: "m10 4-4 4 4 4",
  filter: "M2.5 4h11M4.5 8h7M6.5 12h3",
  trace: "M2.5 4h5M5 8h6M8.5 12h5M2.5 4v0M5 4v4M8.5 8v4",
  copy: "M7 5.5h5A1.5 1.5 0 0 1 13.5 7v5a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 12V7A1.5 1.5 0 0 1 7 5.5ZM10.5 3.5v-.25a.75.75 0 0 0-.75-.75h-6.5a.75.75 0 0 0-.75.75v6.5c0 .41.34.75.75.75h.25",
  download: "M8 2.5v7.5M4.75 7 8 10.25 11.25 7M3 13.25h10",
  link: "M6.75 9.25a2.5 2.5 0 0 0 3.5 0l2.25-2.25a2.5 2.5 0 0 0-3.5-3.5l-.75.75M9.25 6.75a2.5 2.5 0 0 0-3.5 0L3.5 9a2.5 2.5 0 0 0 3.5 3.5l.75-.75",
  full: "M9.5 2.75h3.75V6.5M6.5 13.25H2.75V9.5M13 3 9.5 6.5M3 13l3.5-3.5",
  eyeOff:
    "M2 2l12 12M6.1 4A6 6 0 0 1 8 3.75c4 0 6 4.25 6 4.25a9 9 0 0 1-1.6 2.1M9.7 9.8A2.4 2.4 0 0 1 6.2 6.3M4.2 5A9.6 9.6 0 0 0 2 8s2 4.25 6 4.25a6 6 0 0 0 2.6-.6",
  pin: "M5.5 2.5h5M6.25 2.5v4L4 9.25h8L9.75 6.5v-4M8 9.25v4.25",
  dots: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  check: "m3.5 8.5 3 3 6-7",
  alert: "M8 2.75 14 13H2zM8 6.75V9.5M8 11.25h.01",
  info: "M13.75 8a5.75 5.75 0 1 1-11.5 0 5.75 5.75 0 0 1 11.5 0ZM8 7.25v3.5M8 5.25h.01",
  refresh: "M13 8a5 5 0 1 1-1.5-3.55M13 2.75v2.5h-2.5",
  lock: "M4.75 7h6.5c.69 0 1.25.56 1.25 1.25v4c0 .69-.56 1.25-1.25 1.25h-6.5c-.69 0-1.25-.56-1.25-1.25v-4C3.5 7.56 4.06 7 4.75 7ZM5.5 7V5a2.5 2.5 0 0 1 5 0v2",
  key: "M8 10.75a2.75 2.75 0 1 1-5.5 0 2.75 2.75 0 0 1 5.5 0ZM7.25 8.75l6-6M10.5 5.5l2 2",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  shield: "M8 2.25 13 4v4c0 3-2 4.75-5 5.75C5 12.75 3 11 3 8V4z",
  right: "m6 4 4 4-4 4",
  leave: "M3 8h10M9 4l4 4-4 4",
  leaveAll: "M2.5 4.75h8M7.5 2l3 2.75-3 2.75M5.5 11.25h8M10.5 8.5l3 2.75-3 2.75",
  sort: "M8 3v10M4.5 9.5 8 13l3.5-3.5",
  keyboard:
    "M2.75 4h10.5c.41 0 .75.34.75.75v6.5c0 .41-.34.75-.75.75H2.75a.75.75 0 0 1-.75-.75v-6.5c0-.41.34-.75.75-.75ZM4.5 6.5h.01M7 6.5h.01M9.5 6.5h.01M11.75 6.5h.01M5 9.5h6",
  around: "M2.5 8h2M11.5 8h2M8 2.5v2M8 11.5v2M10.5 8a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0Z",
  bars: "M3 13.25V8.5M6.5 13.25V3M10 13.25V6M13.25 13.25V10",
  save: "M4 2.75h8v10.5l-4-3-4 3z",
  share: "M8 9.5V2.5M5 5l3-3 3 3M4 7.5H3v6h10v-6h-1",
  gauge: "M2.5 11.5a5.5 5.5 0 1 1 11 0M8 11l2.5-3.5",
  panel:
    "M3.5 3h9A1.5 1.5 0 0 1 14 4.5v7a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 2 11.5v-7A1.5 1.5 0 0 1 3.5 3ZM6.25 3v10",
} as const;

export type IconName = keyof typeof paths;

export function Icon({
  name,
  small = false,
  className = "",
}: {
  name: IconName;
  small?: boolean;
  className?: string;
}) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 16 16"
      className={`flex-none ${small ? "size-3" : "size-4"} ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "dots" ? 2.25 : small ? 2 : 1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={paths[name]} />
    </svg>
  );
}

export function ThemeIcon() {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 16 16"
      className="size-4 flex-none"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
    >
      <circle cx="8" cy="8" r="5.75" />
      <path d="M8 2.25v11.5a5.75 5.75 0 0 0 0-11.5z" fill="currentColor" />
    </svg>
  );
}

/** The three panes of a bay window over its corbel, the middle one lit. */
export function Mark({ className = "size-5" }: { className?: string }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 20 20" className={`flex-none fill-accent-fill ${className}`}>
      <path d="M7 2h6v12H7z" />
      <path fillOpacity=".45" d="M2 4.25 5.75 2v12L2 12.75zM18 4.25 14.25 2v12L18 12.75z" />
      <path d="M4 15.5h12L12.25 19h-4.5z" />
    </svg>
  );
}
