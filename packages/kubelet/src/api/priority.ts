/** Priority classes that exist without an API server (pkg/apis/scheduling of Kubernetes). */
export const SYSTEM_PRIORITIES: ReadonlyMap<string, number> = new Map([
  ['system-cluster-critical', 2_000_000_000],
  ['system-node-critical', 2_000_001_000],
]);

/** Pods of this priority and above are critical: others make room for them. */
export const CRITICAL_PRIORITY = 2_000_000_000;
