import type { ObjectStore } from '@podwright/api-machinery';
import { Gauge, type Registry } from '@podwright/base';

/** Registers the number of stored objects, counted on each scrape. `resources`: store names. */
export function objectMetrics(registry: Registry, store: ObjectStore, resources: readonly string[]): void {
  const gauge: Gauge<'group' | 'resource'> = new Gauge({
    name: 'apiserver_resource_objects',
    help: 'Number of stored objects by group and resource.',
    labelNames: ['group', 'resource'],
    registers: [registry],
    collect: () => {
      for (const name of resources) {
        const [resource = '', ...group] = name.split('.');
        gauge.set({ group: group.join('.'), resource }, countOf(store, name));
      }
    },
  });
}

/** Registers the total size of stored objects, under the name of upstream's metric for its database size. */
export function sizeMetric(registry: Registry, store: Pick<ObjectStore, 'bytes'>): void {
  const gauge: Gauge<'storage_cluster_id'> = new Gauge({
    name: 'apiserver_storage_size_bytes',
    help: 'Size of all stored objects, encoded as JSON.',
    labelNames: ['storage_cluster_id'],
    registers: [registry],
    collect: () => gauge.set({ storage_cluster_id: 'objects' }, store.bytes),
  });
}

/** Returns the number of stored objects of a resource. */
export function countOf(store: ObjectStore, resource: string): number {
  const { objects, rest } = store.list(resource, { limit: 1 });
  return objects.length + (rest?.count ?? 0);
}
