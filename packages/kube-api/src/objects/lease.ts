import type { KubeObject } from './kube-object.ts';

/** coordination.k8s.io/v1 Lease. It expires `leaseDurationSeconds` after `renewTime`, a timestamp with microseconds. */
export type Lease = KubeObject & {
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string };
};
