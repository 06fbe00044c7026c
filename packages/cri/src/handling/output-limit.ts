import type { CallContext, CallOptions } from '@podwright/grpc';

/**
 * Request header of an ExecSync call: the maximum number of bytes per output stream that the client will use. Podwright's runtimes collect
 * no more than that; other runtimes ignore it.
 */
const OUTPUT_LIMIT = 'podwright-output-limit';

/** Returns call options for an ExecSync call whose client uses at most `maxBytes` of stdout and of stderr. */
export function withOutputLimit(maxBytes: number): Pick<CallOptions, 'headers'> {
  return { headers: [[OUTPUT_LIMIT, String(maxBytes)]] };
}

/** Returns the maximum number of bytes per stream that the client of an ExecSync call will use, or `Infinity` if it set no limit. */
export function outputLimitOf(context: Pick<CallContext, 'header'>): number {
  const text = context.header?.(OUTPUT_LIMIT) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
}
