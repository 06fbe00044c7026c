import type { KubeObject } from './kube-object.ts';

/** coordination.k8s.io/v1 Lease. The holder keeps it for `leaseDurationSeconds` after `renewTime`, a time with microseconds. */
export type Lease = KubeObject & {
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string };
};
