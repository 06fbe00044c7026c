import type { ObjectStore, RequestContext, ResourceRegistry } from '@podwright/api-machinery';
import type { Logger } from '@podwright/base';

/** What all controllers need. They run until the signal aborts. */
export type ControllerParts = {
  store: ObjectStore;
  /** The registry of a resource by its name in the store, such as `deployments.apps`. */
  registryOf: (resource: string) => ResourceRegistry;
  /** The context of a write by the controllers. */
  context: (subresource?: string) => RequestContext;
  logger: Pick<Logger, 'warn'>;
  signal: AbortSignal;
};
