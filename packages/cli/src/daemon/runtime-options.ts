import { join } from 'node:path';
import { createLogger } from '@podwright/base';
import type { RuntimeOptions } from '@podwright/runtime';
import type { NodeConfig } from '../config.ts';

/** The runtime's share of a node's settings. */
export function runtimeOptions(config: NodeConfig): RuntimeOptions {
  return {
    root: join(config.root, 'runtime'),
    state: config.state,
    socket: config.criSocket,
    cgroupParent: config.cgroup_parent,
    network: {
      confDir: config.network.cni_conf_dir,
      binDirs: config.network.cni_bin_dirs,
      bridge: config.network.bridge,
      subnet: config.network.subnet,
    },
    ociRuntime: config.runtime.oci_runtime,
    conmon: config.runtime.conmon,
    registryConfigDir: config.runtime.registry_config_dir,
    pinnedImages: config.runtime.pinned_images,
    snapshotter: config.runtime.snapshotter,
    handlers: config.runtime.handlers,
    defaultHandler: config.runtime.default_handler,
    plugins: Object.entries(config.runtime.plugins).map(([id, plugin]) => ({ id, ...plugin, from: config.file })),
    streaming: { address: config.runtime.streaming_address, port: config.runtime.streaming_port },
    logger: createLogger({ name: 'runtime', level: config.log_level }),
  };
}
