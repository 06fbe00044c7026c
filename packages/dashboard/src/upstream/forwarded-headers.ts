import type { IncomingHttpHeaders } from 'node:http';
import { VERSION } from '@podwright/base';

/** Headers of a page's request that the API server receives. Cookies, credentials and hop-by-hop headers are none of them. */
const REQUEST_HEADERS = ['accept', 'accept-encoding', 'content-type', 'if-match', 'if-none-match'] as const;
/** Headers of the API server's answer that the page receives. */
const ANSWER_HEADERS = ['content-encoding', 'etag', 'retry-after', 'warning'] as const;
/** Types of answers that a browser does not show as a document with scripts. */
const DATA_TYPE =
  /^(?:application\/(?:[\w.+-]+\+)?(?:json|yaml|x-yaml|vnd\.kubernetes\.protobuf|protobuf)|text\/plain)\s*(?:;|$)/i;
const PLAIN_TEXT = 'text/plain; charset=utf-8';

export const USER_AGENT = `podwright-dashboard/${VERSION}`;

/** Returns the headers of a request to the API server. */
export function forwardedHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const kept = REQUEST_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]]));
  return { ...Object.fromEntries(kept), 'user-agent': USER_AGENT };
}

/** Returns the headers of the API server's answer for the page, without those of security. */
export function answerHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept = ANSWER_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]]));
  return {
    ...Object.fromEntries(kept),
    'content-type': dataType(headers['content-type']),
    'cache-control': 'no-store',
  };
}

/** Returns the type of an answer, or plain text instead of a type that a browser could show as a document. */
export function dataType(type: string | undefined): string {
  return type !== undefined && DATA_TYPE.test(type) ? type : PLAIN_TEXT;
}
