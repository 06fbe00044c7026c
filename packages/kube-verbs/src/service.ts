import type { IntOrString, KubeMetadata } from '@podwright/kube-api';

export type ServicePort = {
  name?: string;
  protocol?: string;
  port: number;
  targetPort?: IntOrString;
  nodePort?: number;
  appProtocol?: string;
};

/** The fields of a Service used by verbs. */
export type Service = {
  apiVersion?: string;
  kind?: string;
  metadata: KubeMetadata & { name: string };
  spec: {
    type?: string;
    selector?: Record<string, string>;
    clusterIP?: string;
    clusterIPs?: string[];
    externalIPs?: string[];
    externalName?: string;
    ipFamilies?: string[];
    ipFamilyPolicy?: string;
    loadBalancerIP?: string;
    loadBalancerSourceRanges?: string[];
    ports?: ServicePort[];
    sessionAffinity?: string;
    externalTrafficPolicy?: string;
    internalTrafficPolicy?: string;
    healthCheckNodePort?: number;
    trafficDistribution?: string;
  };
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string; ipMode?: string }[] } };
};

/** The fields of an EndpointSlice used by verbs. Upstream's API server sends empty lists as null. */
export type EndpointSlice = {
  metadata: KubeMetadata;
  endpoints?: { addresses?: string[] | null; conditions?: { ready?: boolean } }[] | null;
  ports?: { name?: string; port?: number }[] | null;
};
