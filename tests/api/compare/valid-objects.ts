/** A valid object of each kind, with the path of its resource. Namespaced objects are created in `compare`. */
import type { Json } from './json.ts';

export type Sample = { resource: string; object: Json };

export const NAMESPACE = 'compare';

const labels = { app: 'web' };
const podSpec = {
  containers: [
    {
      name: 'web',
      image: 'nginx:1.25',
      ports: [{ name: 'http', containerPort: 80 }],
      env: [
        { name: 'A', value: 'b' },
        { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ],
      resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '1', memory: '128Mi' } },
      livenessProbe: { httpGet: { path: '/', port: 80 } },
      volumeMounts: [{ name: 'data', mountPath: '/data' }],
    },
  ],
  volumes: [
    { name: 'data', emptyDir: {} },
    { name: 'settings', configMap: { name: 'settings' } },
  ],
};
const template = { metadata: { labels }, spec: podSpec };
const jobTemplate = { metadata: { labels }, spec: { ...podSpec, restartPolicy: 'Never' } };
const selector = { matchLabels: labels };
const roleRef = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: 'view' });
const subjects = [
  { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'ann' },
  { kind: 'ServiceAccount', name: 'default', namespace: 'default' },
];
const rules = [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list'] }];
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const deviceRequests = { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpus' } }] };

type Row = [version: string, kind: string, plural: string, fields: Json, name?: string];

const NAMESPACED: Row[] = [
  ['v1', 'ConfigMap', 'configmaps', { data: { a: '1', b: 'two' }, binaryData: { c: 'AAEC' } }],
  ['v1', 'Secret', 'secrets', { type: 'Opaque', data: { a: 'MQ==' }, stringData: { b: 'two' } }],
  [
    'v1',
    'ServiceAccount',
    'serviceaccounts',
    { secrets: [{ name: 's' }], imagePullSecrets: [{ name: 'p' }], automountServiceAccountToken: false },
  ],
  ['v1', 'Pod', 'pods', { metadata: { labels }, spec: podSpec }],
  ['v1', 'PodTemplate', 'podtemplates', { template }],
  ['v1', 'ReplicationController', 'replicationcontrollers', { spec: { replicas: 2, selector: labels, template } }],
  [
    'v1',
    'Service',
    'services',
    { spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 'http' }] } },
  ],
  ['v1', 'Service', 'services', { spec: { type: 'NodePort', selector: labels, ports: [{ port: 80 }] } }, 'node-port'],
  [
    'v1',
    'Service',
    'services',
    { spec: { type: 'LoadBalancer', selector: labels, ports: [{ port: 80 }] } },
    'load-balancer',
  ],
  ['v1', 'Service', 'services', { spec: { type: 'ExternalName', externalName: 'example.com' } }, 'external-name'],
  ['v1', 'Service', 'services', { spec: { clusterIP: 'None', selector: labels, ports: [{ port: 80 }] } }, 'headless'],
  [
    'v1',
    'Endpoints',
    'endpoints',
    { subsets: [{ addresses: [{ ip: '10.1.2.3', nodeName: 'n' }], ports: [{ name: 'http', port: 80 }] }] },
  ],
  ['v1', 'PersistentVolumeClaim', 'persistentvolumeclaims', { spec: claimSpec }],
  [
    'v1',
    'LimitRange',
    'limitranges',
    { spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage: '5Gi' } }] } },
  ],
  ['v1', 'ResourceQuota', 'resourcequotas', { spec: { hard: { 'count/things.example.com': '5', services: '50' } } }],
  [
    'v1',
    'Event',
    'events',
    {
      involvedObject: { kind: 'Pod', name: 'p', namespace: NAMESPACE },
      reason: 'Started',
      message: 'it started',
      type: 'Normal',
      source: { component: 'test' },
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
    },
  ],
  [
    'events.k8s.io/v1',
    'Event',
    'events',
    {
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'test.io/c',
      reportingInstance: 'i',
      action: 'Act',
      reason: 'Started',
      regarding: { kind: 'Pod', name: 'p', namespace: NAMESPACE },
      type: 'Normal',
      note: 'it started',
    },
    'new-event',
  ],
  ['apps/v1', 'Deployment', 'deployments', { spec: { replicas: 2, selector, template } }],
  ['apps/v1', 'ReplicaSet', 'replicasets', { spec: { replicas: 2, selector, template } }],
  ['apps/v1', 'DaemonSet', 'daemonsets', { spec: { selector, template } }],
  [
    'apps/v1',
    'StatefulSet',
    'statefulsets',
    {
      spec: {
        serviceName: 'web',
        selector,
        template,
        volumeClaimTemplates: [{ metadata: { name: 'own' }, spec: claimSpec }],
      },
    },
  ],
  ['apps/v1', 'ControllerRevision', 'controllerrevisions', { revision: 1, data: { spec: { a: 1 } } }],
  ['batch/v1', 'Job', 'jobs', { spec: { template: jobTemplate } }],
  [
    'batch/v1',
    'CronJob',
    'cronjobs',
    { spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: jobTemplate } } } },
  ],
  [
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    'horizontalpodautoscalers',
    {
      spec: {
        maxReplicas: 5,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
        ],
      },
    },
  ],
  [
    'autoscaling/v1',
    'HorizontalPodAutoscaler',
    'horizontalpodautoscalers',
    {
      spec: {
        maxReplicas: 5,
        targetCPUUtilizationPercentage: 70,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      },
    },
    'hpa-one',
  ],
  ['policy/v1', 'PodDisruptionBudget', 'poddisruptionbudgets', { spec: { minAvailable: 1, selector } }],
  [
    'networking.k8s.io/v1',
    'Ingress',
    'ingresses',
    {
      spec: {
        rules: [
          {
            host: 'example.com',
            http: {
              paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } }],
            },
          },
        ],
        tls: [{ hosts: ['example.com'], secretName: 's' }],
      },
    },
  ],
  [
    'networking.k8s.io/v1',
    'NetworkPolicy',
    'networkpolicies',
    {
      spec: {
        podSelector: selector,
        ingress: [
          {
            from: [{ podSelector: selector }, { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }],
            ports: [{ port: 80 }],
          },
        ],
      },
    },
  ],
  [
    'discovery.k8s.io/v1',
    'EndpointSlice',
    'endpointslices',
    {
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.2.3'], conditions: { ready: true } }],
      ports: [{ name: 'http', port: 80 }],
    },
  ],
  [
    'coordination.k8s.io/v1',
    'Lease',
    'leases',
    { spec: { holderIdentity: 'me', leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.000000Z' } },
  ],
  ['rbac.authorization.k8s.io/v1', 'Role', 'roles', { rules }],
  ['rbac.authorization.k8s.io/v1', 'RoleBinding', 'rolebindings', { roleRef: roleRef('ClusterRole'), subjects }],
  [
    'storage.k8s.io/v1',
    'CSIStorageCapacity',
    'csistoragecapacities',
    { storageClassName: 'fast', capacity: '5Gi', nodeTopology: { matchLabels: { zone: 'a' } } },
  ],
  ['resource.k8s.io/v1', 'ResourceClaim', 'resourceclaims', { spec: { devices: deviceRequests } }],
  [
    'resource.k8s.io/v1',
    'ResourceClaimTemplate',
    'resourceclaimtemplates',
    { spec: { spec: { devices: deviceRequests } } },
  ],
];

const CLUSTER: Row[] = [
  ['v1', 'Namespace', 'namespaces', {}],
  ['v1', 'Node', 'nodes', { spec: { podCIDR: '10.244.0.0/24', taints: [{ key: 'a', effect: 'NoSchedule' }] } }],
  [
    'v1',
    'PersistentVolume',
    'persistentvolumes',
    { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } } },
  ],
  [
    'rbac.authorization.k8s.io/v1',
    'ClusterRole',
    'clusterroles',
    { rules: [...rules, { nonResourceURLs: ['/metrics'], verbs: ['get'] }] },
  ],
  [
    'rbac.authorization.k8s.io/v1',
    'ClusterRoleBinding',
    'clusterrolebindings',
    { roleRef: roleRef('ClusterRole'), subjects },
  ],
  ['scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses', { value: 1000, description: 'high' }],
  ['storage.k8s.io/v1', 'StorageClass', 'storageclasses', { provisioner: 'example.com/fast', parameters: { a: 'b' } }],
  [
    'storage.k8s.io/v1',
    'VolumeAttributesClass',
    'volumeattributesclasses',
    { driverName: 'csi.example.com', parameters: { a: 'b' } },
  ],
  ['storage.k8s.io/v1', 'CSIDriver', 'csidrivers', { spec: {} }],
  ['storage.k8s.io/v1', 'CSINode', 'csinodes', { spec: { drivers: [{ name: 'csi.example.com', nodeID: 'n' }] } }],
  [
    'storage.k8s.io/v1',
    'VolumeAttachment',
    'volumeattachments',
    { spec: { attacher: 'csi.example.com', nodeName: 'n', source: { persistentVolumeName: 'pv' } } },
  ],
  ['node.k8s.io/v1', 'RuntimeClass', 'runtimeclasses', { handler: 'crun' }],
  ['networking.k8s.io/v1', 'IngressClass', 'ingressclasses', { spec: { controller: 'example.com/ingress' } }],
  ['networking.k8s.io/v1', 'ServiceCIDR', 'servicecidrs', { spec: { cidrs: ['10.50.0.0/24'] } }],
  [
    'networking.k8s.io/v1',
    'IPAddress',
    'ipaddresses',
    { spec: { parentRef: { resource: 'services', namespace: 'default', name: 'kubernetes' } } },
    '10.60.0.1',
  ],
  [
    'resource.k8s.io/v1',
    'DeviceClass',
    'deviceclasses',
    { spec: { selectors: [{ cel: { expression: 'device.driver == "gpu.example.com"' } }] } },
  ],
  [
    'resource.k8s.io/v1',
    'ResourceSlice',
    'resourceslices',
    {
      spec: {
        driver: 'gpu.example.com',
        nodeName: 'n',
        pool: { name: 'n', generation: 1, resourceSliceCount: 1 },
        devices: [{ name: 'gpu-0', attributes: { model: { string: 'x' } }, capacity: { memory: { value: '8Gi' } } }],
      },
    },
  ],
];

const root = (version: string): string => (version.includes('/') ? `/apis/${version}` : `/api/${version}`);

function sampleOf([apiVersion, kind, plural, fields, name]: Row, namespace?: string): Sample {
  const metadata = { name: name ?? `a-${kind.toLowerCase()}`, ...(namespace && { namespace }), ...fields.metadata };
  const parent = namespace === undefined ? root(apiVersion) : `${root(apiVersion)}/namespaces/${namespace}`;
  return { resource: `${parent}/${plural}`, object: { apiVersion, kind, ...fields, metadata } };
}

export const SAMPLES: readonly Sample[] = [
  ...NAMESPACED.map((row) => sampleOf(row, NAMESPACE)),
  ...CLUSTER.map((row) => sampleOf(row)),
];
