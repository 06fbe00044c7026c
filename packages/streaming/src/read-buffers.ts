/** A small fraction of the growth at which V8 collects the whole of a small heap. */
const COLLECTED_BYTES = 4 << 20;

/** Bytes of all connections together, because they share one heap. */
let sizeBytes = 0;

/**
 * Counts bytes of buffers that connections have received or sent, and triggers a minor garbage collection every 4 MiB, which takes half a
 * millisecond. Without it, V8 counts such buffers towards the old generation and marks all of it repeatedly, for 50 ms of processor time
 * each. Only effective in programs that run with `--expose-gc`, with which `bin/podwright` starts daemons.
 */
export function countBuffer(bytes: number): void {
  sizeBytes += bytes;
  if (sizeBytes < COLLECTED_BYTES) return;
  sizeBytes = 0;
  globalThis.gc?.({ type: 'minor' });
}
