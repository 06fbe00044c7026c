import type { Event, Pod } from '@podwright/kube-api';
import { firstLine } from './pod-rows.ts';

/** Reasons of claim events that do not explain why the claim is unbound. */
const NO_REASON = new Set(['WaitForFirstConsumer', 'ProvisioningSucceeded']);

/**
 * Returns the last event of a claim that the pod is waiting for, such as `claim data: ExternalProvisioning: Waiting for …`. Returns
 * undefined if the pod is assigned to a node. Pure.
 */
export function claimWait({ metadata, spec, status }: Pod, events: readonly Event[]): string | undefined {
  if (spec.nodeName || status?.phase !== 'Pending') return undefined;
  const names = (spec.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [persistentVolumeClaim.claimName];
    return ephemeral === undefined ? [] : [`${metadata.name}-${name}`];
  });
  const last = events
    .filter(
      ({ involvedObject: { kind, namespace, name }, reason }) =>
        kind === 'PersistentVolumeClaim' &&
        namespace === metadata.namespace &&
        names.includes(name) &&
        !NO_REASON.has(reason),
    )
    .sort((a, b) => Date.parse(a.lastTimestamp) - Date.parse(b.lastTimestamp))
    .at(-1);
  return last && `claim ${last.involvedObject.name}: ${last.reason}: ${firstLine(last.message)}`;
}
