import type { ServiceObject } from './objects.ts';

/** A Service whose health is checked by load balancers at a port of every node. It is healthy if the node has ready endpoints. */
export type HealthCheck = { namespace: string; name: string; port: number; localEndpoints: number };

/** Returns a Service's health check, which exists only for a load balancer with the traffic policy Local. */
export function healthCheckOf({ metadata, spec }: ServiceObject, localEndpoints: number): HealthCheck | undefined {
  const { type, externalTrafficPolicy, healthCheckNodePort = 0 } = spec ?? {};
  if (type !== 'LoadBalancer' || externalTrafficPolicy !== 'Local' || healthCheckNodePort === 0) return undefined;
  const { namespace = '', name = '' } = metadata;
  return { namespace, name, port: healthCheckNodePort, localEndpoints };
}
