import type { KubeObject } from '@podwright/kube-api';

/** v1 Service, with the fields used by a proxy and defaults set by the API server. */
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
  /** The ports served at this load balancer address. Default: all ports of the Service. */
  ports?: { port: number; protocol: string; error?: string }[];
};

export type TrafficPolicy = 'Cluster' | 'Local';

export type ServicePortSpec = { name?: string; port: number; protocol?: string; nodePort?: number };

/** discovery.k8s.io/v1 EndpointSlice, with the fields used by a proxy. */
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

/** The EndpointSlice label that names its Service. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
/** Objects with one of these labels are handled by another proxy, or need none. */
const IGNORED_LABELS = ['service.kubernetes.io/service-proxy-name', 'service.kubernetes.io/headless'] as const;

/** Label selector for the objects served by a proxy. */
export const PROXIED_SELECTOR: string = IGNORED_LABELS.map((label) => `!${label}`).join(',');

/** Whether an object matches `PROXIED_SELECTOR`. */
export const isProxied = ({ metadata }: KubeObject): boolean =>
  IGNORED_LABELS.every((label) => metadata.labels?.[label] === undefined);
