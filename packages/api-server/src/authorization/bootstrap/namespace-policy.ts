/** Roles and RoleBindings of the system namespaces. */
import type { RoleTable } from './role-table.ts';
import type { SubjectTable } from './subject-table.ts';

const CONTROLLER = 'system:controller:';
const EVENTS = 'create,patch,update core,events.k8s.io events';
const LEADER_LOCKING = [
  'read,create,update coordination.k8s.io leases',
  'read,create,update coordination.k8s.io leasecandidates',
];

export const NAMESPACE_ROLES: Readonly<Record<string, RoleTable>> = {
  'kube-public': {
    [`${CONTROLLER}bootstrap-signer`]: ['read core configmaps', 'update core configmaps cluster-info', EVENTS],
  },
  'kube-system': {
    'extension-apiserver-authentication-reader': ['read core configmaps extension-apiserver-authentication'],
    'system::leader-locking-kube-controller-manager': LEADER_LOCKING,
    'system::leader-locking-kube-scheduler': LEADER_LOCKING,
    [`${CONTROLLER}bootstrap-signer`]: ['read core secrets'],
    [`${CONTROLLER}cloud-provider`]: ['read,create core configmaps'],
    [`${CONTROLLER}token-cleaner`]: ['read,delete core secrets', EVENTS],
  },
};

/** RoleBindings by namespace. Each refers to the Role with the same name, except for those in `OTHER_ROLES`. */
export const NAMESPACE_BINDINGS: Readonly<Record<string, SubjectTable>> = {
  'kube-public': { [`${CONTROLLER}bootstrap-signer`]: ['account kube-system/bootstrap-signer'] },
  'kube-system': {
    'system::extension-apiserver-authentication-reader': [
      'user system:kube-controller-manager',
      'user system:kube-scheduler',
    ],
    'system::leader-locking-kube-controller-manager': [
      'user system:kube-controller-manager',
      'account kube-system/kube-controller-manager',
      'account kube-system/leader-election-controller',
    ],
    'system::leader-locking-kube-scheduler': ['user system:kube-scheduler', 'account kube-system/kube-scheduler'],
    [`${CONTROLLER}bootstrap-signer`]: ['account kube-system/bootstrap-signer'],
    [`${CONTROLLER}cloud-provider`]: ['account kube-system/cloud-provider'],
    [`${CONTROLLER}token-cleaner`]: ['account kube-system/token-cleaner'],
  },
};

/** Maps RoleBindings to their Roles where the names differ. */
export const OTHER_ROLES: Readonly<Record<string, string>> = {
  'system::extension-apiserver-authentication-reader': 'extension-apiserver-authentication-reader',
};
