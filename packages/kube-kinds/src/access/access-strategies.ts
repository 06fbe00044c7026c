import type { Strategies } from '../strategy.ts';
import { CERTIFICATE_SIGNING_REQUEST } from './certificate-request.ts';
import { CLUSTER_ROLE_BINDING, ROLE_BINDING } from './role-bindings.ts';
import { CLUSTER_ROLE, ROLE } from './roles.ts';

/** Who may do what, and what the API consists of. */
export const ACCESS_STRATEGIES: Strategies = {
  'roles.rbac.authorization.k8s.io': ROLE,
  'clusterroles.rbac.authorization.k8s.io': CLUSTER_ROLE,
  'rolebindings.rbac.authorization.k8s.io': ROLE_BINDING,
  'clusterrolebindings.rbac.authorization.k8s.io': CLUSTER_ROLE_BINDING,
  'certificatesigningrequests.certificates.k8s.io': CERTIFICATE_SIGNING_REQUEST,
};
