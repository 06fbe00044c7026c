/** The taints derived from node conditions (upstream's nodelifecycle). Pure. */
import { formatTime, type Node, type Taint } from '@podwright/kube-api';
import { readyOf } from './node-health.ts';

const PREFIX = 'node.kubernetes.io/';
const NOT_READY = `${PREFIX}not-ready`;
const UNREACHABLE = `${PREFIX}unreachable`;
const UNSCHEDULABLE = `${PREFIX}unschedulable`;

/** Taint keys by condition type and status. */
const BY_CONDITION: Readonly<Record<string, string>> = {
  'Ready False': NOT_READY,
  'Ready Unknown': UNREACHABLE,
  'MemoryPressure True': `${PREFIX}memory-pressure`,
  'DiskPressure True': `${PREFIX}disk-pressure`,
  'NetworkUnavailable True': `${PREFIX}network-unavailable`,
  'PIDPressure True': `${PREFIX}pid-pressure`,
};
const OWN_KEYS = [UNSCHEDULABLE, ...Object.values(BY_CONDITION)];

/** Returns a node's taints, updated with the NoSchedule taints for its conditions, or `undefined` if they do not change. */
export function noScheduleTaints({ spec, status }: Node, unixMs: number): Taint[] | undefined {
  const wanted = (status?.conditions ?? []).flatMap((one) => BY_CONDITION[`${one.type} ${one.status}`] ?? []);
  if (spec?.unschedulable === true) wanted.push(UNSCHEDULABLE);
  const isOwn = ({ key, effect }: Taint) => effect === 'NoSchedule' && OWN_KEYS.includes(key);
  return replaced(spec?.taints ?? [], { isOwn, keys: wanted, effect: 'NoSchedule' }, unixMs);
}

/**
 * Returns a node's taints, updated with the NoExecute taint for its readiness, or `undefined` if they do not change. If `allLost` is set,
 * the node gets no NoExecute taint: when no node at all is ready, this machine's own network is more likely at fault.
 */
export function noExecuteTaints(node: Node, allLost: boolean, unixMs: number): Taint[] | undefined {
  const status = readyOf(node)?.status;
  const key = status === 'False' ? NOT_READY : status === 'Unknown' ? UNREACHABLE : undefined;
  const isOwn = (taint: Taint) => taint.effect === 'NoExecute' && [NOT_READY, UNREACHABLE].includes(taint.key);
  const keys = key === undefined || allLost ? [] : [key];
  return replaced(node.spec?.taints ?? [], { isOwn, keys, effect: 'NoExecute' }, unixMs);
}

type Replacement = { isOwn: (taint: Taint) => boolean; keys: readonly string[]; effect: string };

function replaced(taints: readonly Taint[], { isOwn, keys, effect }: Replacement, unixMs: number): Taint[] | undefined {
  const wanted = new Set(keys);
  const kept = taints.filter((taint) => !isOwn(taint) || wanted.has(taint.key));
  const has = new Set(kept.filter(isOwn).map(({ key }) => key));
  const added = [...wanted].filter((key) => !has.has(key));
  if (added.length === 0 && kept.length === taints.length) return undefined;
  return [...kept, ...added.map((key): Taint => ({ key, effect, timeAdded: formatTime(unixMs) }))];
}
