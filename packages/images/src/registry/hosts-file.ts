import { PodwrightError } from '@podwright/base';
import { parse } from 'smol-toml';
import * as z from 'zod';
import type { RegistryCapability } from './registry-host.ts';

const textOrList = z.union([z.string().transform((text) => [text]), z.array(z.string())]);

/**
 * Schema of `client` in a `hosts.toml`: either the path of a file with both certificate and key, or a list. Each list item is either such a
 * path or a pair of certificate and key file.
 */
const clientSchema = z.union([
  z.string().transform((file) => [[file, file] as const]),
  z.array(
    z.union([
      z.string().transform((file) => [file, file] as const),
      z
        .array(z.string())
        .length(2)
        .transform(([certificate = '', key]) => [certificate, key || certificate] as const),
    ]),
  ),
]);

const capabilitySchema = z
  .string()
  .transform((text) => text.toLowerCase())
  .pipe(z.enum(['pull', 'resolve', 'push', 'referrers']));

const entrySchema = z.object({
  capabilities: z.array(capabilitySchema).default([]),
  ca: textOrList.default([]),
  client: clientSchema.default([]),
  skip_verify: z.boolean().optional(),
  header: z.record(z.string(), textOrList).default({}),
  override_path: z.boolean().default(false),
  dial_timeout: z.string().default(''),
});

const fileSchema = entrySchema.extend({
  server: z.string().optional(),
  host: z.record(z.string(), entrySchema).default({}),
});

/** A host in a `hosts.toml`. Its certificate files have not been read yet. */
export type HostEntry = {
  /** Base URL of the host's API; `undefined` for the registry itself, which is the last entry if the file has no `server`. */
  baseUrl: string | undefined;
  capabilities: RegistryCapability[];
  caFiles: string[];
  /** Pairs of certificate and key file; both paths are the same if one file contains both. */
  clientFiles: (readonly [string, string])[];
  /** `skip_verify`; `undefined` if `hosts.toml` does not set it. */
  skipVerify: boolean | undefined;
  headers: Record<string, string[]>;
  /** `dial_timeout` in ms; `undefined` if `hosts.toml` does not set it. */
  dialTimeoutMs: number | undefined;
};

/**
 * Decodes a `hosts.toml` the way containerd does (containerd's docs/hosts.md): mirrors in file order, then the server. Unknown keys are
 * ignored. If the file is invalid, throws `failed_precondition` with the file's path.
 */
export function parseHostsFile(text: string, path: string): HostEntry[] {
  const fail = (why: string) => new PodwrightError('failed_precondition', `read ${path}: ${why}`);
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    throw fail((error as Error).message.slice(0, 500));
  }
  const result = fileSchema.safeParse(value);
  if (!result.success) {
    throw fail(result.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
  }
  const { host, server, ...top } = result.data;
  const mirrors = Object.entries(host).map(([url, entry]) => hostEntry(url, entry, fail));
  return [...mirrors, hostEntry(server, top, fail)];
}

function hostEntry(
  url: string | undefined,
  entry: z.infer<typeof entrySchema>,
  fail: (why: string) => PodwrightError,
): HostEntry {
  return {
    baseUrl: url === undefined ? undefined : apiUrl(url, entry.override_path, fail),
    capabilities: entry.capabilities.length > 0 ? entry.capabilities : ['pull', 'resolve', 'push'],
    caFiles: entry.ca,
    clientFiles: entry.client,
    skipVerify: entry.skip_verify,
    headers: entry.header,
    dialTimeoutMs: entry.dial_timeout === '' ? undefined : goDuration(entry.dial_timeout, fail),
  };
}

const unitMs: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 0.001, µs: 0.001, ns: 0.000_001 };

/** Parses a Go duration (`1m30s`, `500ms`) and returns it in ms, at least 1. */
function goDuration(text: string, fail: (why: string) => PodwrightError): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|h|m|s)/g)];
  const totalMs = parts.reduce((sum, [, number, unit]) => sum + Number(number) * unitMs[unit!]!, 0);
  if (parts.map(([part]) => part).join('') !== text || !(totalMs > 0))
    throw fail(`dial_timeout "${text}" is not a duration such as "5s"`);
  return Math.max(1, Math.round(totalMs));
}

/** Appends `/v2` to the path, unless the path already ends with `/v2` or `override_path` is set. */
function apiUrl(text: string, overridePath: boolean, fail: (why: string) => PodwrightError): string {
  const url = URL.parse(text.includes('://') ? text : `https://${text}`);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) throw fail(`"${text}" is not a registry's URL`);
  const path = url.pathname.replace(/\/+/g, '/').replace(/\/$/, '');
  const fullPath = overridePath || path.endsWith('/v2') ? path : `${path}/v2`;
  return `${url.protocol}//${url.host}${fullPath}`;
}
