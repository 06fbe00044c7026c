import { isServedByDefault } from '@podwright/api-documents';
import { groupResource, storeResource } from '@podwright/api-machinery';
import { STRATEGIES } from '@podwright/kube-kinds';
import type { Resource, Schema } from '@podwright/kube-schema';

/** API groups of review resources, which are not stored: creating a review only returns a response. */
const REVIEWS: readonly string[] = ['authentication.k8s.io', 'authorization.k8s.io'];

/** Returns the built-in resources served by this server: those served by upstream by default, except any that have no rules here. */
export const servedResources = (schema: Schema): Resource[] =>
  schema.resources.filter((resource) => {
    if (resource.isCustom) return false;
    if (!isServedByDefault(resource)) return false;
    return REVIEWS.includes(resource.group) || hasRules(schema, resource);
  });

const hasRules = (schema: Schema, resource: Resource): boolean =>
  Object.hasOwn(STRATEGIES, storeResource(schema, resource)) || groupResource(resource) === 'bindings';
