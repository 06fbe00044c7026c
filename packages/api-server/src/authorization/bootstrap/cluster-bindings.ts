import type { SubjectTable } from './subject-table.ts';

/** ClusterRoleBindings. Each refers to the ClusterRole with the same name. */
export const CLUSTER_BINDINGS: SubjectTable = {
  'cluster-admin': ['group system:masters'],
  'system:basic-user': ['group system:authenticated'],
  'system:discovery': ['group system:authenticated'],
  'system:kube-controller-manager': ['user system:kube-controller-manager'],
  'system:kube-dns': ['account kube-system/kube-dns'],
  'system:kube-scheduler': ['user system:kube-scheduler'],
  'system:monitoring': ['group system:monitoring'],
  // Nodes get their permissions from the Node authorizer. As in Kubernetes, the binding is created empty, so that the system:nodes group is
  // not bound by default.
  'system:node': [],
  'system:node-proxier': ['user system:kube-proxy'],
  'system:public-info-viewer': ['group system:authenticated', 'group system:unauthenticated'],
  'system:service-account-issuer-discovery': ['group system:serviceaccounts'],
  'system:volume-scheduler': ['user system:kube-scheduler'],
};
