// One identity provider and one program that signs people in with it.
import { readFileSync } from "node:fs";
import { freePort, startDemo } from "../program.ts";
import { demoProvider } from "./providers/demo.ts";
import { startKeycloak } from "./providers/keycloak.ts";
import { startOidcProvider } from "./providers/oidc-provider.ts";
import type { Addresses, Provider } from "./providers/provider.ts";

export type Kind = "demo" | "oidc-provider" | "keycloak";

const starters: Readonly<Record<Exclude<Kind, "demo">, (addresses: Addresses) => Promise<Provider>>> = {
  "oidc-provider": startOidcProvider,
  keycloak: startKeycloak,
};

export interface Stack {
  /** The program's address. */
  readonly url: string;
  readonly provider: Provider;
  /** An API token that reads the record. */
  readonly operatorToken: string;
  stop(): Promise<void>;
}

/** Whom those without a role are told to ask. */
export const contact = "the platform team, platform@example.com";

export interface Options {
  /** Where browsers find the program, which stands behind a proxy then. */
  readonly publicUrl?: (port: number) => Promise<string>;
  /** Nothing answers at the provider's address while the program starts. */
  readonly away?: boolean;
}

export async function startStack(kind: Kind, { publicUrl, away = false }: Options = {}): Promise<Stack> {
  const port = await freePort();
  const own = `http://127.0.0.1:${port}`;
  const url = (await publicUrl?.(port)) ?? own;
  const outside =
    kind === "demo"
      ? undefined
      : await starters[kind]({ callback: `${url}/auth/callback`, signedOut: `${url}/signed-out` });
  try {
    if (away) await outside?.door?.shut();
    const program = await startDemo({
      ORIEL_ADDR: `127.0.0.1:${port}`,
      ...(url !== own && { ORIEL_PUBLIC_URL: url, ORIEL_TRUSTED_PROXIES: "127.0.0.1/32" }),
      ORIEL_DEMO_TRAFFIC: "off",
      ORIEL_ACCESS_CONTACT: contact,
      // The least there is: a role that was taken away is gone after it.
      ORIEL_SESSION_ROLE_CHECK: "1s",
      // More sign-ins come from this one address than a person would ever begin.
      ORIEL_LIMIT_SIGN_IN_ADDRESS: "0",
      ...outside?.variables,
    });
    try {
      const provider = outside ?? demoProvider(program.demo);
      const { operatorToken } = JSON.parse(readFileSync(program.demo, "utf8")) as { operatorToken: string };
      const stop = async () => {
        try {
          await program.stop();
        } finally {
          await provider.stop();
        }
      };
      return { url, provider, operatorToken, stop };
    } catch (error) {
      await program.stop();
      throw error;
    }
  } catch (error) {
    await outside?.stop();
    throw error;
  }
}
