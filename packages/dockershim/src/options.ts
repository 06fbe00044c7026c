import type { CgroupDriver, Failpoint, Logger, Registry, TracingOptions } from '@podwright/base';
import type { HairpinMode } from './network/network-plugin.ts';

/** Everything that `startDockershim` needs to know; every path is absolute. Several with other paths and Engines live side by side. */
export type DockershimOptions = {
  /** Path of the Engine's socket (/var/run/docker.sock). */
  dockerSocket: string;
  /** Path of the CRI socket that is served. */
  socket: string;
  /** Lasting data: checkpoints, records of CNI (/var/lib/podwright/dockershim). */
  root: string;
  /** Image of pods' own containers; where it cannot be pulled, one is made of the host's catatonit or busybox. */
  sandboxImage: string;
  /** The kubelet's cgroup driver: another than Docker's is an error at start. Docker's unless given. */
  cgroupDriver?: CgroupDriver;
  /** Cgroup that this process is moved to; none leaves it where it is. */
  runtimeCgroups?: string;
  network: {
    /** `none` is Docker's own bridge. */
    plugin: 'cni' | 'none';
    confDir: string;
    binDirs: string[];
    cacheDir: string;
    hairpinMode: HairpinMode;
    nonMasqueradeCidr: string;
    /** 0 leaves it to the plugin. */
    mtu: number;
  };
  /** Where exec, attach and port-forward are served: host and port (0: any). */
  streaming: { address: string; port: number };
  /** An image pull that gains nothing for so long is given up, in milliseconds. */
  pullProgressDeadlineMs: number;
  tracing?: TracingOptions;
  logger: Logger;
  /** Where calls of the CRI are counted. */
  metrics?: Registry;
  /** For tests only: called at each named stage of each verb. */
  failpoint?: Failpoint;
};
