import type { CallContext, CallOptions } from '@podwright/grpc';

/**
 * Request header of an ExecSync call with the number of bytes per stream that the client uses of the output. Podwright's runtimes collect no
 * more than that; others ignore it.
 */
const OUTPUT_LIMIT = 'podwright-output-limit';

/** Call options for an ExecSync of which the client uses at most `maxBytes` of stdout and of stderr. */
export function withOutputLimit(maxBytes: number): Pick<CallOptions, 'headers'> {
  return { headers: [[OUTPUT_LIMIT, String(maxBytes)]] };
}

/** The number of bytes per stream that the client of an ExecSync uses; `Infinity` if it did not limit the output. */
export function outputLimitOf(context: Pick<CallContext, 'header'>): number {
  const text = context.header?.(OUTPUT_LIMIT) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
}
