import type { KubeMetadata } from '@podwright/kube-api';

/** An API object as JSON. Objects that were passed to or returned by the store are never modified, only replaced. */
export type ApiObject = {
  apiVersion?: string;
  kind?: string;
  metadata: KubeMetadata & { [field: string]: unknown };
  [field: string]: unknown;
};
