import type { KubeObject } from './kube-object.ts';

/** coordination.k8s.io/v1 Lease: its holder, valid for some seconds after `renewTime`, which has microseconds. */
export type Lease = KubeObject & {
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string };
};
