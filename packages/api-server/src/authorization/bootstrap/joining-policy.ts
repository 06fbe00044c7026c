/**
 * Roles and bindings that let nodes join with bootstrap tokens and renew their certificates, and let this server access kubelets. In other
 * clusters, they are created by kubeadm.
 */
import { ANONYMOUS, KUBELET_CLIENTS, NODES } from '../known-users.ts';
import { RBAC_GROUP, type Role, type RoleBinding, type Subject } from '../rbac-objects.ts';
import { AUTO_UPDATE, type BootstrapPolicy } from './bootstrap-policy.ts';

const API_VERSION = `${RBAC_GROUP}/v1`;
const NODE_READER = 'podwright:get-nodes';
const BOOTSTRAPPERS = 'system:bootstrappers';
const REQUESTS = 'system:certificates.k8s.io:certificatesigningrequests';
const CLUSTER_INFO = {
  name: 'podwright:cluster-info',
  namespace: 'kube-public',
  annotations: { [AUTO_UPDATE]: 'true' },
};

/** Builds the roles and bindings for joining nodes. Returns new objects on each call. */
export function joiningPolicy(): BootstrapPolicy {
  return {
    clusterRoles: [nodeReader()],
    clusterRoleBindings: [
      clusterBinding(NODE_READER, NODE_READER, BOOTSTRAPPERS),
      clusterBinding('podwright:node-bootstrapper', 'system:node-bootstrapper', BOOTSTRAPPERS),
      clusterBinding('podwright:node-client-approval', `${REQUESTS}:nodeclient`, BOOTSTRAPPERS),
      clusterBinding('podwright:node-client-renewal', `${REQUESTS}:selfnodeclient`, NODES),
      clusterBinding(KUBELET_CLIENTS, 'system:kubelet-api-admin', KUBELET_CLIENTS),
    ],
    roles: [clusterInfoRole()],
    roleBindings: [clusterInfoBinding()],
  };
}

/** Role that lets a joining node check that its name is not in use. */
const nodeReader = (): Role => ({
  apiVersion: API_VERSION,
  kind: 'ClusterRole',
  metadata: { name: NODE_READER, annotations: { [AUTO_UPDATE]: 'true' } },
  rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }],
});

const clusterBinding = (name: string, role: string, group: string): RoleBinding => ({
  apiVersion: API_VERSION,
  kind: 'ClusterRoleBinding',
  metadata: { name, annotations: { [AUTO_UPDATE]: 'true' } },
  roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: role },
  subjects: [subject('Group', group)],
});

const clusterInfoRole = (): Role => ({
  apiVersion: API_VERSION,
  kind: 'Role',
  metadata: { ...CLUSTER_INFO },
  rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['cluster-info'], verbs: ['get'] }],
});

const clusterInfoBinding = (): RoleBinding => ({
  apiVersion: API_VERSION,
  kind: 'RoleBinding',
  metadata: { ...CLUSTER_INFO },
  roleRef: { apiGroup: RBAC_GROUP, kind: 'Role', name: CLUSTER_INFO.name },
  subjects: [subject('User', ANONYMOUS)],
});

const subject = (kind: string, name: string): Subject => ({ apiGroup: RBAC_GROUP, kind, name });
