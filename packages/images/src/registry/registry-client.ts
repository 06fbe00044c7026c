import { errorCode, errorMessage, PodwrightError } from '@podwright/base';
import { hasherOf, isDigest, parseDigest, sha256Digest } from '../content/digest.ts';
import { MAX_AUTHORIZATIONS, manifestLimits } from '../limits.ts';
import type { Descriptor } from '../spec/manifest.ts';
import { ACCEPTED_MANIFESTS } from '../spec/media-types.ts';
import { formatReference, type Reference } from '../spec/reference.ts';
import type { Authorizer } from './authorizer.ts';
import { openRange } from './blob-range.ts';
import type { HttpClient, HttpResponse } from './http-client.ts';
import { type ManifestName, registryError } from './registry-error.ts';
import type { RegistryCapability, RegistryHost } from './registry-host.ts';
import { isTransient, type RetryPolicy, withRetries } from './retry.ts';

export type RegistryClientOptions = {
  http: HttpClient;
  authorizer: Authorizer;
  /** The hosts to try for the repository, in this order. */
  hosts: RegistryHost[];
  reference: Reference;
  retryPolicy: RetryPolicy;
  signal: AbortSignal;
};

/** A resolved reference. `data` is the manifest if it had to be fetched to resolve the reference. */
export type Resolved = { descriptor: Descriptor; data?: Buffer };

type HostUse<T> = (host: RegistryHost) => Promise<T>;

/** `signal` overrides the pull's signal for this call. */
type Request = { method: 'GET' | 'HEAD'; path: string; headers: Record<string, string>; signal?: AbortSignal };

/** A request for a blob's bytes from `offset` on. `rotation` is the index of the host to try first. */
export type BlobRequest = { offset: number; rotation: number; signal: AbortSignal };

/**
 * A distribution-spec client for a single repository, reached through its mirrors and the registry itself. Each instance serves one pull
 * and holds that pull's credentials and signal. Errors: `not_found`, `unauthenticated`, `permission_denied`, `unavailable`,
 * `deadline_exceeded` (stalled), `data_loss` (content that does not match its digest).
 */
export class RegistryClient {
  readonly #options: RegistryClientOptions;
  readonly #name: string;

  constructor(options: RegistryClientOptions) {
    this.#options = options;
    this.#name = formatReference(options.reference);
  }

  /** Number of the repository's hosts that have the `pull` capability. */
  get pullHosts(): number {
    return this.#options.hosts.filter(({ capabilities }) => capabilities.includes('pull')).length;
  }

