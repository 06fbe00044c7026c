import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeConfig } from './node-config.ts';

/** The files that make a node part of a cluster. All paths are absolute. */
export type ClusterFiles = {
  kubeconfig: string;
  bootstrapKubeconfig?: string;
  kubeletConfiguration?: string;
};

/** The files written by `podwright join`, and the kubeconfig, which the node writes itself. */
export type JoinedFiles = Required<ClusterFiles> & {
  /** Path of the file with the cluster's CA certificates. */
  authorities: string;
};

export function joinedFiles(root: string): JoinedFiles {
  const directory = join(root, 'cluster');
  return {
    kubeconfig: join(directory, 'kubelet.conf'),
    bootstrapKubeconfig: join(directory, 'bootstrap-kubelet.conf'),
    kubeletConfiguration: join(directory, 'kubelet.yaml'),
    authorities: join(directory, 'ca.crt'),
  };
}

/**
 * Returns the cluster files from the settings or, if none are set, those of the cluster that this node has joined. Returns `undefined` for
 * a standalone node.
 */
export function clusterFiles({ cluster, root }: Pick<NodeConfig, 'cluster' | 'root'>): ClusterFiles | undefined {
  const {
    kubeconfig,
    bootstrap_kubeconfig: bootstrapKubeconfig,
    kubelet_configuration: kubeletConfiguration,
  } = cluster;
  if (kubeconfig !== undefined) return { kubeconfig, bootstrapKubeconfig, kubeletConfiguration };
  const joined = joinedFiles(root);
  if (!existsSync(joined.kubeletConfiguration)) return undefined;
  const { authorities: _, ...files } = joined;
  return existsSync(files.bootstrapKubeconfig) ? files : { ...files, bootstrapKubeconfig: undefined };
}
