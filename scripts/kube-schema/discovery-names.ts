/** Names in Kubernetes 1.36's discovery that are missing from its OpenAPI document: they come from the API server's registries. */

/** Short names, keyed by `PLURAL.GROUP`, or `PLURAL` in the core group. */
export const SHORT_NAMES: Record<string, string[]> = {
  componentstatuses: ['cs'],
  configmaps: ['cm'],
  endpoints: ['ep'],
  events: ['ev'],
  limitranges: ['limits'],
  namespaces: ['ns'],
  nodes: ['no'],
  persistentvolumeclaims: ['pvc'],
  persistentvolumes: ['pv'],
  pods: ['po'],
  replicationcontrollers: ['rc'],
  resourcequotas: ['quota'],
  serviceaccounts: ['sa'],
  services: ['svc'],
  'customresourcedefinitions.apiextensions.k8s.io': ['crd', 'crds'],
  'daemonsets.apps': ['ds'],
  'deployments.apps': ['deploy'],
  'replicasets.apps': ['rs'],
  'statefulsets.apps': ['sts'],
  'horizontalpodautoscalers.autoscaling': ['hpa'],
  'cronjobs.batch': ['cj'],
  'certificatesigningrequests.certificates.k8s.io': ['csr'],
  'events.events.k8s.io': ['ev'],
  'ingresses.networking.k8s.io': ['ing'],
  'ipaddresses.networking.k8s.io': ['ip'],
  'networkpolicies.networking.k8s.io': ['netpol'],
  'poddisruptionbudgets.policy': ['pdb'],
  'priorityclasses.scheduling.k8s.io': ['pc'],
  'storageclasses.storage.k8s.io': ['sc'],
  'volumeattributesclasses.storage.k8s.io': ['vac'],
};

const ALL = ['all'];
const EXTENSIONS = ['api-extensions'];

/** Categories, keyed like the short names. `kubectl get all` lists the kinds in the category `all`. */
export const CATEGORIES: Record<string, string[]> = {
  pods: ALL,
  replicationcontrollers: ALL,
  services: ALL,
  'daemonsets.apps': ALL,
  'deployments.apps': ALL,
  'replicasets.apps': ALL,
  'statefulsets.apps': ALL,
  'horizontalpodautoscalers.autoscaling': ALL,
  'cronjobs.batch': ALL,
  'jobs.batch': ALL,
  'mutatingadmissionpolicies.admissionregistration.k8s.io': EXTENSIONS,
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': EXTENSIONS,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': EXTENSIONS,
  'validatingadmissionpolicies.admissionregistration.k8s.io': EXTENSIONS,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': EXTENSIONS,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': EXTENSIONS,
  'customresourcedefinitions.apiextensions.k8s.io': EXTENSIONS,
  'apiservices.apiregistration.k8s.io': EXTENSIONS,
};

/** Registries use the kind in lower case as a resource's singular name: `pod`, `endpoints`, `ingress`. */
export const singularName = (kind: string): string => kind.toLowerCase();

/**
 * API groups by the directory of their types. Groups without a domain, such as apps, are named after their directory; the core group is ''.
 */
export const GROUPS: Record<string, string> = {
  admission: 'admission.k8s.io',
  admissionregistration: 'admissionregistration.k8s.io',
  apidiscovery: 'apidiscovery.k8s.io',
  apiextensions: 'apiextensions.k8s.io',
  apiregistration: 'apiregistration.k8s.io',
  apiserverinternal: 'internal.apiserver.k8s.io',
  apps: 'apps',
  authentication: 'authentication.k8s.io',
  authorization: 'authorization.k8s.io',
  autoscaling: 'autoscaling',
  batch: 'batch',
  certificates: 'certificates.k8s.io',
  coordination: 'coordination.k8s.io',
  core: '',
  discovery: 'discovery.k8s.io',
  events: 'events.k8s.io',
  extensions: 'extensions',
  flowcontrol: 'flowcontrol.apiserver.k8s.io',
  imagepolicy: 'imagepolicy.k8s.io',
  meta: 'meta.k8s.io',
  networking: 'networking.k8s.io',
  node: 'node.k8s.io',
  policy: 'policy',
  rbac: 'rbac.authorization.k8s.io',
  resource: 'resource.k8s.io',
  scheduling: 'scheduling.k8s.io',
  storage: 'storage.k8s.io',
  storagemigration: 'storagemigration.k8s.io',
};
