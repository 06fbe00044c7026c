import type { IncomingHttpHeaders } from 'node:http';
import { VERSION } from '@podwright/base';

/** Request headers that are forwarded to the API server. All others are dropped, such as cookies, credentials and hop-by-hop headers. */
const REQUEST_HEADERS = ['accept', 'accept-encoding', 'content-type', 'if-match', 'if-none-match'] as const;
/** Response headers that are forwarded to the page. */
const ANSWER_HEADERS = ['content-encoding', 'etag', 'retry-after', 'warning'] as const;
/** Content types that browsers never treat as documents with scripts. */
const DATA_TYPE =
  /^(?:application\/(?:[\w.+-]+\+)?(?:json|yaml|x-yaml|vnd\.kubernetes\.protobuf|protobuf)|text\/plain)\s*(?:;|$)/i;
const PLAIN_TEXT = 'text/plain; charset=utf-8';

export const USER_AGENT = `podwright-dashboard/${VERSION}`;

/** Returns the headers to send to the API server with a page's request. */
export function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept = REQUEST_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]]));
  return { ...Object.fromEntries(kept), 'user-agent': USER_AGENT };
}

/** Returns the headers to send to the page with the API server's response. The caller adds the security headers. */
export function answerHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept = ANSWER_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
  return {
    ...Object.fromEntries(kept),
    'content-type': dataType(headers['content-type']),
    'cache-control': 'no-store',
  };
}

/** Returns the response's content type, or plain text if browsers might treat the type as a document with scripts. */
export function dataType(type: string | undefined): string {
  return type !== undefined && DATA_TYPE.test(type) ? type : PLAIN_TEXT;
}
