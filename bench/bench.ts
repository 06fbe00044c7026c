import type { Registry } from './registry.ts';
import type { Side } from './sides.ts';

/** The runtimes to compare, and the resources shared by all parts of the benchmark. `scratch` is a temporary directory. */
export type Bench = {
  scratch: string;
  containerd: Side;
  /** Podwright's runtime with default settings. */
  podwright: Side;
  /** Podwright's runtime with containerd's CNI configuration and OCI runtime. */
  matched: Side;
  /** Podwright's runtime with default settings, but without ready sandboxes (sandboxes created in advance). */
  unready: Side;
  registry: Registry;
  /** All started sides, stopped in reverse order at the end or on a signal. `stop` may be called more than once. */
  sides: Pick<Side, 'stop'>[];
};
