import { Backoff, errorMessage, type Logger, PodwrightError, raceAbort } from '@podwright/base';
import { type KubeObject, namespacedName, type Pod } from '@podwright/kube-api';
import { apiMessage, type KubeClient, SERVICE_ACCOUNTS } from '@podwright/kube-client';
import type { PodTokens, TokenSpec } from '../volumes/payload.ts';
import {
  MAX_TOKEN_LENGTH,
  TOKEN_JITTER_MS,
  TOKEN_LEAST_AGE_MS,
  TOKEN_LEEWAY_MS,
  TOKEN_MAX_AGE_MS,
  TOKEN_RETRY,
  TOKEN_USED_SHARE,
} from './limits.ts';

type Token = { value: string; lifetimeMs: number; refreshAfterMs: number; fetchedAt: Clocks };

/**
 * Readings of both clocks. A token's age is the larger of the two differences: the monotonic clock stops while the host is suspended, and
 * the wall clock can be adjusted.
 */
type Clocks = { monotonicMs: number; wallMs: number };

type Entry = {
  key: string;
  pod: Pod;
  spec: TokenSpec;
  token?: Token;
  fetching?: Promise<string>;
  /** Aborted once no pod needs the token any longer. */
  stopped: AbortController;
};

export type ServiceAccountTokensOptions = {
  client: Pick<KubeClient, 'create'>;
  logger: Logger;
  /** Called after a pod's token has been replaced by a newer one. */
  onRefresh: (podUid: string) => void;
  now?: () => Clocks;
};

/**
 * Service account tokens from TokenRequest, bound to their pods. Each pod has one token per audience and lifetime, cached in memory. A
 * token is replaced in the background after 80 % of its lifetime, after a day, or if the wall clock was set back to before it was issued;
 * the old token is used until that succeeds or it expires. Errors and logs never contain a token.
 */
export class ServiceAccountTokens implements PodTokens {
  readonly #options: ServiceAccountTokensOptions;
  readonly #now: () => Clocks;
  readonly #entries = new Map<string, Entry>();
  readonly #backoff = new Backoff(TOKEN_RETRY);

  constructor(options: ServiceAccountTokensOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => ({ monotonicMs: performance.now(), wallMs: Date.now() }));
  }

  async token(pod: Pod, spec: TokenSpec, signal: AbortSignal): Promise<string> {
    const key = keyOf(pod, spec);
    const entry = this.#entries.get(key) ?? { key, pod, spec, stopped: new AbortController() };
    this.#entries.set(key, entry);
    const { token } = entry;
    if (token === undefined) return raceAbort(this.#fetch(entry), signal);
    const age = this.#ageMs(token);
    if (age >= token.lifetimeMs) return raceAbort(this.#fetch(entry).catch(expired(pod)), signal);
    if (age >= token.refreshAfterMs || this.#isFromFuture(token)) this.#refresh(entry);
    return token.value;
  }

  /** Drops a pod's tokens. Must be called when the pod is removed. */
  forgetPod(podUid: string): void {
    for (const entry of this.#entries.values()) if (entry.pod.metadata.uid === podUid) this.#forget(entry);
  }

  stop(): void {
    for (const entry of this.#entries.values()) this.#forget(entry);
  }

  #forget({ key, stopped }: Entry): void {
    stopped.abort();
    this.#entries.delete(key);
    this.#backoff.forget(key);
  }

  /** Replaces the token in the background, while the old one remains in use. */
  #refresh(entry: Entry): void {
    const { key, pod, stopped } = entry;
    if (entry.fetching !== undefined || this.#backoff.remainingMs(key) > 0) return;
    const failed = (error: unknown) => {
      if (stopped.signal.aborted) return;
      this.#options.logger.warn(
        { pod: namespacedName(pod), serviceAccount: accountOf(pod), error: errorMessage(error) },
        'a service account token could not be refreshed',
      );
    };
    this.#fetch(entry).then(() => this.#options.onRefresh(pod.metadata.uid), failed);
  }

  /** Fetches a token, coalescing concurrent requests for the same token. */
  #fetch(entry: Entry): Promise<string> {
    entry.fetching ??= this.#replace(entry).finally(() => {
      entry.fetching = undefined;
    });
    return entry.fetching;
  }

  async #replace(entry: Entry): Promise<string> {
    const { key } = entry;
    try {
      entry.token = await this.#request(entry);
      this.#backoff.forget(key);
      return entry.token.value;
    } catch (error) {
      const isCurrent = this.#entries.get(key) === entry;
      if (isCurrent && entry.token !== undefined) this.#backoff.next(key);
      else if (isCurrent) this.#entries.delete(key);
      throw error;
    }
  }

  async #request({ pod, spec, stopped: { signal } }: Entry): Promise<Token> {
    const { namespace, name, uid } = pod.metadata;
    const fetchedAt = this.#now();
    const answer = await this.#options.client
      .create<TokenRequest>(
        SERVICE_ACCOUNTS,
        {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          metadata: { namespace, name: accountOf(pod) },
          spec: {
            audiences: spec.audience === undefined || spec.audience === '' ? null : [spec.audience],
            expirationSeconds: spec.expirationSeconds,
            boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
          },
        } as TokenRequest,
        { subresource: 'token', signal },
      )
      .catch((error: unknown) => {
        throw new PodwrightError('unavailable', `failed to fetch token: ${apiMessage(error)}`, { cause: error });
      });
    return tokenOf(answer, fetchedAt);
  }

  /** Whether the wall clock was set back so far that the API server does not accept the token yet. */
  #isFromFuture({ fetchedAt }: Token): boolean {
    return this.#now().wallMs + TOKEN_LEEWAY_MS < fetchedAt.wallMs;
  }

  #ageMs({ fetchedAt }: Token): number {
    const { monotonicMs, wallMs } = this.#now();
    return Math.max(monotonicMs - fetchedAt.monotonicMs, wallMs - fetchedAt.wallMs);
  }
}

