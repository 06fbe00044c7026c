import { type CountBuffer, collectBuffers } from '@podwright/streaming';
import { collectWhenQuiet } from './collect-when-quiet.ts';

/** How a daemon's garbage is collected. */
export type Heap = {
  /** Counts the buffers of all streams of this process. */
  countBuffer?: CountBuffer;
  /** Starts collecting garbage whenever the daemon is quiet; `trim` is then called to return memory to the kernel. */
  watch: (trim?: () => void) => void;
};

/** Leaves garbage collection to V8. */
const plainHeap: Heap = { watch: () => undefined };

/**
 * Returns a heap that is also collected at the daemon's request. This requires `fast_paths` and a process that `bin/podwright` started with
 * `--expose-gc`; otherwise, garbage collection is left to V8.
 */
export function daemonHeap(usesFastPaths: boolean, { gc }: { gc?: NodeJS.GCFunction | undefined } = globalThis): Heap {
  if (!usesFastPaths || gc === undefined) return plainHeap;
  return { countBuffer: collectBuffers(gc), watch: (trim) => collectWhenQuiet(gc, trim) };
}
