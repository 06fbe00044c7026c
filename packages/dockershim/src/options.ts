import type { Failpoint, Logger, Registry, TracingOptions } from '@podwright/base';
import type { CgroupDriver } from '@podwright/host';
import type { CountBuffer } from '@podwright/streaming';
import type { HairpinMode } from './network/network-plugin.ts';

/** Options for `startDockershim`. Paths are absolute. Multiple dockershims can run on one host if they use different paths and Engines. */
export type DockershimOptions = {
  /** Path of the Engine's socket, usually /var/run/docker.sock. */
  dockerSocket: string;
  /** Path of the CRI socket to serve. */
  socket: string;
  /** Directory for persistent data (checkpoints and CNI records), usually /var/lib/podwright/dockershim. */
  root: string;
  /** Sandbox (pause) image. If no registry answers, it is built from the host's catatonit or busybox. */
  sandboxImage: string;
  /** The kubelet's cgroup driver. Startup fails if Docker uses a different one. Default: Docker's. */
  cgroupDriver?: CgroupDriver;
  /** The cgroup this process is moved to (the kubelet's `--runtime-cgroups`). Default: not moved. */
  runtimeCgroups?: string;
  network: {
    /** The network plugin. `none` selects Docker's own bridge. */
    plugin: 'cni' | 'none';
    confDir: string;
    binDirs: string[];
    cacheDir: string;
    hairpinMode: HairpinMode;
    nonMasqueradeCidr: string;
    /** MTU of pods' interfaces in bytes; 0 means the plugin's default. */
    mtu: number;
  };
  /** Address and port of the streaming server for exec, attach and port-forward. Port 0 selects any free port. */
  streaming: { address: string; port: number };
  /** Counts stream buffers, for a process that triggers garbage collection itself. */
  countBuffer?: CountBuffer;
  /** How long an image pull may make no progress before it is canceled (upstream: `--image-pull-progress-deadline`). */
  pullProgressDeadlineMs: number;
  tracing?: TracingOptions;
  logger: Logger;
  /** Registry for CRI call metrics. Default: no metrics. */
  metrics?: Registry;
  /** Failpoint for tests: called at each named step of each call. */
  failpoint?: Failpoint;
};
