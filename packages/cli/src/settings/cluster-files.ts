import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeConfig } from './node-config.ts';

/** Files that make a node one of a cluster. All paths are absolute. */
export type ClusterFiles = {
  kubeconfig: string;
  bootstrapKubeconfig?: string;
  kubeletConfiguration?: string;
};

/** The files that `podwright join` writes, but for the kubeconfig, which the node writes. */
export type JoinedFiles = Required<ClusterFiles> & {
  /** The cluster's authorities. */
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

/** The cluster that the settings name, else the one that this node has joined. */
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
