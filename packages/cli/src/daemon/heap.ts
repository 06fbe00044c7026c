import { setFlagsFromString } from 'node:v8';
import { type CountBuffer, collectBuffers } from '@podwright/streaming';
import { collectWhenQuiet } from './collect-when-quiet.ts';
import { daemonFlags, KUBELET_FLAGS } from './daemon-flags.ts';

/** How a daemon's heap is garbage-collected. */
export type Heap = {
  /**
   * Counts the bytes of all stream buffers in this process, and triggers minor garbage collections. Unset if garbage collection is left to
   * V8.
   */
  countBuffer?: CountBuffer;
  /** Starts collecting garbage whenever the daemon is quiet. Each collection then calls `trim` to return memory to the kernel. */
  watch: (trim?: () => void) => void;
};

/** A heap whose garbage collection is left to V8. */
const plainHeap: Heap = { watch: () => undefined };

/**
 * Returns a heap that is also collected at the daemon's request. This requires `fast_paths` and a process that `bin/podwright` started with
 * `--expose-gc`; otherwise, garbage collection is left to V8.
 */
export function daemonHeap(usesFastPaths: boolean, { gc }: { gc?: NodeJS.GCFunction | undefined } = globalThis): Heap {
  if (!usesFastPaths || gc === undefined) return plainHeap;
  const growsFast = daemonFlags(process.argv.slice(2)) !== KUBELET_FLAGS;
  return { countBuffer: collectBuffers(gc), watch: (trim) => collectWhenQuiet(() => collectAll(gc, growsFast), trim) };
}

/**
 * Collects all garbage, and compiled code unused since the last such collection. If `growsFast`, the heap may then double before V8 starts
 * marking it: bursts fill it with objects that die when the burst ends. The V8 flags for this are reset to their defaults immediately, so
 * that V8 accepts the code cache of Node.js's built-in modules (see `resetFlags`).
 */
function collectAll(collect: NodeJS.GCFunction, growsFast: boolean): void {
  setFlagsFromString('--bytecode-old-age=3');
  if (growsFast) setFlagsFromString('--heap-growing-percent=100');
  collect({ type: 'major', flavor: 'last-resort' });
  setFlagsFromString('--bytecode-old-age=6');
  setFlagsFromString('--heap-growing-percent=0');
}
