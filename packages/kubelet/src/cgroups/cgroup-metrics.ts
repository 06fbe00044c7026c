import { Histogram, type Registry } from '@podwright/base';
import type { CgroupDriver } from './cgroup-driver.ts';

/** Wraps a driver to record upstream's metrics. The first `set` call for a cgroup counts as its creation. */
export function measuredDriver(driver: CgroupDriver, registry: Registry): CgroupDriver {
  const seconds = new Histogram({
    name: 'kubelet_cgroup_manager_duration_seconds',
    help: 'Duration in seconds for cgroup manager operations. Broken down by method.',
    labelNames: ['operation_type'],
    registers: [registry],
  });
  const made = new Set<string>();
  const measure = async (operation: 'create' | 'update' | 'destroy', work: () => Promise<void>) => {
    const startedAtMs = performance.now();
    try {
      await work();
    } finally {
      seconds.observe({ operation_type: operation }, (performance.now() - startedAtMs) / 1000);
    }
  };
  const destroy = async (path: string, work: () => Promise<void>) => {
    await measure('destroy', work);
    made.delete(path);
  };
  return {
    path: (cgroup) => driver.path(cgroup),
    isThere: (cgroup) => driver.isThere(cgroup),
    children: (cgroup) => driver.children(cgroup),
    written: (name) => driver.written(name),
    async set(cgroup, limits) {
      const path = driver.path(cgroup);
      await measure(made.has(path) ? 'update' : 'create', () => driver.set(cgroup, limits));
      made.add(path);
    },
    remove: (cgroup) => destroy(driver.path(cgroup), () => driver.remove(cgroup)),
    end: (cgroup) => destroy(driver.path(cgroup), () => driver.end(cgroup)),
  };
}
