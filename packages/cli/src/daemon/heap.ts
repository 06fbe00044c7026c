import { type CountBuffer, collectBuffers } from '@podwright/streaming';
import { collectWhenQuiet } from './collect-when-quiet.ts';

/** How the garbage of a daemon is collected. */
export type Heap = {
  /** Counts the buffers of all streams of this process. */
  countBuffer?: CountBuffer;
  /** Begins to collect garbage while the daemon is quiet; then `trim` returns memory to the kernel. */
  watch: (trim?: () => void) => void;
};

/** By V8 alone. */
const plainHeap: Heap = { watch: () => undefined };

/** Also by requests of the daemon, with `fast_paths` and in a process that `bin/podwright` has started with `--expose-gc`. */
export function daemonHeap(usesFastPaths: boolean, { gc }: { gc?: NodeJS.GCFunction | undefined } = globalThis): Heap {
  if (!usesFastPaths || gc === undefined) return plainHeap;
  return { countBuffer: collectBuffers(gc), watch: (trim) => collectWhenQuiet(gc, trim) };
}
