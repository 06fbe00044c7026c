import { matchesEveryLabel, type Pod } from '@podwright/kube-api';
import type { ObjectCache, ObjectChange } from '../framework/object-cache.ts';
import { placeText } from '../framework/object-place.ts';
import { stableJson } from '../framework/stable-hash.ts';
import type { Service } from '../objects/service.ts';
import { isEnded, isReady } from '../pods/pod-state.ts';

export type WakeServicesOptions = {
  services: ObjectCache<Service>;
  pods: ObjectCache<Pod>;
  /** Called with the key of a Service (`placeText`). */
  wake: (key: string) => void;
};

/**
 * Calls `wake` for each changed Service, and, when a pod changes in a way that affects endpoints, for each Service that selects it or
 * selected it before.
 */
export function wakeServices({ services, pods, wake }: WakeServicesOptions): void {
  services.onChange(({ object: { metadata } }) => wake(placeText(metadata)));
  pods.onChange((change) => {
    for (const service of affected(services, change)) wake(placeText(service.metadata));
  });
}

function affected(services: ObjectCache<Service>, { type, object, before }: ObjectChange<Pod>): Service[] {
  if (type === 'MODIFIED' && before !== undefined && endpointFacts(before) === endpointFacts(object)) return [];
  const states = before === undefined ? [object] : [before, object];
  return services
    .list(object.metadata.namespace)
    .filter(({ spec }) => states.some(({ metadata }) => selects(spec.selector, metadata.labels)));
}

/** Whether a Service's selector matches a pod's labels. An absent selector matches nothing. */
export function selects(selector: Record<string, string> | undefined, labels: Record<string, string> = {}): boolean {
  return selector !== undefined && matchesEveryLabel(selector, labels);
}

/** Returns the fields of a pod that determine its endpoints. */
function endpointFacts(pod: Pod): string {
  const { metadata, spec, status } = pod;
  const { hostname, subdomain, nodeName } = spec;
  const isDeleting = metadata.deletionTimestamp !== undefined;
  const facts = [
    metadata.labels,
    hostname,
    subdomain,
    nodeName,
    status?.podIPs,
    isDeleting,
    isEnded(pod),
    isReady(pod),
  ];
  return stableJson(facts);
}