  /** Resolves the reference with a HEAD request, falling back to GET if the response is an error or lacks the digest or size. */
  async resolve(): Promise<Resolved> {
    const { reference } = this.#options;
    const path = `manifests/${reference.digest ?? reference.tag}`;
    const headers = { accept: ACCEPTED_MANIFESTS };
    // any host with the `pull` capability can serve a manifest by digest, because a digest does not have to be resolved
    return this.#anyHostWithRetries(reference.digest === undefined ? 'resolve' : 'pull', async (host) => {
      const head = await this.#send(host, { method: 'HEAD', path, headers });
      head.discard();
      const descriptor = describe(head, reference.digest);
      if (head.status === 200 && descriptor !== undefined) return { descriptor };
      // send a GET request even if HEAD returned an error, because only the body of the GET response contains the reason
      const { data, mediaType } = await this.#getManifest(
        host,
        path,
        reference.digest === undefined ? 'name' : 'digest',
      );
      const digest = reference.digest ?? sha256Digest(data);
      return { descriptor: { mediaType, digest, size: data.length, platform: undefined }, data };
    });
  }

  /** Fetches and verifies the manifest or index that a descriptor refers to. */
  async fetchManifest(descriptor: Descriptor): Promise<Buffer> {
    if (descriptor.size > manifestLimits.manifestBytes) throw tooLarge(descriptor, manifestLimits.manifestBytes);
    return this.#anyHostWithRetries('pull', async (host) => {
      const { data } = await this.#getManifest(host, `manifests/${descriptor.digest}`, 'digest');
      verify(data, descriptor);
      return data;
    });
  }

  /** Opens a blob for reading from `offset` on. Tries each host once, starting with the one at index `rotation`. */
  async openBlob(descriptor: Descriptor, { offset, rotation, signal }: BlobRequest): Promise<AsyncIterable<Buffer>> {
    const headers: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {};
    const request: Request = { method: 'GET', path: `blobs/${descriptor.digest}`, headers, signal };
    return this.#anyHost(
      'pull',
      async (host) =>
        openRange(await this.#send(host, request), { ...descriptor, offset, refusal: this.#refusal, name: this.#name }),
      { rotation, signal },
    );
  }

  readonly #refusal = (response: HttpResponse, what: string, named?: ManifestName): Promise<Error> =>
    registryError(response, what, { named, hasCredentials: this.#options.authorizer.hasCredentials });

  async #getManifest(
    host: RegistryHost,
    path: string,
    named: ManifestName,
  ): Promise<{ data: Buffer; mediaType: string }> {
    const what = `pull ${this.#name}`;
    const response = await this.#send(host, { method: 'GET', path, headers: { accept: ACCEPTED_MANIFESTS } });
    if (response.status !== 200) throw await this.#refusal(response, what, named);
    const data = await response.document(manifestLimits.manifestBytes, `${what}: its manifest`);
    return { data, mediaType: mediaTypeOf(response) };
  }

  /** Tries the hosts in turn until one succeeds. If all fail, throws the last host's error with the messages of the others appended. */
  async #anyHost<T>(
    capability: RegistryCapability,
    use: HostUse<T>,
    { rotation, signal }: Omit<BlobRequest, 'offset'> = { rotation: 0, signal: this.#options.signal },
  ): Promise<T> {
    const { reference } = this.#options;
    const able = this.#options.hosts.filter(({ capabilities }) => capabilities.includes(capability));
    const hosts = able.map((_, index) => able[(index + rotation) % able.length]!);
    const failures: unknown[] = [];
    for (const host of hosts) {
      try {
        return await use(host);
      } catch (error) {
        signal.throwIfAborted();
        failures.push(error);
      }
    }
    const last = failures.pop();
    if (last === undefined) {
      const why = `no host in the hosts.toml of ${reference.domain} has the capability "${capability}"`;
      throw new PodwrightError('failed_precondition', `pull ${this.#name}: ${why}`);
    }
    if (failures.length === 0) throw last;
    const before = failures.map(errorMessage).join('; ');
    // a transient failure of any host makes the combined error transient
    const cause = [last, ...failures].find(isTransient) ?? last;
    throw new PodwrightError(errorCode(last), `${errorMessage(last)} (before: ${before})`, { cause });
  }

  /**
   * Like `#anyHost`, but retries if any host's failure is transient. Each round tries all hosts, so that a busy host does not block the
   * others.
   */
  #anyHostWithRetries<T>(capability: RegistryCapability, use: HostUse<T>): Promise<T> {
    const { retryPolicy: policy, signal } = this.#options;
    return withRetries({ policy, signal, isRetryable: isTransient, attempt: () => this.#anyHost(capability, use) });
  }

  async #send(host: RegistryHost, { method, path, headers, signal }: Request): Promise<HttpResponse> {
    const { http, authorizer, reference } = this.#options;
    const query = host.namespace === '' ? '' : `?ns=${encodeURIComponent(host.namespace)}`;
    const url = `${host.baseUrl}/${reference.path}/${path}${query}`;
    for (let attempt = 1; ; attempt++) {
      const authorization = await authorizer.headerFor(host);
      const response = await http.send({
        method,
        url,
        headers: {
          'user-agent': 'podwright',
          ...host.headers,
          ...headers,
          ...(authorization === undefined ? {} : { authorization }),
        },
        tls: host.tls,
        fallsBackToHttp: host.fallsBackToHttp,
        dialTimeoutMs: host.dialTimeoutMs,
        signal: signal ?? this.#options.signal,
      });
      if (response.status !== 401 || attempt === MAX_AUTHORIZATIONS) return response;
      if (!(await authorizer.answer(host, response, authorization))) return response;
      response.discard();
    }
  }
}

/** Throws `data_loss` unless `data` matches the digest and size in the descriptor. */
function verify(data: Buffer, { digest, size }: Descriptor): void {
  const { algorithm, hex } = parseDigest(digest);
  const actual = hasherOf(digest).update(data).digest('hex');
  if (actual !== hex) throw new PodwrightError('data_loss', `fetch ${digest}: the content is ${algorithm}:${actual}`);
  if (size !== data.length) {
    throw new PodwrightError('data_loss', `fetch ${digest}: ${data.length} bytes instead of the ${size} announced`);
  }
}

function describe(head: HttpResponse, requestedDigest: string | undefined): Descriptor | undefined {
  const header = head.headers['docker-content-digest'];
  const digest = requestedDigest ?? (typeof header === 'string' ? header : '');
  const size = Number(head.headers['content-length'] ?? Number.NaN);
  if (!isDigest(digest) || !Number.isSafeInteger(size) || size <= 0) return undefined;
  return { mediaType: mediaTypeOf(head), digest, size, platform: undefined };
}

function mediaTypeOf(response: HttpResponse): string {
  return (response.headers['content-type'] ?? '').split(';')[0]!.trim();
}

function tooLarge({ digest, size }: Descriptor, limit: number): PodwrightError {
  return new PodwrightError('resource_exhausted', `fetch ${digest}: ${size} bytes, more than ${limit}`);
}
