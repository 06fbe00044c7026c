/** Service fields that determine which other fields apply. */
import type { ApiObject } from '../api-object.ts';
import { type JsonObject, objectsAt, textAt, textsAt } from '../values.ts';

export const typeOf = (service: ApiObject): string => textAt(service, 'spec', 'type');
export const portsOf = (service: ApiObject): readonly JsonObject[] => objectsAt(service, 'spec', 'ports');
export const clusterIpsOf = (service: ApiObject): readonly string[] => textsAt(service, 'spec', 'clusterIPs');
export const familiesOf = (service: ApiObject): readonly string[] => textsAt(service, 'spec', 'ipFamilies');
export const policyOf = (service: ApiObject): string => textAt(service, 'spec', 'ipFamilyPolicy');

export const NO_CLUSTER_IP = 'None';

export const isLoadBalancer = (service: ApiObject): boolean => typeOf(service) === 'LoadBalancer';
export const isExternalName = (service: ApiObject): boolean => typeOf(service) === 'ExternalName';

export const hasNodePorts = (service: ApiObject): boolean =>
  typeOf(service) === 'NodePort' || typeOf(service) === 'LoadBalancer';

/** Returns true if a service is headless according to its list of cluster IPs. */
export const isHeadless = (service: ApiObject): boolean => {
  const ips = clusterIpsOf(service);
  return ips.length === 1 && ips[0] === NO_CLUSTER_IP;
};

export const isExternallyAccessible = (service: ApiObject): boolean =>
  hasNodePorts(service) || (typeOf(service) === 'ClusterIP' && textsAt(service, 'spec', 'externalIPs').length > 0);

/** Returns true if nodes answer load balancer health checks for the service on a dedicated port. */
export const needsHealthCheck = (service: ApiObject): boolean =>
  isLoadBalancer(service) && textAt(service, 'spec', 'externalTrafficPolicy') === 'Local';
