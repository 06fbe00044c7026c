/** Half of what a small heap may grow by before V8 collects all of it. */
const COLLECTED_BYTES = 4 << 20;

/**
 * Collects the buffers that a connection's bytes were read into while they are young, at half a millisecond for 4 MiB. To V8 they are
 * a part of the old heap until then, all of which it would mark each time 8 MiB were read: for 50 ms of processor time. Only in
 * programs that run with `--expose-gc`, as `bin/podwright` starts daemons.
 */
export class ReadBuffers {
  #sizeBytes = 0;

  add(sizeBytes: number): void {
    this.#sizeBytes += sizeBytes;
    if (this.#sizeBytes < COLLECTED_BYTES) return;
    this.#sizeBytes = 0;
    globalThis.gc?.({ type: 'minor' });
  }
}
