/** `/livez`, `/readyz`, `/healthz` and the checks below them (apiserver, server/healthz). */
import { errorMessage, raceAbort, withTimeout } from '@podwright/base';
import { type PathRequest, type PathResponse, textResponse, unknownPath } from '../http-answer.ts';

/** A check of the server's health. `check` throws if it fails. It should end when its signal aborts, after some seconds. */
export type HealthCheck = { name: string; check: (signal: AbortSignal) => void | Promise<void> };

export type HealthChecks = {
  /** Whether the process works; if not, it should be restarted. */
  livez: readonly HealthCheck[];
  /** Whether clients should send requests. */
  readyz: readonly HealthCheck[];
  /** Both, for old clients. */
  healthz: readonly HealthCheck[];
};

export type FailedCheck = { endpoint: string; check: string; error: unknown };

const CHECK_TIMEOUT_MS = 5000;
/** Succeeds whenever the process responds. */
const PING: HealthCheck = { name: 'ping', check: () => undefined };

export class Health {
  readonly #checks: Readonly<Record<string, readonly HealthCheck[]>>;
  readonly #reportFailure: (failed: FailedCheck) => void;

  /** `reportFailure` gets the reasons of failures for the log: responses for all checks do not have them, as they need no permission. */
  constructor(checks: HealthChecks, reportFailure: (failed: FailedCheck) => void) {
    const withPing = Object.entries(checks).map(([endpoint, list]) => [endpoint, [PING, ...list]] as const);
    this.#checks = Object.fromEntries(withPing);
    this.#reportFailure = reportFailure;
  }

  /** All paths, for the list of paths at `/`. */
  get paths(): string[] {
    const ofEndpoint = ([endpoint, checks]: [string, readonly HealthCheck[]]) => [
      `/${endpoint}`,
      ...checks.map(({ name }) => `/${endpoint}/${name}`),
    ];
    return Object.entries(this.#checks).flatMap(ofEndpoint);
  }

  /** Undefined for paths of other endpoints. */
  async respond({ path, query }: PathRequest): Promise<PathResponse | undefined> {
    const [, endpoint = '', ...rest] = path.split('/');
    const checks = Object.hasOwn(this.#checks, endpoint) ? this.#checks[endpoint] : undefined;
    if (checks === undefined) return undefined;
    if (rest.length === 0) return this.#all(endpoint, checks, query);
    const check = checks.find(({ name }) => name === rest.join('/'));
    return check === undefined ? unknownPath() : this.#one(check);
  }

  async #one(check: HealthCheck): Promise<PathResponse> {
    const error = await failureOf(check);
    return error === undefined
      ? textResponse(200, 'ok')
      : textResponse(500, `internal server error: ${errorMessage(error)}\n`);
  }

  async #all(endpoint: string, checks: readonly HealthCheck[], query: URLSearchParams): Promise<PathResponse> {
    const excluded = new Set(query.getAll('exclude'));
    const results = await Promise.all(
      checks.map(async (check) => {
        if (excluded.has(check.name)) return { line: `[+]${check.name} excluded: ok\n`, isFailed: false };
        const error = await failureOf(check);
        if (error === undefined) return { line: `[+]${check.name} ok\n`, isFailed: false };
        this.#reportFailure({ endpoint, check: check.name, error });
        return { line: `[-]${check.name} failed: reason withheld\n`, isFailed: true };
      }),
    );
    const lines = results.map(({ line }) => line).join('') + unmatched(excluded, checks);
    if (results.some(({ isFailed }) => isFailed)) return textResponse(500, `${lines}${endpoint} check failed\n`);
    return textResponse(200, query.has('verbose') ? `${lines}${endpoint} check passed\n` : 'ok');
  }
}

function unmatched(excluded: ReadonlySet<string>, checks: readonly HealthCheck[]): string {
  const unknown = [...excluded].filter((excludedName) => !checks.some(({ name }) => name === excludedName));
  if (unknown.length === 0) return '';
  const names = unknown.sort().map((name) => JSON.stringify(name));
  return `warn: some health checks cannot be excluded: no matches for ${names.join(',')}\n`;
}

/** The error of a failed check. A check without a result in time has failed. */
async function failureOf({ name, check }: HealthCheck): Promise<unknown> {
  using signal = withTimeout(undefined, CHECK_TIMEOUT_MS, `health check ${name}`);
  try {
    await raceAbort(Promise.resolve(check(signal)), signal);
    return undefined;
  } catch (error) {
    return error ?? new Error('unknown reason');
  }
}
