import { connect, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { raceAbort } from '../deadline.ts';
import { VERSION } from '../version.ts';
import { type HttpAnswer, readAnswer } from './read-answer.ts';
import { type RequestFields, requestText } from './request-text.ts';

/** Bytes of all fields of an answer; Go's client takes 10 MiB. */
const MAX_HEAD_BYTES = 1 << 20;
/** As many as Go's client follows. */
const MAX_REDIRECTS = 10;
const REDIRECTS = [301, 302, 303, 307, 308];

export type DocumentOptions = {
  /** Added to those of each request; one of the same name replaces it. */
  fields?: RequestFields;
  maxBytes: number;
  /** What to throw when the document is larger. */
  refusal: () => Error;
  /** Throws for a redirect that is not to be followed. */
  checkRedirect: (from: URL, to: URL) => void;
  signal: AbortSignal;
};

/** A whole answer; its body is not compressed any more. */
export type HttpDocument = Omit<HttpAnswer, 'body'> & { body: Buffer };

/**
 * Gets a whole answer, whatever its status, after redirects. Proxies are not asked, and certificates are verified. Rejects with
 * `refusal`, the signal's reason, or the error of the system or the answer.
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

/** Sends a request on a connection of its own. */
async function getOnce(url: URL, options: DocumentOptions): Promise<HttpDocument> {
  const { signal, maxBytes } = options;
  signal.throwIfAborted();
  if (!['http:', 'https:'].includes(url.protocol)) throw new Error(`${url.protocol} is neither http: nor https:`);
  if (url.username !== '' || url.password !== '') throw new Error('a URL must have no user and password in it');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const fields = { ...requestFields(url, options.fields), Connection: 'close' };
  const request = requestText(`${url.pathname}${url.search}`, fields);
  const connection: Duplex =
    url.protocol === 'https:' ? connectSecurely(url, host) : connect({ host, port: portOf(url, 80) });
  try {
    const reading = readAnswer(connection, { maxHeadBytes: MAX_HEAD_BYTES, maxBodyBytes: maxBytes });
    connection.write(request, 'latin1');
    const { body, ...head } = await raceAbort(reading, signal);
    if (body.isCut) throw options.refusal();
    if (body.error !== undefined) throw body.error;
    const isPacked = head.fields.get('content-encoding')?.[0]?.toLowerCase() === 'gzip';
    return { ...head, body: isPacked ? await unpacked(body.bytes, options) : body.bytes };
  } finally {
    connection.destroy();
  }
}

/** As Go's client: fields replace others by name in any spelling, but `Host` is always that of the URL. */
function requestFields(url: URL, given: RequestFields = {}): RequestFields {
  const usual = { 'User-Agent': `podwright/${VERSION}`, 'Accept-Encoding': 'gzip' };
  const names = new Set(Object.keys(given).map((name) => name.toLowerCase()));
  const kept = Object.entries(usual).filter(([name]) => !names.has(name.toLowerCase()));
  const sent = Object.entries(given).filter(([name]) => !['host', 'connection'].includes(name.toLowerCase()));
  return { Host: url.host, ...Object.fromEntries([...kept, ...sent]) };
}

const portOf = (url: URL, usual: number) => Number(url.port || usual);

/** What takes long to load is loaded where it is needed: most commands fetch nothing. */
function connectSecurely(url: URL, host: string): Duplex {
  const servername = isIP(host) === 0 ? host : '';
  return process.getBuiltinModule('node:tls').connect({ host, port: portOf(url, 443), servername });
}

function unpacked(bytes: Buffer, { maxBytes, refusal }: DocumentOptions): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  process.getBuiltinModule('node:zlib').gunzip(bytes, { maxOutputLength: maxBytes }, (error, unzipped) => {
    if (error === null) resolve(unzipped);
    else if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') reject(refusal());
    else reject(new Error(`the body is no gzip: ${error.message}`));
  });
  return promise;
}
