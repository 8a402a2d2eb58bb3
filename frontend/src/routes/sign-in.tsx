import { createFileRoute } from "@tanstack/react-router";

/** The frame shows these pages itself, as they are open to anyone. */
export const Route = createFileRoute("/sign-in")({ component: () => null });
