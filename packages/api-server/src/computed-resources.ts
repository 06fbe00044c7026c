import type { Schema } from '@podwright/kube-schema';
import type { CustomKinds } from './custom-kinds.ts';
import { servedResources } from './served-resources.ts';
import type { ComputedResource } from './server/computed-resource.ts';
import { apiServices } from './usage/api-services.ts';
import { type UsageParts, usageResources } from './usage/usage-resources.ts';

export type ComputedParts = UsageParts & { schema: Schema; custom: Pick<CustomKinds, 'resources'> };

/** Returns the resources whose objects are computed for each request instead of stored. */
export function computedResources({ schema, custom, ...parts }: ComputedParts): ComputedResource[] {
  const builtIn = servedResources(schema);
  const usage = usageResources(parts);
  const computed: ComputedResource[] = [...usage];
  const all = () => [...builtIn, ...custom.resources, ...computed.map(({ resource }) => resource)];
  computed.push(apiServices(all, parts.now()));
  return computed;
}
