import type { KubeObject, LabelSelector, Resource } from '@podwright/kube-api';

/** networking.k8s.io/v1 NetworkPolicy, with defaults set by the API server. */
export type NetworkPolicy = KubeObject & {
  spec?: {
    /** Selects the pods in the policy's namespace to which the policy applies; an empty selector selects all. */
    podSelector?: LabelSelector;
    policyTypes?: ('Ingress' | 'Egress')[];
    ingress?: { from?: PolicyPeer[]; ports?: PolicyPort[] }[];
    egress?: { to?: PolicyPeer[]; ports?: PolicyPort[] }[];
  };
};

export type PolicyPeer = {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: { cidr: string; except?: string[] };
};

/** `port`: number or name of a container port. If unset, all ports of the protocol. */
export type PolicyPort = { protocol?: string; port?: number | string; endPort?: number };

export const NETWORK_POLICIES: Resource = {
  group: 'networking.k8s.io',
  version: 'v1',
  plural: 'networkpolicies',
  kind: 'NetworkPolicy',
  namespaced: true,
};
