import type { Failpoint, Logger, Registry, TracingOptions } from '@podwright/base';
import type { CgroupDriver } from '@podwright/host';
import type { CountBuffer } from '@podwright/streaming';
import type { HairpinMode } from './network/network-plugin.ts';

/** Options of `startDockershim`. Paths are absolute. Several dockershims with different paths and Engines can run on one host. */
export type DockershimOptions = {
  /** Path of the Engine's socket, usually /var/run/docker.sock. */
  dockerSocket: string;
  /** Path of the CRI socket to serve. */
  socket: string;
  /** Directory of persistent data (checkpoints, CNI records), usually /var/lib/podwright/dockershim. */
  root: string;
  /** Sandbox (pause) image. If no registry answers, it is built from the host's catatonit or busybox. */
  sandboxImage: string;
  /** The kubelet's cgroup driver. The start fails if Docker uses another one. Default: Docker's. */
  cgroupDriver?: CgroupDriver;
  /** Cgroup to which to move this process (the kubelet's `--runtime-cgroups`). Default: not moved. */
  runtimeCgroups?: string;
  network: {
    /** `none` selects Docker's own bridge. */
    plugin: 'cni' | 'none';
    confDir: string;
    binDirs: string[];
    cacheDir: string;
    hairpinMode: HairpinMode;
    nonMasqueradeCidr: string;
    /** MTU of pods' interfaces in bytes; 0 means the plugin's default. */
    mtu: number;
  };
  /** Address and port of the streaming server for exec, attach and port-forward. Port 0 selects a free one. */
  streaming: { address: string; port: number };
  /** Counts the buffers of streams, for a process that triggers garbage collection itself. */
  countBuffer?: CountBuffer;
  /** How long an image pull may make no progress before it is cancelled (upstream: `--image-pull-progress-deadline`). */
  pullProgressDeadlineMs: number;
  tracing?: TracingOptions;
  logger: Logger;
  /** Registry for the metrics of CRI calls. Default: no metrics. */
  metrics?: Registry;
  /** For tests only: called at each named step of each call. */
  failpoint?: Failpoint;
};
