/** Admission: quotas, limit ranges, pod security, priorities, service accounts, default classes, runtime classes, tolerations. */
import { waitFor } from '@podwright/base';
import type { Case } from './cases.ts';
import type { Json } from './json.ts';
import type { Transcript } from './transcript.ts';

const podOf = (name: string, spec: Json = {}, container: Json = {}, metadata: Json = {}): Json => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: { containers: [{ name: 'a', image: 'busybox', ...container }], ...spec },
});

/** Creates a namespace for a single case. */
async function space(api: Transcript, name: string, labels: Json = {}): Promise<string> {
  await api.send('POST', '/api/v1/namespaces', { metadata: { name, labels } }, { quiet: true });
  await api.send(
    'POST',
    `/api/v1/namespaces/${name}/serviceaccounts`,
    { metadata: { name: 'default' } },
    { quiet: true },
  );
  return `/api/v1/namespaces/${name}`;
}

/** Waits until a ResourceQuota has a usage (`status.used`), which is computed asynchronously. */
async function counted(api: Transcript, path: string): Promise<void> {
  const used = async () => (await api.send('GET', path, undefined, { quiet: true })).body.status?.used;
  await waitFor(used, { intervalMs: 100, signal: AbortSignal.timeout(10_000) });
}

async function quota(api: Transcript): Promise<void> {
  const path = await space(api, 'compare-quota');
  const hard = {
    pods: '2',
    'requests.cpu': '1',
    'limits.memory': '1Gi',
    configmaps: '3',
    services: '2',
    'services.nodeports': '1',
    persistentvolumeclaims: '1',
    'requests.storage': '1Gi',
    'count/deployments.apps': '1',
  };
  await api.post(`${path}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard } });
  await api.send(
    'PATCH',
    `${path}/resourcequotas/q/status`,
    JSON.stringify({ status: { hard, used: Object.fromEntries(Object.keys(hard).map((key) => [key, '0'])) } }),
    { type: 'application/merge-patch+json', quiet: true },
  );
  await counted(api, `${path}/resourcequotas/q`);
  await api.post(`${path}/pods`, podOf('none'));
  const resources = { requests: { cpu: '600m' }, limits: { memory: '100Mi' } };
  await api.post(`${path}/pods`, podOf('one', {}, { resources }));
  await api.post(`${path}/pods`, podOf('two', {}, { resources }));
  await api.post(`${path}/services`, { metadata: { name: 'a' }, spec: { type: 'NodePort', ports: [{ port: 1 }] } });
  await api.post(`${path}/services`, { metadata: { name: 'b' }, spec: { type: 'NodePort', ports: [{ port: 1 }] } });
  await api.post(`${path}/persistentvolumeclaims`, {
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
  });
  await api.get(`${path}/resourcequotas/q`);
  await api.get(`${path}/resourcequotas/q`, {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  });
}

async function limits(api: Transcript): Promise<void> {
  const path = await space(api, 'compare-limits');
  const limit = {
    type: 'Container',
    max: { cpu: '2', memory: '1Gi' },
    min: { cpu: '100m' },
    default: { cpu: '1', memory: '512Mi' },
    defaultRequest: { cpu: '200m' },
    maxLimitRequestRatio: { memory: '2' },
  };
  await api.post(`${path}/limitranges`, {
    metadata: { name: 'l' },
    spec: {
      limits: [
        limit,
        { type: 'Pod', max: { cpu: '3' } },
        { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } },
      ],
    },
  });
  // kube-apiserver's admission plug-in reads limit ranges from an informer, so give it time to catch up
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const create = (name: string, resources: Json) => api.post(`${path}/pods`, podOf(name, {}, { resources }));
  await create('defaults', {});
  await create('over', { limits: { cpu: '3', memory: '2Gi' } });
  await create('under', { requests: { cpu: '50m' } });
  await create('ratio', { requests: { memory: '1Mi' }, limits: { memory: '100Mi' } });
  await api.post(
    `${path}/pods`,
    podOf('sum', { containers: ['a', 'b'].map((name) => ({ name, image: 'b', resources: { limits: { cpu: '2' } } })) }),
  );
  for (const storage of ['500Mi', '3Gi', '1Gi'])
    await api.post(`${path}/persistentvolumeclaims?dryRun=All`, {
      metadata: { name: 'c' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    });
}

const INSECURE: [Json, Json][] = [
  [{}, {}],
  [{ hostNetwork: true, hostPID: true }, { ports: [{ containerPort: 80, hostPort: 80 }] }],
  [{}, { securityContext: { privileged: true, capabilities: { add: ['SYS_ADMIN', 'NET_RAW'] } } }],
  [{ volumes: [{ name: 'h', hostPath: { path: '/' } }] }, {}],
  [
    { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }], seLinuxOptions: { user: 'x' } } },
    { securityContext: { procMount: 'Unmasked', seccompProfile: { type: 'Unconfined' } } },
  ],
  [
    { securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } } },
    { securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } },
  ],
  [{ securityContext: { runAsUser: 0 } }, {}],
];

async function podSecurity(api: Transcript): Promise<void> {
  for (const level of ['baseline', 'restricted'])
    for (const mode of ['enforce', 'warn']) {
      const name = `compare-${mode}-${level}`;
      const path = await space(api, name, { [`pod-security.kubernetes.io/${mode}`]: level });
      for (const [spec, container] of INSECURE) {
        await api.post(`${path}/pods?dryRun=All`, podOf('p', spec, container));
        const template = { metadata: { labels: { a: 'b' } }, spec: podOf('p', spec, container).spec };
        await api.post(`/apis/apps/v1/namespaces/${name}/deployments?dryRun=All`, {
          metadata: { name: 'd' },
          spec: { selector: { matchLabels: { a: 'b' } }, template },
        });
      }
    }
  const path = await space(api, 'compare-security');
  await api.post(`${path}/pods`, podOf('bad', ...INSECURE[1]!));
  for (const labels of [
    { 'pod-security.kubernetes.io/enforce': 'wrong' },
    { 'pod-security.kubernetes.io/enforce-version': 'x' },
    { 'pod-security.kubernetes.io/enforce': 'restricted' },
    { 'pod-security.kubernetes.io/warn': 'x', 'pod-security.kubernetes.io/audit-version': 'v1.x' },
  ])
    await api.patch(`${path}?dryRun=All`, 'merge', { metadata: { labels } });
}

async function podDefaults(api: Transcript): Promise<void> {
  const path = await space(api, 'compare-admission');
  const create = (spec: Json, metadata: Json = {}) =>
    api.post(`${path}/pods?dryRun=All`, podOf('p', spec, {}, metadata));
  await create({ priorityClassName: 'missing' });
  await create({ priorityClassName: 'system-node-critical' });
  await create({ priority: 7 });
  await create({ priorityClassName: 'system-cluster-critical', priority: 7 });
  await create({ serviceAccountName: 'missing' });
  await create({ automountServiceAccountToken: false });
  await create({ serviceAccountName: 'default', serviceAccount: 'other' });
  await create({ runtimeClassName: 'missing' });
  await create({ tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists' }] });
  await create({ nodeName: 'missing' });
  await create({}, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
  await create(
    {},
    {
      annotations: {
        'container.apparmor.security.beta.kubernetes.io/a': 'runtime/default',
        'scheduler.alpha.kubernetes.io/critical-pod': '',
      },
    },
  );
  await create({
    containers: [
      { name: 'a', image: 'b:latest' },
      { name: 'c', image: 'd@sha256:0123456789012345678901234567890123456789012345678901234567890123' },
    ],
  });
  await api.post('/apis/scheduling.k8s.io/v1/priorityclasses?dryRun=All', { metadata: { name: 'system-x' }, value: 1 });
  await api.post('/apis/scheduling.k8s.io/v1/priorityclasses?dryRun=All', {
    metadata: { name: 'big' },
    value: 2000000000,
  });
  await api.post('/apis/scheduling.k8s.io/v1/priorityclasses', {
    metadata: { name: 'compare-default' },
    value: 5,
    globalDefault: true,
    preemptionPolicy: 'Never',
  });
  await api.post('/apis/scheduling.k8s.io/v1/priorityclasses?dryRun=All', {
    metadata: { name: 'other-default' },
    value: 6,
    globalDefault: true,
  });
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await create({});
  await api.delete('/apis/scheduling.k8s.io/v1/priorityclasses/compare-default');
  await api.delete('/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical', { dryRun: ['All'] });
  await api.post('/apis/networking.k8s.io/v1/namespaces/compare-admission/ingresses?dryRun=All', {
    metadata: { name: 'i', annotations: { 'kubernetes.io/ingress.class': 'x' } },
    spec: { ingressClassName: 'y', defaultBackend: { service: { name: 's', port: { name: 'http' } } } },
  });
}

export const ADMISSION_CASES: readonly Case[] = [
  { name: 'admission: quota', run: quota },
  { name: 'admission: limit ranges', run: limits },
  { name: 'admission: pod security', run: podSecurity },
  { name: 'admission: pods', run: podDefaults },
];
