/** Filters that look at a single node and its pods (upstream's plugins with the same names). */
import {
  claimStatusesOf,
  hostPorts,
  isExtendedResource,
  type Pod,
  portsConflict,
  type Taint,
  toleratesTaint,
  wantsNode,
} from '@podwright/kube-api';
import { requestsOf } from '../cluster/resource-amounts.ts';
import { type Filter, final, type Rejection, removable } from './filter.ts';

const UNSCHEDULABLE: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

export const nodeUnschedulable: Filter = (pod) => (state) => {
  const isCordoned = state.node.spec?.unschedulable === true && !toleratesTaint(pod.spec.tolerations, UNSCHEDULABLE);
  return isCordoned ? final('node(s) were unschedulable') : undefined;
};

export const nodeName: Filter = ({ spec }) => {
  const { nodeName: wanted } = spec;
  if (!wanted) return undefined;
  return ({ name }) => (name === wanted ? undefined : final("node(s) didn't match the requested node name"));
};

export const taintToleration: Filter = (pod) => (state) =>
  hasUntolerated(pod, state.taints) ? final('node(s) had untolerated taint(s)') : undefined;

/** Whether the node's taints keep the pod from being scheduled there. */
export function hasUntolerated(pod: Pod, taints: readonly Taint[]): boolean {
  const barring = taints.filter(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute');
  return barring.some((taint) => !toleratesTaint(pod.spec.tolerations, taint));
}

export const nodeAffinity: Filter = (pod) => {
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required === undefined && pod.spec.nodeSelector === undefined) return undefined;
  const names = wantedNames(pod);
  if (names?.size === 0) return { refusal: 'pod affinity terms conflict' };
  return (state) => {
    if (names !== undefined && !names.has(state.name)) return final("node(s) didn't satisfy plugin(s) [NodeAffinity]");
    return wantsNode(pod, state) ? undefined : final("node(s) didn't match Pod's node affinity/selector");
  };
};

/**
 * The names of the nodes to which the pod's node affinity restricts it, as for pods of a DaemonSet; `undefined` if it does not restrict the
 * pod by node name.
 */
function wantedNames({ spec }: Pod): Set<string> | undefined {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const names = terms.map(({ matchFields = [] }) => {
    const lists = matchFields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In');
    return lists.map(({ values = [] }) => new Set(values));
  });
  if (names.length === 0 || names.some((sets) => sets.length === 0)) return undefined;
  // all requirements of a term must match, but only one of the terms
  const common = names.flatMap(([first, ...others]) =>
    [...first!].filter((name) => others.every((set) => set.has(name))),
  );
  return new Set(common);
}

export const nodePorts: Filter = (pod) => {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  return ({ pods }) => {
    const taken = pods.flatMap(hostPorts);
    const isTaken = wanted.some((port) => taken.some((other) => portsConflict(port, other)));
    return isTaken ? removable("node(s) didn't have free ports for the requested pod ports") : undefined;
  };
};

export const nodeResourcesFit: Filter = (pod) => {
  const requests = [...requestsOf(pod)].map(([name, amount]) => ({ name, amount }));
  return ({ pods, allocatable, requested }): Rejection | undefined => {
    const capacity = (name: string) => allocatable.get(name) ?? 0n;
    const lacking = requests.filter(
      ({ name, amount }) => amount > capacity(name) - (requested.get(name) ?? 0n) && isCounted(pod, name),
    );
    const reasons = lacking.map(({ name }) => `Insufficient ${name}`);
    if (BigInt(pods.length) >= capacity('pods')) reasons.unshift('Too many pods');
    if (reasons.length === 0) return undefined;
    return { reasons, isFinal: lacking.some(({ name, amount }) => amount > capacity(name)) };
  };
};

/**
 * Whether the scheduler counts the pod's request for a resource. Extended resources satisfied by a ResourceClaim of the pod are not
 * counted, because their driver accounts for them.
 */
function isCounted(pod: Pod, name: string): boolean {
  const mappings = claimStatusesOf(pod).extendedResourceClaimStatus?.requestMappings ?? [];
  return !(isExtendedResource(name) && mappings.some(({ resourceName }) => resourceName === name));
}
