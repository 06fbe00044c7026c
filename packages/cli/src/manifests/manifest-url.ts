import { getSystemErrorMessage } from 'node:util';
import { chainProblem, errorMessage, getDocument, PodwrightError } from '@podwright/base';
import { MAX_API_MANIFEST_BYTES } from '@podwright/kube-api';
import { MANIFEST_FETCH_TIMEOUT_MS } from '../limits.ts';

/** Whether a manifest must be fetched from a URL rather than read from a file. */
export function isManifestUrl(name: string): boolean {
  return /^https?:\/\//i.test(name);
}

/**
 * Fetches a manifest. Trusts the host's CA certificates and refuses redirects from https to http. Rejects with `invalid_argument` if the
 * URL is invalid, `unavailable` or `deadline_exceeded` if the fetch fails, and `resource_exhausted` if the manifest is too large.
 */
export async function fetchManifest(url: string): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(MANIFEST_FETCH_TIMEOUT_MS);
  try {
    return await get(url, signal);
  } catch (error) {
    if (error instanceof PodwrightError) throw error;
    if (signal.aborted)
      throw new PodwrightError(
        'deadline_exceeded',
        `get ${url}: no complete answer within ${MANIFEST_FETCH_TIMEOUT_MS / 1000} s`,
      );
    throw new PodwrightError('unavailable', `get ${url}: ${reason(error)}`);
  }
}

async function get(first: string, signal: AbortSignal): Promise<Uint8Array> {
  const url = parse(first, first);
  const refusal = () =>
    new PodwrightError('resource_exhausted', `get ${first}: larger than ${MAX_API_MANIFEST_BYTES >> 20} MiB`);
  const checkRedirect = (from: URL, to: URL) => {
    const { protocol, href } = parse(to.href, first);
    if (from.protocol === 'https:' && protocol !== 'https:')
      throw new PodwrightError('unavailable', `get ${first}: it redirects from https to the unprotected ${href}`);
    if (protocol === 'https:') trustTheHost();
  };
  if (url.protocol === 'https:') trustTheHost();
  const options = { fields: { Accept: '*/*' }, maxBytes: MAX_API_MANIFEST_BYTES, refusal, checkRedirect, signal };
  const { status, reason, body } = await getDocument(url, options);
  if (status >= 200 && status < 300) return body;
  throw new PodwrightError('unavailable', `get ${first}: status ${status} ${reason}`.trimEnd());
}

function parse(url: string, first: string): URL {
  const parsed = URL.parse(url);
  if (parsed === null || !isManifestUrl(url))
    throw new PodwrightError(
      'invalid_argument',
      `get ${withoutUser(first)}: "${withoutUser(url)}" is not an http or https URL`,
    );
  if (parsed.username !== '' || parsed.password !== '')
    throw new PodwrightError('invalid_argument', `get ${parsed.host}: a URL must have no user and password in it`);
  return parsed;
}

/** Removes the user name and password from an invalid URL, for messages. */
const withoutUser = (url: string) => url.replace(/\/\/[^/]*@/, '//');

/** Makes Node.js trust the host's CA certificates in addition to its own. */
function trustTheHost(): void {
  const tls = process.getBuiltinModule('node:tls'); // loading takes 12 ms, which files do not need
  tls.setDefaultCACertificates([...new Set([...tls.getCACertificates('default'), ...tls.getCACertificates('system')])]);
}

/** Returns the message of a connection error. If connecting to several addresses of the host failed, returns the first message. */
function reason(error: unknown): string {
  const inner = error instanceof AggregateError ? error.errors[0] : error;
  const { errno, code } = inner as NodeJS.ErrnoException;
  if (code === 'ENOTFOUND') return 'there is no such host';
  return chainProblem(inner) ?? (errno === undefined ? errorMessage(inner) : getSystemErrorMessage(errno));
}
