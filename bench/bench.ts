import type { Registry } from './registry.ts';
import type { Side } from './sides.ts';

/** What every part measures with: the runtimes, and where it may put files. */
export type Bench = {
  scratch: string;
  containerd: Side;
  /** As it is set up by default. */
  podwright: Side;
  /** With containerd's CNI configuration and OCI runtime. */
  matched: Side;
  /** By default, but without sandboxes that are made ahead. */
  unready: Side;
  registry: Registry;
  /** All that were started, to be stopped at the end or at a signal, the last one first; each can be stopped more than once. */
  sides: Pick<Side, 'stop'>[];
};
