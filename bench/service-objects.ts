/** The Services and EndpointSlices of the part `services`: `SERVICE_COUNT` Services with `ENDPOINTS_EACH` endpoints each. */
import type { EndpointSlice, ServiceObject } from '../packages/proxy/src/services/objects.ts';

export const SERVICE_COUNT = 1000;
export const ENDPOINTS_EACH = 2;
export const NAMESPACE = 'default';
/** Port of every endpoint, and of every Service. */
export const ENDPOINT_PORT = 8080;
export const SERVICE_PORT = 80;
/** Addresses of the endpoints, of replacements for them, and of a client. */
export const POD_CIDR = '10.88.0.0/16';
export const CLIENT_ADDRESS = '10.88.255.1';

/** Numbers of the first endpoint and of the first replacement. */
const [FIRST, FIRST_REPLACEMENT] = [256, 32_768];

export const serviceName = (index: number): string => `web-${index}`;
export const clusterAddress = (index: number): string => `10.96.${(index >> 8) + 1}.${index & 0xff}`;
const podAddress = (number: number): string => `10.88.${number >> 8}.${number & 0xff}`;

/** Returns the addresses of the endpoints of a Service. */
export const endpointAddresses = (index: number): string[] =>
  Array.from({ length: ENDPOINTS_EACH }, (_, one) => podAddress(FIRST + index * ENDPOINTS_EACH + one));

/** Returns the address of an endpoint that no Service has at first. */
export const replacementAddress = (index: number): string => podAddress(FIRST_REPLACEMENT + index);

export function serviceOf(index: number, { isHeadless = false } = {}): ServiceObject {
  const clusterIP = isHeadless ? 'None' : clusterAddress(index);
  const ports = [{ port: SERVICE_PORT, targetPort: ENDPOINT_PORT, protocol: 'TCP' }];
  const spec: ServiceObject['spec'] = { type: 'ClusterIP', clusterIP, clusterIPs: [clusterIP], ports };
  return {
    metadata: { namespace: NAMESPACE, name: serviceName(index) },
    spec: { ...spec, ...{ ipFamilies: ['IPv4'] } }, // kube-proxy needs the families
  };
}

/** Returns the EndpointSlice of a Service, with these endpoints. */
export function sliceOf(index: number, addresses = endpointAddresses(index)): EndpointSlice {
  const name = serviceName(index);
  return {
    metadata: { namespace: NAMESPACE, name, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address], nodeName: 'here' })),
    ports: [{ name: '', port: ENDPOINT_PORT, protocol: 'TCP' }],
  };
}
