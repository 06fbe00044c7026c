import { ipWarnings } from '../address-rules.ts';
import type { ApiObject } from '../api-object.ts';
import { nameIsDnsLabel } from '../names.ts';
import type { Strategy } from '../strategy.ts';
import { objectsAt, textAt } from '../values.ts';
import { validateServiceStatus } from './load-balancer-status.ts';
import { withAllocatedValues, withoutUnsuitableFields, withSyncedClusterIps } from './service-changes.ts';
import { withServiceDefaults } from './service-defaults.ts';
import { validateServiceChange } from './service-update.ts';
import { validateService } from './service-validation.ts';
import { serviceWarnings } from './service-warnings.ts';
import { statusSubresource, withStatusOf } from './status.ts';

export const services: Strategy = {
  applyDefaults: withServiceDefaults,
  prepareForCreate: (object) => withSyncedClusterIps({ ...object, status: { loadBalancer: {} } }, undefined),
  prepareForUpdate: (object, old) => {
    const synced = withSyncedClusterIps(withAllocatedValues(object, old), old);
    return withoutUnsuitableFields(withStatusOf(synced, old), old);
  },
  validate: (object) => validateService(object, undefined),
  validateUpdate: (object, old) => [...validateServiceChange(object, old), ...validateService(object, old)],
  warnings: serviceWarnings,
  nameProblems: nameIsDnsLabel,
  subresources: {
    status: {
      ...statusSubresource(validateServiceStatus),
      warnings: ingressIpWarnings,
    },
  },
  selectableFields: {
    'spec.clusterIP': (object) => textAt(object, 'spec', 'clusterIP'),
    'spec.type': (object) => textAt(object, 'spec', 'type'),
  },
  allowCreateOnUpdate: true,
};

/** Returns the warnings about load balancer IPs in a status update of a service or Ingress. */
export function ingressIpWarnings(object: ApiObject): string[] {
  return objectsAt(object, 'status', 'loadBalancer', 'ingress').flatMap((ingress, index) =>
    ipWarnings(`status.loadBalancer.ingress[${index}]`, textAt(ingress, 'ip')),
  );
}
