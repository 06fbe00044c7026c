import type { KubeObject, LabelSelector, Resource } from '@podwright/kube-api';

/** networking.k8s.io/v1 NetworkPolicy. Defaults have been set by the API server. */
export type NetworkPolicy = KubeObject & {
  spec?: {
    /** Selects the pods to which the policy applies, in the policy's namespace; an empty one selects all. */
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

/** `port` is a number or the name of a container port; without it, all ports of the protocol. */
export type PolicyPort = { protocol?: string; port?: number | string; endPort?: number };

export const NETWORK_POLICIES: Resource = {
  group: 'networking.k8s.io',
  version: 'v1',
  plural: 'networkpolicies',
  kind: 'NetworkPolicy',
  namespaced: true,
};
