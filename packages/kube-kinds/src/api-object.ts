import type { KubeMetadata } from '@podwright/kube-api';

/** An API object as JSON. Objects passed to or returned by the store are replaced, never modified. */
export type ApiObject = {
  apiVersion?: string;
  kind?: string;
  metadata: KubeMetadata & { [field: string]: unknown };
  [field: string]: unknown;
};
