import { join } from 'node:path';
import { createLogger } from '@podwright/base';
import type { HandlerOptions, RuntimeOptions } from '@podwright/runtime';
import { clusterFiles } from '../settings/cluster-files.ts';
import type { NodeConfig } from '../settings/node-config.ts';
import { nriOptions } from './nri-options.ts';
import { tracingOptions } from './tracing-options.ts';

type Settings = NodeConfig['runtime'];

/**
 * Converts a node's settings to container runtime options. In a cluster or with another kubelet (`isStandalone` is false), CNI plugins may
 * be installed later, so the network follows changes to the CNI directory.
 */
export function runtimeOptions(
  config: NodeConfig,
  { isStandalone = clusterFiles(config) === undefined } = {},
): RuntimeOptions {
  const { runtime } = config;
  return {
    root: join(config.root, 'runtime'),
    state: config.state,
    socket: config.criSocket,
    cgroupParent: config.cgroup_parent,
    network: {
      confDir: config.network.cni_conf_dir,
      mode: config.network.mode === 'auto' ? (isStandalone ? 'keep' : 'follow') : config.network.mode,
      binDirs: config.network.cni_bin_dirs,
      bridge: config.network.bridge,
      subnet: config.network.subnet,
      mtu: config.network.mtu,
    },
    ociRuntime: runtime.oci_runtime,
    conmon: runtime.conmon,
    registryConfigDir: runtime.registry_config_dir,
    cdiDirectories: runtime.cdi_spec_dirs,
    snapshotter: runtime.snapshotter,
    handlers: Object.fromEntries(
      Object.entries(runtime.handlers).map(([name, handler]) => [name, handlerOptions(handler, runtime)]),
    ),
    defaultHandler: runtime.default_handler,
    readySandboxes: runtime.ready_sandboxes,
    openFiles: { soft: runtime.open_files_soft_limit, hard: runtime.open_files_hard_limit },
    plugins: Object.entries(runtime.plugins).map(([id, plugin]) => ({ id, ...plugin, from: config.file })),
    nri: nriOptions(config),
    streaming: streamingOptions(runtime),
    tcp: runtime.tcp && tcpOptions(runtime.tcp),
    expediteRcu: runtime.expedite_rcu,
    fastPaths: config.fast_paths,
    tracing: tracingOptions(config),
    logger: createLogger({ name: 'runtime', level: config.log_level }),
  };
}

function handlerOptions(
  { pause_image: image, shim, ...handler }: Settings['handlers'][string],
  runtime: Settings,
): HandlerOptions {
  return {
    ...handler,
    pauseImage: handler.sandbox === 'pause' ? (image ?? runtime.pause_image) : undefined,
    shim: shim && { binaryName: shim.binary_name, configPath: shim.config_path, configType: shim.config_type },
  };
}

function streamingOptions(runtime: Settings): RuntimeOptions['streaming'] {
  const { streaming_address: address, streaming_port: port, streaming_cert: certificate, streaming_key: key } = runtime;
  // the schema ensures that the certificate and the key are either both set or both unset
  return { address, port, tls: certificate && key ? { certificate, key } : undefined };
}

function tcpOptions({ address, port, cert, key, client_ca: clientCa }: NonNullable<Settings['tcp']>) {
  return { address, port, tls: cert && key && clientCa ? { certificate: cert, key, clientCa } : undefined };
}
