import { join } from 'node:path';
import { createLogger } from '@podwright/base';
import { type KubeletOptions, kubeletOptions, quantityValue } from '@podwright/kubelet';
import type { NodeConfig } from '../config.ts';

/** The kubelet's share of a node's settings, on the runtime at `runtimeEndpoint`. */
export function kubeletOptionsOf(
  config: NodeConfig,
  runtime: Pick<KubeletOptions, 'runtimeEndpoint' | 'imageEndpoint' | 'criApiVersion'>,
): KubeletOptions {
  const { kubelet } = config;
  const base = kubeletOptions({
    ...runtime,
    manifestDir: config.manifests,
    nodeName: config.node_name,
    logger: createLogger({ name: 'kubelet', level: config.log_level }),
  });
  return {
    ...base,
    rootDir: join(config.root, 'kubelet'),
    podLogsDir: config.pod_logs,
    cgroupRoot: config.cgroup_parent,
    clusterDns: kubelet.cluster_dns,
    clusterDomain: kubelet.cluster_domain,
    maxPods: kubelet.max_pods,
    images: {
      ...base.images,
      serializePulls: kubelet.serialize_image_pulls,
      maxParallelPulls: kubelet.max_parallel_image_pulls,
      dockerConfigPaths: [join(config.root, 'kubelet/config.json'), '/root/.docker/config.json'],
    },
    crashLoopBackoff: {
      initialMs: Math.min(10_000, kubelet.max_container_restart_period_seconds * 1000),
      maxMs: kubelet.max_container_restart_period_seconds * 1000,
    },
    containerLog: {
      maxSizeBytes: Number(quantityValue(kubelet.container_log_max_size)),
      maxFiles: kubelet.container_log_max_files,
    },
  };
}
