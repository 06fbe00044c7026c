/** Whether Services can answer, from the Services and pods that the page has. Pure functions. */
import { type ServiceHealth, serviceHealth } from '@podwright/kube-view';
import type { Pod, ServiceObject } from '../api/objects.ts';

/** A Service's state in a list. `isGood` is undefined if its endpoints are not determined by pods. `reason`: why it cannot answer. */
export type ServiceState = { text: string; isGood?: boolean; reason?: string };

/** Returns the health of Services with a selector, by UID. */
export function healthOf(services: readonly ServiceObject[], pods: readonly Pod[]): Map<string, ServiceHealth> {
  const byNamespace = Map.groupBy(pods, ({ metadata }) => metadata.namespace);
  return new Map(
    services.flatMap((service): [string, ServiceHealth][] => {
      const health = serviceHealth(service, byNamespace.get(service.metadata.namespace ?? '') ?? []);
      return health === undefined ? [] : [[service.metadata.uid ?? '', health]];
    }),
  );
}

/** Texts by the cause of a finding. */
const TEXTS: Record<string, string> = {
  'no-selected-pods': 'no pods',
  'no-ready-pods': 'none ready',
  'wrong-target-port': 'wrong target port',
};

/** Describes the health of a Service in a list. */
export function stateOf(health: ServiceHealth | undefined): ServiceState {
  if (health === undefined) return { text: '–' };
  const { ready, selected, finding } = health;
  if (finding === undefined) return { text: `${ready.length} of ${selected.length} ready`, isGood: true };
  return { text: TEXTS[finding.cause] ?? finding.cause, isGood: false, reason: finding.sentence };
}
