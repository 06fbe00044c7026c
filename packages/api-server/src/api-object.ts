import type { KubeMetadata } from '@podwright/kube-api';

/** An object of the API as JSON. Objects that were given to the store or came from it are never modified, only replaced. */
export type ApiObject = {
  apiVersion?: string;
  kind?: string;
  metadata: KubeMetadata & { [field: string]: unknown };
  [field: string]: unknown;
};
