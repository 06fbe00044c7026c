import type { KubeObject } from '@podwright/kube-api';

/** v1 Service, with the fields that a proxy reads. Defaults have been set by the API server. */
export type ServiceObject = KubeObject & {
  spec?: {
    type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName';
    /** `None` and '' mean no cluster IP. */
    clusterIP?: string;
    clusterIPs?: string[];
    externalIPs?: string[];
    loadBalancerSourceRanges?: string[];
    ports?: ServicePortSpec[];
    sessionAffinity?: 'None' | 'ClientIP';
    sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } };
    internalTrafficPolicy?: TrafficPolicy;
    externalTrafficPolicy?: TrafficPolicy;
    healthCheckNodePort?: number;
  };
  status?: { loadBalancer?: { ingress?: LoadBalancerIngress[] } };
};

export type LoadBalancerIngress = {
  ip?: string;
  ipMode?: 'VIP' | 'Proxy';
  /** The ports for which the Service has the address. Default: all its ports. */
  ports?: { port: number; protocol: string; error?: string }[];
};

export type TrafficPolicy = 'Cluster' | 'Local';

export type ServicePortSpec = { name?: string; port: number; protocol?: string; nodePort?: number };

/** discovery.k8s.io/v1 EndpointSlice, with the fields that a proxy reads. */
export type EndpointSlice = KubeObject & {
  addressType?: 'IPv4' | 'IPv6' | 'FQDN';
  endpoints?: SliceEndpoint[] | null;
  ports?: { name?: string; port?: number; protocol?: string }[] | null;
};

export type SliceEndpoint = {
  addresses: string[];
  conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
  nodeName?: string;
  hints?: { forZones?: { name: string }[]; forNodes?: { name: string }[] };
};

/** The label of an EndpointSlice that names its Service. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
/** Objects with one of these labels are left to another proxy, or need none. */
const IGNORED_LABELS = ['service.kubernetes.io/service-proxy-name', 'service.kubernetes.io/headless'] as const;

/** The label selector of the objects that a proxy serves. */
export const PROXIED_SELECTOR: string = IGNORED_LABELS.map((label) => `!${label}`).join(',');

/** Whether the object belongs to those that `PROXIED_SELECTOR` selects. */
export const isProxied = ({ metadata }: KubeObject): boolean =>
  IGNORED_LABELS.every((label) => metadata.labels?.[label] === undefined);
