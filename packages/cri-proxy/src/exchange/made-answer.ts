import { errorStatus, type HeaderField, type RawEnd, withPrefix } from '@podwright/grpc';
import type { ProxyAnswer } from './backend.ts';

const HEADERS: readonly HeaderField[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
];

/** An answer of these encoded messages, which the proxy itself makes. An error that they throw ends the call. */
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

/** The answer of a failed call. */
export function failedAnswer(error: unknown, details: readonly HeaderField[] = []): ProxyAnswer {
  const fields = [...HEADERS, ...errorStatus(error), ...details];
  return { headers: undefined, messages: noMessages(), end: async () => ({ kind: 'trailers', fields }) };
}

/** The end of a call that fails after its headers. */
export function failedEnd(error: unknown): RawEnd {
  return { kind: 'trailers', fields: errorStatus(error) };
}

async function* noMessages(): AsyncGenerator<Buffer> {}
