import type { IntOrString, ObjectMeta } from '@podwright/kube-api';

export type ServicePort = {
  name?: string;
  port: number;
  targetPort?: IntOrString;
  protocol?: string;
  appProtocol?: string;
};

/** A v1 Service, limited to the fields used to compute endpoints. */
export type Service = {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec: {
    type?: string;
    selector?: Record<string, string>;
    clusterIP?: string;
    ipFamilies?: string[];
    ports?: ServicePort[];
    publishNotReadyAddresses?: boolean;
    trafficDistribution?: string;
    loadBalancerClass?: string;
  };
  status?: ServiceStatus;
};

/** An address of a Service, and the ports it applies to. Default: all ports of the Service. */
export type LoadBalancerIngress = {
  ip?: string;
  hostname?: string;
  ipMode?: string;
  ports?: { port: number; protocol: string }[];
};

export type ServiceStatus = { loadBalancer?: { ingress?: LoadBalancerIngress[] } };
