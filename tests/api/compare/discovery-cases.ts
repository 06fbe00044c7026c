/** Discovery documents, non-API paths, and health checks. */
import type { Case } from './cases.ts';

const AGGREGATED = 'application/json;v=v2;g=apidiscovery.k8s.io;as=APIGroupDiscoveryList';

const GROUP_VERSIONS = [
  'apps/v1',
  'authentication.k8s.io/v1',
  'authorization.k8s.io/v1',
  'autoscaling/v1',
  'autoscaling/v2',
  'batch/v1',
  'certificates.k8s.io/v1',
  'coordination.k8s.io/v1',
  'discovery.k8s.io/v1',
  'events.k8s.io/v1',
  'networking.k8s.io/v1',
  'node.k8s.io/v1',
  'policy/v1',
  'rbac.authorization.k8s.io/v1',
  'resource.k8s.io/v1',
  'scheduling.k8s.io/v1',
  'storage.k8s.io/v1',
];

const paths = (name: string, ...list: string[]): Case => ({
  name,
  run: async (api) => {
    for (const path of list) await api.get(path);
  },
});

export const DISCOVERY_CASES: readonly Case[] = [
  ...['/api', '/api/v1', '/version', ...GROUP_VERSIONS.map((one) => `/apis/${one}`)].map((path) =>
    paths(`discovery ${path}`, path),
  ),
  ...GROUP_VERSIONS.map((one) => paths(`discovery of the group of ${one}`, `/apis/${one.split('/')[0]}`)),
  {
    name: 'aggregated discovery',
    run: async (api) => {
      await api.get('/api', { accept: AGGREGATED });
      await api.get('/apis', { accept: `${AGGREGATED},application/json` });
      const { headers } = await api.get('/api', { accept: AGGREGATED });
      await api.get('/api', { accept: AGGREGATED, 'if-none-match': headers.etag! });
    },
  },
  paths(
    'discovery of nothing',
    '/apis/none.example.com',
    '/apis/none.example.com/v1',
    '/apis/apps/v9',
    '/api/v9',
    '/apis/apps/v1/nothings',
  ),
  paths(
    'paths of nothing',
    '/nothing',
    '/api/v1/nothings',
    '/api/v1/namespaces/default/nothings',
    '/api/v1/namespaces/default/pods/a/nothing',
    '/apis/apps',
    '/apis/apps/',
  ),
  paths('health', '/healthz', '/livez', '/readyz', '/livez/ping', '/healthz/nothing', '/livez/nothing'),
  paths('tokens of discovery', '/.well-known/openid-configuration', '/openid/v1/jwks'),
  {
    name: 'methods that paths do not have',
    run: async (api) => {
      await api.post('/api', {});
      await api.post('/version', {});
      await api.put('/api/v1/namespaces/default/pods', {});
      await api.post('/api/v1/namespaces/default/pods/a', {});
      await api.send('PATCH', '/api/v1/namespaces/default/pods', '{}', { type: 'application/merge-patch+json' });
      await api.send('OPTIONS', '/api/v1/namespaces/default/pods');
      await api.send('DELETE', '/api/v1/pods');
      await api.post('/api/v1/pods', {});
      await api.send('DELETE', '/api/v1/namespaces/default/pods/a/status');
      await api.post('/apis/apps/v1/namespaces/default/deployments/a/scale', {});
      await api.send('DELETE', '/apis/apps/v1/namespaces/default/deployments/a/scale');
      await api.get('/api/v1/namespaces/default/pods/a/binding');
      await api.get('/api/v1/namespaces/default/pods/a/eviction');
      await api.get('/apis/authorization.k8s.io/v1/subjectaccessreviews');
      await api.get('/api/v1/watch/namespaces/default/configmaps?timeoutSeconds=1');
      await api.send('HEAD', '/api/v1/namespaces/default');
    },
  },
];
