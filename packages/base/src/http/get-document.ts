import { connect, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { clientContext } from '../chain-limits.ts';
import { clientCiphers } from '../client-ciphers.ts';
import { raceAbort } from '../deadline.ts';
import { nodeLookups } from '../host-lookup.ts';
import { VERSION } from '../version.ts';
import { type HttpAnswer, readAnswer } from './read-answer.ts';
import { type RequestFields, requestText } from './request-text.ts';

/** Maximum size of a response head; Go's client allows 10 MiB. */
const MAX_HEAD_BYTES = 1 << 20;
/** Maximum number of redirects, as in Go's client. */
const MAX_REDIRECTS = 10;
const { lookup } = nodeLookups;
const REDIRECTS = [301, 302, 303, 307, 308];

export type DocumentOptions = {
  /** Additional request header fields, which override the defaults except for Host and Connection. */
  fields?: RequestFields;
  maxBytes: number;
  /** Returns the error to reject with if the body is larger than `maxBytes`. */
  refusal: () => Error;
  /** Called before a redirect is followed. Throws to reject the redirect. */
  checkRedirect: (from: URL, to: URL) => void;
  signal: AbortSignal;
};

/** A complete response with its body decompressed. */
export type HttpDocument = Omit<HttpAnswer, 'body'> & { body: Buffer };

/**
 * Fetches a document, following redirects, and returns the complete response regardless of its status. Uses no proxy and verifies
 * certificates. Rejects with the error returned by `refusal`, the signal's reason, or a connection or response error.
 */
export async function getDocument(first: URL, options: DocumentOptions): Promise<HttpDocument> {
  let url = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const document = await getOnce(url, options);
    const location = REDIRECTS.includes(document.status) ? document.fields.get('location')?.[0] : undefined;
    if (!location) return document;
    const next = new URL(location, url);
    options.checkRedirect(url, next);
    url = next;
  }
  throw new Error(`more than ${MAX_REDIRECTS} redirects`);
}

/** Sends a single request on a new connection, without following redirects. */
async function getOnce(url: URL, options: DocumentOptions): Promise<HttpDocument> {
  const { signal, maxBytes } = options;
  signal.throwIfAborted();
  if (!['http:', 'https:'].includes(url.protocol)) throw new Error(`${url.protocol} is neither http: nor https:`);
  if (url.username !== '' || url.password !== '') throw new Error('a URL must have no user and password in it');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const fields = { ...requestFields(url, options.fields), Connection: 'close' };
  const request = requestText(`${url.pathname}${url.search}`, fields);
  const connection: Duplex =
    url.protocol === 'https:' ? connectSecurely(url, host) : connect({ host, port: portOf(url, 80), lookup });
  try {
    const reading = readAnswer(connection, { maxHeadBytes: MAX_HEAD_BYTES, maxBodyBytes: maxBytes });
    connection.write(request, 'latin1');
    const { body, ...head } = await raceAbort(reading, signal);
    if (body.isCut) throw options.refusal();
    if (body.error !== undefined) throw body.error;
    const isCompressed = head.fields.get('content-encoding')?.[0]?.toLowerCase() === 'gzip';
    return { ...head, body: isCompressed ? await decompress(body.bytes, options) : body.bytes };
  } finally {
    connection.destroy();
  }
}

/**
 * Returns the header fields of a request. As in Go's client, the given fields override the defaults (names are case-insensitive), but
 * `Host` always comes from the URL.
 */
function requestFields(url: URL, given: RequestFields = {}): RequestFields {
  const defaults = { 'User-Agent': `podwright/${VERSION}`, 'Accept-Encoding': 'gzip' };
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()));
  const remaining = Object.entries(defaults).filter(([name]) => !names.has(name.toLowerCase()));
  const sent = Object.entries(given).filter(([name]) => !['host', 'connection'].includes(name.toLowerCase()));
  return { Host: url.host, ...Object.fromEntries([...remaining, ...sent]) };
}

const portOf = (url: URL, defaultPort: number) => Number(url.port || defaultPort);

/** Loads `node:tls` lazily, because loading it is slow and most commands fetch nothing. */
function connectSecurely(url: URL, host: string): Duplex {
  const servername = isIP(host) === 0 ? host : '';
  const secureContext = clientContext('server', { ciphers: clientCiphers() });
  const options = { host, port: portOf(url, 443), servername, secureContext, lookup };
  return process.getBuiltinModule('node:tls').connect(options);
}

function decompress(bytes: Buffer, { maxBytes, refusal }: DocumentOptions): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  process.getBuiltinModule('node:zlib').gunzip(bytes, { maxOutputLength: maxBytes }, (error, unzipped) => {
    if (error === null) resolve(unzipped);
    else if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') reject(refusal());
    else reject(new Error(`the body is not valid gzip: ${error.message}`));
  });
  return promise;
}