/** A TokenRequest (authentication.k8s.io/v1). */
type TokenRequest = KubeObject & {
  spec?: { expirationSeconds?: unknown };
  status?: { token?: unknown; expirationTimestamp?: unknown };
};

/**
 * Returns the token in a TokenRequest response, with the time at which to replace it. The jitter in that time, as in upstream, spreads out
 * the renewal of tokens that were issued at the same time.
 */
function tokenOf({ spec, status }: TokenRequest, fetchedAt: Clocks): Token {
  const value = status?.token;
  if (typeof value !== 'string' || value === '' || value.length > MAX_TOKEN_LENGTH)
    throw malformed(`it has no token of at most ${MAX_TOKEN_LENGTH >> 10} KiB`);
  const expirationSeconds = spec?.expirationSeconds;
  const seconds =
    typeof expirationSeconds === 'number'
      ? expirationSeconds
      : (Date.parse(String(status?.expirationTimestamp)) - fetchedAt.wallMs) / 1000;
  if (!(seconds > 0)) throw malformed('it does not say how long the token is valid');
  const lifetimeMs = seconds * 1000;
  const jitterMs = Math.random() * TOKEN_JITTER_MS;
  // bound the effect of the jitter on a token with a short lifetime
  const leastMs = Math.min(lifetimeMs / 2, TOKEN_LEAST_AGE_MS);
  const refreshAfterMs = Math.max(leastMs, Math.min(lifetimeMs * TOKEN_USED_SHARE, TOKEN_MAX_AGE_MS) - jitterMs);
  return { value, lifetimeMs, refreshAfterMs, fetchedAt };
}

function expired(pod: Pod): (error: unknown) => never {
  return (error) => {
    const what = `token for service account ${accountOf(pod)} of pod ${namespacedName(pod)} expired and refresh failed`;
    throw new PodwrightError('unavailable', `${what}: ${errorMessage(error)}`);
  };
}

function malformed(why: string): PodwrightError {
  return new PodwrightError('internal', `failed to fetch token: the API server's answer is malformed: ${why}`);
}

const accountOf = ({ spec }: Pod): string => spec.serviceAccountName || 'default';

function keyOf(pod: Pod, { audience, expirationSeconds }: TokenSpec): string {
  const { namespace, name, uid } = pod.metadata;
  return JSON.stringify([namespace, accountOf(pod), audience, expirationSeconds, name, uid]);
}
