/**
 * Number of buffer bytes between minor garbage collections. A small fraction of the growth after which V8 would run a full collection of a
 * small heap.
 */
const COLLECTED_BYTES = 4 << 20;

/** A callback for the size of each buffer that a connection receives or sends. */
export type CountBuffer = (bytes: number) => void;

/** A `CountBuffer` that counts nothing, so that V8 alone decides when buffers are collected. */
export const ignoreBuffer: CountBuffer = () => undefined;

/**
 * Counts the bytes of buffers and triggers a minor garbage collection every 4 MiB, which takes half a millisecond. Without it, V8
 * attributes such buffers to the old generation and repeatedly marks all of it, using 50 ms of CPU time each time. A process has a single
 * heap, so all of its connections should share one counter. `collect` is `globalThis.gc`.
 */
export function collectBuffers(collect: NodeJS.GCFunction): CountBuffer {
  let sizeBytes = 0;
  return (bytes) => {
    sizeBytes += bytes;
    if (sizeBytes < COLLECTED_BYTES) return;
    sizeBytes = 0;
    collect({ type: 'minor' });
  };
}
