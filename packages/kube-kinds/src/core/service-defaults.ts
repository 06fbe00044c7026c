import type { ApiObject } from '../api-object.ts';
import { numberAt, textAt, valueAt, withItems, withValue } from '../values.ts';
import { isExternallyAccessible, isLoadBalancer, typeOf } from './service-fields.ts';

const AFFINITY_SECONDS = 10_800;

/** Sets a service's defaults, in upstream's order: later defaults depend on the type. */
export const withServiceDefaults = (service: ApiObject): ApiObject =>
  [withAffinity, withType, withPorts, withTrafficPolicies, withLoadBalancer].reduce(
    (object, step) => step(object),
    service,
  );

function withAffinity(service: ApiObject): ApiObject {
  const affinity = textAt(service, 'spec', 'sessionAffinity') || 'None';
  const object = withValue(service, ['spec', 'sessionAffinity'], affinity);
  if (affinity === 'None') return withValue(object, ['spec', 'sessionAffinityConfig'], undefined);
  const seconds = numberAt(object, 'spec', 'sessionAffinityConfig', 'clientIP', 'timeoutSeconds');
  if (affinity !== 'ClientIP' || seconds !== undefined) return object;
  return withValue(object, ['spec', 'sessionAffinityConfig'], { clientIP: { timeoutSeconds: AFFINITY_SECONDS } });
}

const withType = (service: ApiObject): ApiObject =>
  typeOf(service) === '' ? withValue(service, ['spec', 'type'], 'ClusterIP') : service;

function withPorts(service: ApiObject): ApiObject {
  return withItems(service, ['spec', 'ports'], (port) => {
    const target = valueAt(port, 'targetPort');
    const isTargetSet = target !== undefined && target !== 0 && target !== '';
    return {
      ...port,
      protocol: textAt(port, 'protocol') || 'TCP',
      targetPort: isTargetSet ? target : numberAt(port, 'port'),
    };
  });
}

function withTrafficPolicies(service: ApiObject): ApiObject {
  const isSet = textAt(service, 'spec', 'externalTrafficPolicy') !== '';
  const external =
    isSet || !isExternallyAccessible(service)
      ? service
      : withValue(service, ['spec', 'externalTrafficPolicy'], 'Cluster');
  const hasInternal = valueAt(service, 'spec', 'internalTrafficPolicy') !== undefined;
  const applies = ['NodePort', 'LoadBalancer', 'ClusterIP'].includes(typeOf(service));
  return hasInternal || !applies ? external : withValue(external, ['spec', 'internalTrafficPolicy'], 'Cluster');
}

function withLoadBalancer(service: ApiObject): ApiObject {
  if (!isLoadBalancer(service)) return service;
  const isSet = valueAt(service, 'spec', 'allocateLoadBalancerNodePorts') !== undefined;
  const object = isSet ? service : withValue(service, ['spec', 'allocateLoadBalancerNodePorts'], true);
  return withItems(object, ['status', 'loadBalancer', 'ingress'], (ingress) => {
    const needsMode = textAt(ingress, 'ip') !== '' && valueAt(ingress, 'ipMode') === undefined;
    return needsMode ? { ...ingress, ipMode: 'VIP' } : ingress;
  });
}
