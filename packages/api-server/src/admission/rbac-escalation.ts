import { ApiError, forbidden, internalError } from '@podwright/api-machinery';
import type { EscalationCheck, RbacWrite } from '../authorization/escalation-check.ts';
import { RBAC_GROUP } from '../authorization/rbac-objects.ts';
import type { AdmissionPlugin } from './admission-plugin.ts';

/**
 * Rejects RBAC objects that would grant permissions their writer does not have. Upstream checks this in the storage layer of these objects.
 */
export const rbacEscalation = (check: EscalationCheck): AdmissionPlugin => ({
  name: 'RBACEscalation',
  validate: ({ operation, resource, namespace, name, object, oldObject: old, user }) => {
    if (resource.group !== RBAC_GROUP || object === undefined) return;
    if (operation !== 'CREATE' && operation !== 'UPDATE') return;
    const kind = resource.plural as RbacWrite['resource'];
    const nameInUrl = operation === 'CREATE' ? '' : name;
    const refusal = check.refusalOf({ user, resource: kind, namespace, name: nameInUrl, object, old });
    if (refusal === undefined) return;
    if (refusal.reason === 'Forbidden') throw forbidden(resource, name, refusal.message);
    if (refusal.reason === 'NotFound') throw new ApiError(404, 'NotFound', { message: refusal.message });
    throw internalError(refusal.message);
  },
});
