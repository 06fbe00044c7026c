import { type CountBuffer, collectBuffers } from '@podwright/streaming';
import { collectWhenQuiet } from './collect-when-quiet.ts';

/** How a daemon collects garbage. */
export type Heap = {
  /** Counts the buffers of all streams of this process. */
  countBuffer?: CountBuffer;
  /** Starts to collect garbage whenever the daemon is quiet; then `trim` returns memory to the kernel. */
  watch: (trim?: () => void) => void;
};

/** Leaves the collection to V8. */
const plainHeap: Heap = { watch: () => undefined };

/** Also collects at the daemon's request, with `fast_paths` and in a process that `bin/podwright` has started with `--expose-gc`. */
export function daemonHeap(usesFastPaths: boolean, { gc }: { gc?: NodeJS.GCFunction | undefined } = globalThis): Heap {
  if (!usesFastPaths || gc === undefined) return plainHeap;
  return { countBuffer: collectBuffers(gc), watch: (trim) => collectWhenQuiet(gc, trim) };
}
