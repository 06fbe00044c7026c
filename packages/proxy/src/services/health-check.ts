import type { ServiceObject } from './objects.ts';

/** A Service whose health a load balancer asks for at a port of every node: healthy if the node has ready endpoints. */
export type HealthCheck = { namespace: string; name: string; port: number; localEndpoints: number };

/** Only a load balancer with the traffic policy Local has a health check port. */
export function healthCheckOf({ metadata, spec }: ServiceObject, localEndpoints: number): HealthCheck | undefined {
  const { type, externalTrafficPolicy, healthCheckNodePort = 0 } = spec ?? {};
  if (type !== 'LoadBalancer' || externalTrafficPolicy !== 'Local' || healthCheckNodePort === 0) return undefined;
  const { namespace = '', name = '' } = metadata;
  return { namespace, name, port: healthCheckNodePort, localEndpoints };
}
