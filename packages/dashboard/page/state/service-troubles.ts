/** The Services that cannot answer and therefore need attention. Pure functions. */
import type { Finding } from '@podwright/kube-view';
import type { ObjectName, ServiceObject } from '../api/objects.ts';
import { healthOf } from './service-state.ts';
import { compareText } from './text.ts';
import type { PodView } from './trouble.ts';

export type ServiceTrouble = { object: ObjectName; finding: Finding };

/** How long after its creation a Service may have no pods, because they are created after it. */
const MAX_START_MS = 60_000;

/** Returns the Services that cannot answer, except new ones and those whose pods are starting. `now`: in Unix milliseconds. */
export function serviceTroubles(
  services: readonly ServiceObject[],
  views: readonly PodView[],
  now: number,
): ServiceTrouble[] {
  const starting = new Set(views.filter(({ level }) => level === 'starting').map(({ pod }) => pod));
  const pods = views.map(({ pod }) => pod);
  const health = healthOf(services, pods);
  const troubles = services.flatMap(({ metadata }): ServiceTrouble[] => {
    const { finding, selected = [] } = health.get(metadata.uid ?? '') ?? {};
    const isNew = now - Date.parse(metadata.creationTimestamp ?? '') < MAX_START_MS;
    if (finding === undefined || isNew || selected.some((pod) => starting.has(pod))) return [];
    return [{ object: { kind: 'Service', namespace: metadata.namespace ?? '', name: metadata.name ?? '' }, finding }];
  });
  return troubles.sort(
    ({ object: a }, { object: b }) => compareText(a.namespace, b.namespace) || compareText(a.name, b.name),
  );
}
