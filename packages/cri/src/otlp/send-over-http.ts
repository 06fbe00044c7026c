import { request as httpRequest, type IncomingMessage } from 'node:http';
import { nodeLookups, PodwrightError, type Span } from '@podwright/base';
import { MAX_ANSWER_HEAD_BYTES } from '../limits.ts';
import { otlpRequest, type SpanResource } from './otlp-request.ts';

/** HTTP status codes after which the same request might succeed later (OTLP 1.5, "Retryable Response Codes"). */
const RETRYABLE = new Set([429, 502, 503, 504]);

/** Sends spans over OTLP/HTTP as JSON. Throws `invalid_argument` if a retry cannot succeed, otherwise `unavailable`. */
export async function sendOverHttp(
  url: URL,
  { spans, resource, signal }: { spans: readonly Span[]; resource: SpanResource; signal: AbortSignal },
): Promise<void> {
  const body = JSON.stringify(otlpRequest(spans, resource, (hex) => hex));
  const request = url.protocol === 'https:' ? (await import('node:https')).request : httpRequest;
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  // as lenient as Go's HTTP client: accept bare LFs, folded header fields, and a large number of fields
  const lenient = { insecureHTTPParser: true, maxHeaderSize: MAX_ANSWER_HEAD_BYTES };
  const call = request(url, { method: 'POST', headers, signal, lookup: nodeLookups.lookup, ...lenient });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  call.on('response', resolve);
  call.on('error', reject);
  call.on('close', () => reject(new Error('the collector sent no HTTP response'))); // status 101 emits neither `response` nor `error`
  call.end(body);
  const response = await promise;
  response.on('error', () => undefined); // the body is ignored
  response.resume();
  const { statusCode = 0 } = response;
  if (statusCode >= 200 && statusCode < 300) return;
  const code = RETRYABLE.has(statusCode) ? 'unavailable' : 'invalid_argument';
  throw new PodwrightError(code, `the collector answered ${statusCode} ${response.statusMessage ?? ''}`.trim());
}
