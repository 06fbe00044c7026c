import type { Registry } from './registry.ts';
import type { Side } from './sides.ts';

/** The runtimes under measurement and shared resources, for every part. `scratch` is a directory for files. */
export type Bench = {
  scratch: string;
  containerd: Side;
  /** With default settings. */
  podwright: Side;
  /** With containerd's CNI configuration and OCI runtime. */
  matched: Side;
  /** With default settings, but without ready sandboxes (sandboxes that are created in advance). */
  unready: Side;
  registry: Registry;
  /** All started sides, which are stopped at the end or at a signal, the last one first. `stop` may be called more than once. */
  sides: Pick<Side, 'stop'>[];
};
