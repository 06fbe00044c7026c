import { type ApiObject, objectAt } from '@podwright/kube-kinds';
import { violationsOf } from './checks.ts';
import { formatLevel, type LevelVersion } from './policy.ts';

/** Maximum number of pods to check. Each check takes a few microseconds and blocks the server. */
const MAX_PODS = 3000;

/** Returns warnings about existing pods that violate a newly enforced level. Pods that violate it for the same reasons share a warning. */
export function violatingPods(namespace: string, level: LevelVersion, pods: readonly ApiObject[]): string[] {
  const checked = prioritized(pods).slice(0, MAX_PODS);
  const names = new Map<string, string[]>();
  for (const { metadata, spec } of checked) {
    const annotations = objectAt(metadata, 'annotations') ?? {};
    const reasons = violationsOf(level, { annotations, spec }).map(({ reason }) => reason);
    if (reasons.length === 0) continue;
    const key = reasons.join(', ');
    names.set(key, [...(names.get(key) ?? []), metadata.name ?? '']);
  }
  const shown = JSON.stringify(formatLevel(level));
  return [
    ...(checked.length < pods.length
      ? [
          `new PodSecurity enforce level only checked against the first ${checked.length} of ${pods.length} existing pods`,
        ]
      : []),
    ...(names.size > 0
      ? [`existing pods in namespace ${JSON.stringify(namespace)} violate the new PodSecurity enforce level ${shown}`]
      : []),
    ...[...names].map(([reasons, list]) => `${described(list)}: ${reasons}`).sort(),
  ];
}

function described(names: readonly string[]): string {
  const [first = ''] = [...names].sort();
  const others = names.length - 1;
  if (others === 0) return first;
  return `${first} (and ${others} other ${others === 1 ? 'pod' : 'pods'})`;
}

/**
 * Moves one pod of each controller to the front, so that `MAX_PODS` excludes as few controllers as possible. The pods of a controller are
 * alike.
 */
function prioritized(pods: readonly ApiObject[]): ApiObject[] {
  const seen = new Set<string>();
  const isRepeated = ({ metadata }: ApiObject) => {
    const uid = metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
    if (uid === undefined) return false;
    const wasSeen = seen.has(uid);
    seen.add(uid);
    return wasSeen;
  };
  const repeated = new Set(pods.filter(isRepeated));
  return [...pods.filter((pod) => !repeated.has(pod)), ...repeated];
}
