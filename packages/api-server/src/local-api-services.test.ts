/** Tests of the APIServices and the ConfigMap that an API server creates itself. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { waitFor } from '@podwright/base';
import type { Json } from './server/test-client.fixture.ts';
import { API_SERVICES, PLACE, TestExtension } from './test-extension.fixture.ts';

let extension: TestExtension;
before(async () => {
  extension = await TestExtension.start();
});
after(() => extension[Symbol.asyncDispose]());

const get = (path: string) => extension.call('GET', path);

const until = <T>(probe: () => Promise<T | undefined>): Promise<T> =>
  waitFor(probe, { intervalMs: 10, signal: AbortSignal.timeout(10_000) });

describe('local APIServices', () => {
  const service = async (name: string) => (await get(`${API_SERVICES}/${name}`)).json();

  it('exist for the group versions of this server', async () => {
    const apps = await until(async () => {
      const found = await service('v1.apps');
      return found.kind === 'APIService' ? found : undefined;
    });
    assert.deepEqual(apps.metadata.labels, { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' });
    assert.deepEqual(apps.spec, { group: 'apps', version: 'v1', groupPriorityMinimum: 17_800, versionPriority: 15 });
    assert.equal(apps.status.conditions[0].reason, 'Local');
    const { items } = (await get(API_SERVICES)).json();
    const names = items.map((one: Json) => one.metadata.name);
    assert.ok(
      ['v1.', 'v2.autoscaling', 'v1beta1.metrics.k8s.io', 'v1.apiextensions.k8s.io'].every((one) =>
        names.includes(one),
      ),
    );
    assert.ok(!names.includes('v1.apiregistration.k8s.io'));
    const wanted = { service: PLACE, insecureSkipTLSVerify: true };
    const refused = await extension.call('PATCH', `${API_SERVICES}/v1.apps`, { spec: wanted });
    assert.equal(refused.status, 422);
    assert.match(refused.text, /spec\.service: Forbidden: this server serves the group version itself/);
  });

  it('exist for custom resources as long as their definition', async () => {
    const names = { plural: 'widgets', singular: 'widget', kind: 'Widget' };
    const schema = { openAPIV3Schema: { type: 'object' } };
    const spec = {
      group: 'w.example',
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    };
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await extension.call('POST', path, { metadata: { name: 'widgets.w.example' }, spec });
    const found = await until(async () => {
      const one = await service('v1.w.example');
      return one.kind === 'APIService' ? one : undefined;
    });
    assert.deepEqual([found.spec.groupPriorityMinimum, found.spec.versionPriority], [1000, 100]);
    await extension.call('PATCH', `${API_SERVICES}/v1.w.example`, { spec: { versionPriority: 7 } });
    await until(async () => (await service('v1.w.example')).spec.versionPriority === 100 || undefined);
    await extension.call('DELETE', `${path}/widgets.w.example`);
    await until(async () => (await service('v1.w.example')).code === 404 || undefined);
  });

  it('of metrics.k8s.io do not exist while another server has the group', async () => {
    const usage = '/apis/metrics.k8s.io/v1beta1/pods';
    assert.equal((await get(usage)).json().kind, 'PodMetricsList');
    const spec = { service: PLACE, insecureSkipTLSVerify: true };
    const name = 'v1beta1.metrics.k8s.io';
    await extension.call('PATCH', `${API_SERVICES}/${name}`, { spec });
    await until(async () => ((await get(usage)).text === '404 page not found' ? true : undefined));
    assert.equal(extension.requests.at(-1)!.url, usage);
    await until(async () => (await service('v1.metrics.k8s.io')).code === 404 || undefined);
    assert.equal((await get('/apis/metrics.k8s.io/v1/pods')).status, 404);
    const versions = (await get('/apis/metrics.k8s.io')).json().versions;
    assert.deepEqual(
      versions.map((one: Json) => one.version),
      ['v1beta1'],
    );
    await extension.call('DELETE', `${API_SERVICES}/${name}`);
    await until(async () => (await service(name)).status?.conditions?.[0].reason === 'Local' || undefined);
    await until(async () => (await service('v1.metrics.k8s.io')).kind === 'APIService' || undefined);
    assert.equal((await get(usage)).json().kind, 'PodMetricsList');
  });
});

it('a ConfigMap has the certificates and headers by which extension API servers verify this server', async () => {
  const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
  const { data } = await until(async () => {
    const found = (await get(path)).json();
    return found.kind === 'ConfigMap' ? (found as Json) : undefined;
  });
  assert.equal(data['client-ca-file'], extension.server.caCertificate);
  const proxy = new X509Certificate(data['requestheader-client-ca-file']);
  assert.equal(proxy.subject, 'CN=front-proxy-ca');
  const { 'client-ca-file': _, 'requestheader-client-ca-file': __, ...others } = data;
  assert.deepEqual(others, {
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  });
  await extension.call('PATCH', path, { data: { 'requestheader-allowed-names': '["other"]', 'client-ca-file': null } });
  await until(async () => {
    const now = (await get(path)).json().data;
    return now['requestheader-allowed-names'] === '["other","front-proxy-client"]' &&
      now['client-ca-file'] !== undefined
      ? true
      : undefined;
  });
  await extension.call('DELETE', path);
  await until(
    async () =>
      (await get(path)).json().data?.['requestheader-allowed-names'] === '["front-proxy-client"]' || undefined,
  );
});
