import { getSystemErrorMessage } from 'node:util';
import { errorMessage, gatherBytes, PodwrightError } from '@podwright/base';
import { MAX_MANIFEST_BYTES } from '@podwright/kubelet';
import { MANIFEST_FETCH_TIMEOUT_MS, MAX_MANIFEST_REDIRECTS } from '../limits.ts';

/** True for what is fetched rather than opened. */
export function isManifestUrl(name: string): boolean {
  return /^https?:\/\//i.test(name);
}

/**
 * Fetches a manifest. The host's certificate authorities are trusted; a redirect may not lead from https to http. Throws
 * `invalid_argument` for what is no such URL, `unavailable` or `deadline_exceeded` if it cannot be had, `resource_exhausted` for
 * more than a manifest may have.
 */
export async function fetchManifest(url: string): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(MANIFEST_FETCH_TIMEOUT_MS);
  try {
    return await follow(url, signal);
  } catch (error) {
    if (error instanceof PodwrightError) throw error;
    if (signal.aborted)
      throw new PodwrightError(
        'deadline_exceeded',
        `get ${url}: it has not answered in full within ${MANIFEST_FETCH_TIMEOUT_MS / 1000} s`,
      );
    throw new PodwrightError('unavailable', `get ${url}: ${reason(error)}`);
  }
}

async function follow(first: string, signal: AbortSignal): Promise<Uint8Array> {
  let url = parse(first, first);
  for (let redirects = 0; redirects <= MAX_MANIFEST_REDIRECTS; redirects++) {
    if (url.protocol === 'https:') trustTheHost();
    const response = await fetch(url, { signal, redirect: 'manual', headers: { accept: '*/*' } });
    const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null;
    if (location === null) return body(first, response);
    await response.body?.cancel();
    const next = parse(new URL(location, url).href, first);
    if (url.protocol === 'https:' && next.protocol !== 'https:')
      throw new PodwrightError(
        'unavailable',
        `get ${first}: it leads from https to ${next.href}, which nothing protects`,
      );
    url = next;
  }
  throw new PodwrightError('unavailable', `get ${first}: more than ${MAX_MANIFEST_REDIRECTS} redirects`);
}

function parse(url: string, first: string): URL {
  const parsed = URL.parse(url);
  if (parsed === null || !isManifestUrl(url))
    throw new PodwrightError(
      'invalid_argument',
      `get ${withoutUser(first)}: "${withoutUser(url)}" is no http or https URL`,
    );
  if (parsed.username !== '' || parsed.password !== '')
    throw new PodwrightError('invalid_argument', `get ${parsed.host}: a URL must have no user and password in it`);
  return parsed;
}

/** What may stand in messages of what is no URL and may have a password in it all the same. */
const withoutUser = (url: string) => url.replace(/\/\/[^/]*@/, '//');

async function body(url: string, response: Response): Promise<Uint8Array> {
  if (!response.ok) {
    await response.body?.cancel();
    throw new PodwrightError('unavailable', `get ${url}: status ${response.status} ${response.statusText}`.trimEnd());
  }
  const refusal = () =>
    new PodwrightError('resource_exhausted', `get ${url}: larger than ${MAX_MANIFEST_BYTES >> 20} MiB`);
  return response.body === null ? Buffer.alloc(0) : gatherBytes(response.body, MAX_MANIFEST_BYTES, refusal);
}

/** Authorities that the host's administrator added are not among those that Node.js brings. */
function trustTheHost(): void {
  const tls = process.getBuiltinModule('node:tls'); // 12 ms, which files do not need
  tls.setDefaultCACertificates([...new Set([...tls.getCACertificates('default'), ...tls.getCACertificates('system')])]);
}

/** fetch wraps what went wrong in an error that says only that something did, and has one for each address of a host. */
function reason(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && (inner.cause instanceof Error || inner instanceof AggregateError))
    inner = inner instanceof AggregateError ? inner.errors[0] : inner.cause;
  const { errno, code } = inner as NodeJS.ErrnoException;
  if (code === 'ENOTFOUND') return 'there is no such host';
  return errno === undefined ? errorMessage(inner) : getSystemErrorMessage(errno);
}
