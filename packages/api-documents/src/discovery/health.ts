/** `/livez`, `/readyz`, `/healthz` and their individual checks, such as `/livez/ping` (apiserver, server/healthz). */
import { errorMessage, raceAbort, withTimeout } from '@podwright/base';
import { type PathRequest, type PathResponse, textResponse, unknownPath } from '../http-answer.ts';

/** A health check. `check` throws on failure. Its signal aborts after a few seconds, after which it should return. */
export type HealthCheck = { name: string; check: (signal: AbortSignal) => void | Promise<void> };

export type HealthChecks = {
  /** Liveness checks. If one fails, the process should be restarted. */
  livez: readonly HealthCheck[];
  /** Readiness checks: whether clients should send requests. */
  readyz: readonly HealthCheck[];
  /** Both liveness and readiness checks, for old clients. */
  healthz: readonly HealthCheck[];
};

export type FailedCheck = { endpoint: string; check: string; error: unknown };

const CHECK_TIMEOUT_MS = 5000;
/** A check that succeeds whenever the process responds. */
const PING: HealthCheck = { name: 'ping', check: () => undefined };

export class Health {
  readonly #checks: Readonly<Record<string, readonly HealthCheck[]>>;
  readonly #reportFailure: (failed: FailedCheck) => void;

  /**
   * `reportFailure`: logs the reason for a failure. Responses that cover all checks omit the reasons, because anonymous clients can read
   * them.
   */
  constructor(checks: HealthChecks, reportFailure: (failed: FailedCheck) => void) {
    const withPing = Object.entries(checks).map(([endpoint, list]) => [endpoint, [PING, ...list]] as const);
    this.#checks = Object.fromEntries(withPing);
    this.#reportFailure = reportFailure;
  }

  /** The paths of all health checks, which the document at `/` lists. */
  get paths(): string[] {
    const ofEndpoint = ([endpoint, checks]: [string, readonly HealthCheck[]]) => [
      `/${endpoint}`,
      ...checks.map(({ name }) => `/${endpoint}/${name}`),
    ];
    return Object.entries(this.#checks).flatMap(ofEndpoint);
  }

  /** Returns `undefined` if the path is not that of a health check. */
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

/** Runs a health check. Returns its error if it fails or times out, otherwise `undefined`. */
async function failureOf({ name, check }: HealthCheck): Promise<unknown> {
  using signal = withTimeout(undefined, CHECK_TIMEOUT_MS, `health check ${name}`);
  try {
    await raceAbort(Promise.resolve(check(signal)), signal);
    return undefined;
  } catch (error) {
    return error ?? new Error('unknown reason');
  }
}
