import type { ObjectStore, RequestContext, ResourceRegistry } from '@podwright/api-machinery';
import type { Logger } from '@podwright/base';

/** Dependencies shared by all controllers. They run until the signal aborts. */
export type ControllerParts = {
  store: ObjectStore;
  /** Returns a resource's registry by its store name, e.g. `deployments.apps`. */
  registryOf: (resource: string) => ResourceRegistry;
  /** Returns the context for a write by a controller. */
  context: (subresource?: string) => RequestContext;
  logger: Pick<Logger, 'warn'>;
  signal: AbortSignal;
};
