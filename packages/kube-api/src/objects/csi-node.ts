import type { KubeObject } from './kube-object.ts';

/** storage.k8s.io/v1 CSINode: which CSI drivers a node has. Upstream writes no drivers as null. */
export type CsiNode = KubeObject & { spec: { drivers: CsiNodeDriver[] | null } };

export type CsiNodeDriver = {
  name: string;
  /** What the driver calls the node. */
  nodeID: string;
  topologyKeys: string[] | null;
  /** Volumes that it can attach at most. */
  allocatable?: { count?: number };
};
