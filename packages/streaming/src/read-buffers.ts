/** A small part of what a small heap may grow by before V8 collects all of it. */
const COLLECTED_BYTES = 4 << 20;

/** Of all connections together: it is one heap. */
let sizeBytes = 0;

/**
 * Counts bytes that a connection was read into, or sent from, and has them collected while they are young, at half a millisecond for
 * 4 MiB. To V8 they are a part of the old heap until then, all of which it would mark again and again: for 50 ms of processor time
 * each. Only in programs that run with `--expose-gc`, as `bin/podwright` starts daemons.
 */
export function countBuffer(bytes: number): void {
  sizeBytes += bytes;
  if (sizeBytes < COLLECTED_BYTES) return;
  sizeBytes = 0;
  globalThis.gc?.({ type: 'minor' });
}
