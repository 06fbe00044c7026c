/** The fields of API objects that names are made of, and their resources. */
import type { KubeObject } from '@podwright/kube-api';

export type DnsService = KubeObject & {
  spec?: {
    type?: string;
    /** `None`: headless. */
    clusterIP?: string;
    clusterIPs?: string[];
    externalName?: string;
    ports?: { name?: string; protocol?: string; port: number }[];
  };
};

export type DnsEndpointSlice = KubeObject & {
  addressType?: string;
  endpoints?: DnsEndpoint[];
  ports?: { name?: string | null; protocol?: string | null; port?: number | null }[] | null;
};

export type DnsEndpoint = { addresses: string[]; conditions?: { ready?: boolean | null }; hostname?: string | null };

/** The label of an EndpointSlice that names its service. */
export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
