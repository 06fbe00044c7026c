import type {
  Affinity,
  LabelSelector,
  NodeAffinity,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  TopologySpreadConstraint,
} from '../objects/types.ts';
import { integer, list, mapOf, object, oneOfForSchedulers, string } from './decoder.ts';

const labelSelector = object<LabelSelector>({
  matchLabels: mapOf(string),
  matchExpressions: list(
    object<NonNullable<LabelSelector['matchExpressions']>[number]>(
      { key: string, operator: oneOfForSchedulers('In', 'NotIn', 'Exists', 'DoesNotExist'), values: list(string) },
      { required: ['key', 'operator'] },
    ),
  ),
});

const nodeRequirement = object<NodeSelectorRequirement>(
  {
    key: string,
    operator: oneOfForSchedulers('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'),
    values: list(string),
  },
  { required: ['key', 'operator'] },
);

const nodeTerm = object<NodeSelectorTerm>({
  matchExpressions: list(nodeRequirement),
  matchFields: list(nodeRequirement),
});

const nodeAffinity = object<NodeAffinity>({
  requiredDuringSchedulingIgnoredDuringExecution: object<{ nodeSelectorTerms: NodeSelectorTerm[] }>(
    { nodeSelectorTerms: list(nodeTerm) },
    { required: ['nodeSelectorTerms'] },
  ),
  preferredDuringSchedulingIgnoredDuringExecution: list(
    object<{ weight: number; preference: NodeSelectorTerm }>(
      { weight: integer(), preference: nodeTerm },
      { required: ['weight', 'preference'] },
    ),
  ),
});

const podTerm = object<PodAffinityTerm>(
  {
    labelSelector,
    namespaces: list(string),
    namespaceSelector: labelSelector,
    topologyKey: string,
    matchLabelKeys: list(string),
    mismatchLabelKeys: list(string),
  },
  { required: ['topologyKey'] },
);

const podAffinity = object<PodAffinity>({
  requiredDuringSchedulingIgnoredDuringExecution: list(podTerm),
  preferredDuringSchedulingIgnoredDuringExecution: list(
    object<{ weight: number; podAffinityTerm: PodAffinityTerm }>(
      { weight: integer(), podAffinityTerm: podTerm },
      { required: ['weight', 'podAffinityTerm'] },
    ),
  ),
});

/** v1 Affinity. */
export const affinity = object<Affinity>({ nodeAffinity, podAffinity, podAntiAffinity: podAffinity });

/** v1 TopologySpreadConstraint. */
export const topologySpreadConstraint = object<TopologySpreadConstraint>(
  {
    maxSkew: integer(),
    topologyKey: string,
    whenUnsatisfiable: oneOfForSchedulers('DoNotSchedule', 'ScheduleAnyway'),
    labelSelector,
    minDomains: integer(),
    nodeAffinityPolicy: oneOfForSchedulers('Honor', 'Ignore'),
    nodeTaintsPolicy: oneOfForSchedulers('Honor', 'Ignore'),
    matchLabelKeys: list(string),
  },
  { required: ['maxSkew', 'topologyKey', 'whenUnsatisfiable'] },
);
