import type { KubeObject } from './kube-object.ts';

/** storage.k8s.io/v1 CSINode: the CSI drivers of a node. Upstream writes an empty list as null. */
export type CsiNode = KubeObject & { spec: { drivers: CsiNodeDriver[] | null } };

export type CsiNodeDriver = {
  name: string;
  /** The driver's ID of the node. */
  nodeID: string;
  topologyKeys: string[] | null;
  /** The maximum number of attachable volumes. */
  allocatable?: { count?: number };
};
