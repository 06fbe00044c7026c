import { errorCode } from '@podwright/base';
import { rpcErrorText } from '@podwright/cri';
import { type Refusal, refusal } from './api-route.ts';

/** How long the runtime keeps a request for a stream: what Go's streaming server calls its cache's TTL, in seconds. */
const RETRY_AFTER_SECONDS = 60;

/** What a client of a stream hears of the runtime's error (upstream's streaming.WriteError). */
export function streamRefusal(error: unknown): Refusal {
  const text = rpcErrorText(error);
  switch (errorCode(error)) {
    case 'not_found':
      return refusal(404, text);
    case 'resource_exhausted':
      return { status: 429, message: text, headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } };
    default:
      return refusal(500, text);
  }
}
