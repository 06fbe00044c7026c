import { errorStatus, type HeaderField, type RawEnd } from '@podwright/grpc';
import type { ProxyAnswer } from './backend.ts';

const HEADERS: readonly HeaderField[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
];

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
