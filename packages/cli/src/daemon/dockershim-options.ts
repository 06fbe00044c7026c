import { join } from 'node:path';
import { createLogger } from '@podwright/base';
import type { DockershimOptions } from '@podwright/dockershim';
import type { CgroupDriver } from '@podwright/host';
import { parseGoDuration } from '@podwright/kube-api';
import type { NodeConfig } from '../settings/node-config.ts';
import { tracingOptions } from './tracing-options.ts';

/** The default socket of `podwright dockershim`, in the state directory. */
const SOCKET_NAME = 'dockershim.sock';

/**
 * Converts a node's settings to dockershim options. The CNI directories default to those of `[network]`, as for the built-in container
 * runtime.
 */
export function dockershimOptions(config: NodeConfig): DockershimOptions {
  const { dockershim, network, runtime } = config;
  return {
    dockerSocket: dockershim.docker_endpoint,
    socket: dockershim.listen ?? join(config.state, SOCKET_NAME),
    root: dockershim.root ?? join(config.root, 'dockershim'),
    sandboxImage: dockershim.sandbox_image,
    cgroupDriver: dockershim.cgroup_driver ?? wantedDriver(runtime.cgroup_driver),
    runtimeCgroups: dockershim.runtime_cgroups,
    network: {
      plugin: dockershim.network_plugin,
      confDir: dockershim.cni_conf_dir ?? network.cni_conf_dir,
      binDirs: dockershim.cni_bin_dirs ?? network.cni_bin_dirs,
      cacheDir: dockershim.cni_cache_dir,
      hairpinMode: dockershim.hairpin_mode,
      nonMasqueradeCidr: dockershim.non_masquerade_cidr,
      mtu: dockershim.mtu,
    },
    streaming: { address: dockershim.streaming_address, port: dockershim.streaming_port },
    pullProgressDeadlineMs: parseGoDuration(dockershim.image_pull_progress_deadline)!, // the schema has checked the format
    tracing: tracingOptions(config),
    logger: createLogger({ name: 'dockershim', level: config.log_level }),
  };
}

function wantedDriver(driver: NodeConfig['runtime']['cgroup_driver']): CgroupDriver | undefined {
  return driver === 'auto' ? undefined : driver;
}
