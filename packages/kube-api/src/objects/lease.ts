import type { KubeObject } from './kube-object.ts';

/** coordination.k8s.io/v1 Lease: who has it, for how many seconds after `renewTime`, which is in microseconds. */
export type Lease = KubeObject & {
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string };
};
