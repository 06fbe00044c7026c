import type { Registry } from './registry.ts';
import type { Side } from './sides.ts';

/** The runtimes to compare, and the resources shared by all parts of the benchmark. `scratch` is a directory for files. */
export type Bench = {
  scratch: string;
  containerd: Side;
  /** With default settings. */
  podwright: Side;
  /** With containerd's CNI configuration and OCI runtime. */
  matched: Side;
  /** With default settings, but without ready sandboxes (sandboxes created in advance). */
  unready: Side;
  registry: Registry;
  /** All started sides, stopped in reverse order at the end or on a signal. `stop` may be called more than once. */
  sides: Pick<Side, 'stop'>[];
};
