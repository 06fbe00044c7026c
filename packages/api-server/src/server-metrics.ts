import { groupResource, type ObjectStore, storedResource } from '@podwright/api-machinery';
import { processMetrics, type Registry } from '@podwright/base';
import type { Schema } from '@podwright/kube-schema';
import { objectMetrics, sizeMetric } from './metrics/object-metrics.ts';
import { RequestMetrics } from './metrics/request-metrics.ts';
import { servedResources } from './served-resources.ts';

/** Registers the server's metrics. Returns the observer that counts requests. */
export function serverMetrics(
  registry: Registry,
  { schema, store }: { schema: Schema; store: ObjectStore },
): RequestMetrics {
  processMetrics(registry);
  const listed = servedResources(schema).filter(({ verbs }) => verbs.includes('list'));
  const names = listed.map((resource) => groupResource(storedResource(schema, resource)));
  objectMetrics(registry, store, [...new Set(names)]);
  sizeMetric(registry, store);
  return new RequestMetrics(registry, schema);
}
