// The whole sign-in, each provider with a program of its own. ORIEL_E2E_PROVIDERS names the providers, with
// commas between them.
import { defineConfig } from "@playwright/test";
import { common } from "../browser.ts";
import type { Kind } from "./stack.ts";

/** What a provider cannot do; tests that need it carry the tag. */
const beyond: Readonly<Record<Kind, RegExp | undefined>> = {
  // It ends with the program, has one key for its life and one audience.
  demo: /@reach|@keys|@audience|@proxy/,
  "oidc-provider": undefined,
  // They need a second one, which takes a minute; oidc-provider shows these.
  keycloak: /@proxy|@away/,
};

const named = (process.env.ORIEL_E2E_PROVIDERS ?? "demo,oidc-provider").split(",");

function kindOf(name: string): Kind {
  if (Object.hasOwn(beyond, name)) return name as Kind;
  throw new Error(`ORIEL_E2E_PROVIDERS: ${name} is none of ${Object.keys(beyond).join(", ")}`);
}

export default defineConfig<object, { kind: Kind }>({
  ...common,
  testDir: ".",
  // Each worker starts a provider; one Keycloak is enough for this machine.
  workers: named.includes("keycloak") ? 1 : 2,
  use: {
    ...common.use,
    actionTimeout: 30_000,
    navigationTimeout: 30_000,
    // Nothing but this machine.
    launchOptions: {
      ...common.use?.launchOptions,
      args: [
        ...(common.use?.launchOptions?.args ?? []),
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
      ],
    },
  },
  projects: named.map(kindOf).map((kind) => {
    const without = beyond[kind];
    return { name: kind, use: { kind }, ...(without && { grepInvert: without }) };
  }),
});
