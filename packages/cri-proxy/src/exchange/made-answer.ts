import { errorStatus, type HeaderField, type RawEnd, withPrefix } from '@podwright/grpc';
import type { ProxyAnswer } from './backend.ts';

const HEADERS: readonly HeaderField[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
];

/** Returns an answer that the proxy itself makes from encoded messages. An error of the iterable ends the call. */
export function answerOf(encoded: AsyncIterable<Uint8Array>): ProxyAnswer {
  let trailers: readonly HeaderField[] = [['grpc-status', '0']];
  async function* messages(): AsyncGenerator<Buffer> {
    try {
      for await (const bytes of encoded) yield withPrefix(bytes);
    } catch (error) {
      trailers = errorStatus(error);
    }
  }
  return { headers: HEADERS, messages: messages(), end: async () => ({ kind: 'trailers', fields: trailers }) };
}

/** Returns the answer that reports an error. `details` are further trailers. */
export function failedAnswer(error: unknown, details: readonly HeaderField[] = []): ProxyAnswer {
  const fields = [...HEADERS, ...errorStatus(error), ...details];
  return { headers: undefined, messages: noMessages(), end: async () => ({ kind: 'trailers', fields }) };
}

/** Returns the end of a call that fails after its headers were sent. */
export function failedEnd(error: unknown): RawEnd {
  return { kind: 'trailers', fields: errorStatus(error) };
}

async function* noMessages(): AsyncGenerator<Buffer> {}
