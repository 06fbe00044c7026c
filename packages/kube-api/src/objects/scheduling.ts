/** Scheduling constraints (v1 Affinity, TopologySpreadConstraint). The kubelet only checks the required node affinity. */

export type SelectorOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';

/** meta/v1 LabelSelector: all requirements must match. */
export type LabelSelector = {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: SelectorOperator; values?: string[] }[];
};

/** A requirement on a node's labels or fields. The only supported field is `metadata.name`. */
export type NodeSelectorRequirement = { key: string; operator: SelectorOperator | 'Gt' | 'Lt'; values?: string[] };

/** A node selector term: all its requirements must match. An empty term matches no node. */
export type NodeSelectorTerm = {
  matchExpressions?: NodeSelectorRequirement[];
  matchFields?: NodeSelectorRequirement[];
};

export type NodeAffinity = {
  /** Required node affinity: at least one of the terms must match the node. */
  requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms: NodeSelectorTerm[] };
  preferredDuringSchedulingIgnoredDuringExecution?: { weight: number; preference: NodeSelectorTerm }[];
};

export type PodAffinityTerm = {
  labelSelector?: LabelSelector;
  namespaces?: string[];
  namespaceSelector?: LabelSelector;
  topologyKey: string;
  matchLabelKeys?: string[];
  mismatchLabelKeys?: string[];
};

export type PodAffinity = {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[];
  preferredDuringSchedulingIgnoredDuringExecution?: { weight: number; podAffinityTerm: PodAffinityTerm }[];
};

export type Affinity = { nodeAffinity?: NodeAffinity; podAffinity?: PodAffinity; podAntiAffinity?: PodAffinity };

export type TopologySpreadConstraint = {
  maxSkew: number;
  topologyKey: string;
  whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  labelSelector?: LabelSelector;
  minDomains?: number;
  nodeAffinityPolicy?: 'Honor' | 'Ignore';
  nodeTaintsPolicy?: 'Honor' | 'Ignore';
  matchLabelKeys?: string[];
};
