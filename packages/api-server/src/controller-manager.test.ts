/** Tests of a server that runs alongside a kube-controller-manager. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { silentLogger, waitFor } from '@podwright/base';
import type { KubeObject } from '@podwright/kube-api';
import { CONFIG_MAPS, isApiStatus, type KubeClient, NAMESPACES, SERVICE_ACCOUNTS } from '@podwright/kube-client';
import { type ApiServer, startApiServer } from './start-api-server.ts';

const DEFINITIONS = {
  ...{ group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' },
  ...{ kind: 'CustomResourceDefinition', namespaced: false },
};
const directory = mkdtempSync(join(tmpdir(), 'api-server-'));
let server: ApiServer;
let client: KubeClient;
before(async () => {
  server = await startApiServer({
    directory: join(directory, 'data'),
    socketPath: join(directory, 'api.sock'),
    logger: silentLogger,
    hasControllerManager: true,
  });
  client = server.client({ username: 'admin', groups: ['system:masters', 'system:authenticated'] });
});
after(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

it('does not delete namespaces or create service accounts, but still serves custom kinds', async () => {
  await client.create(NAMESPACES, { metadata: { name: 'n' } });
  await client.delete(NAMESPACES, { name: 'n' });
  const schema = { openAPIV3Schema: { type: 'object' } };
  const definition = {
    metadata: { name: 'widgets.example.com' },
    spec: {
      ...{ group: 'example.com', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' } },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
  await client.create(DEFINITIONS, definition as KubeObject);
  type Definition = KubeObject & { status?: { conditions?: { type: string; status: string }[] } };
  const isEstablished = async () => {
    const { status } = await client.get<Definition>(DEFINITIONS, { name: 'widgets.example.com' });
    return status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True') || undefined;
  };
  await waitFor(isEstablished, { intervalMs: 20, signal: AbortSignal.timeout(10_000) });
  const { metadata } = await client.get(NAMESPACES, { name: 'n' });
  assert.notEqual(metadata.deletionTimestamp, undefined);
  const account = client.get(SERVICE_ACCOUNTS, { namespace: 'default', name: 'default' });
  await assert.rejects(account, (error) => isApiStatus(error, 404));
});

it('still counts the use of quotas, as upstream does during admission', async () => {
  const quotas = { group: '', version: 'v1', plural: 'resourcequotas', kind: 'ResourceQuota', namespaced: true };
  const place = { namespace: 'default', name: 'q' };
  type Quota = KubeObject & { status?: { used?: Record<string, string> } };
  await client.create(quotas, { metadata: place, spec: { hard: { 'count/configmaps': '5' } } } as KubeObject);
  await client.create(CONFIG_MAPS, { metadata: { namespace: 'default', name: 'one' } });
  const isCounted = async () => {
    const { status } = await client.get<Quota>(quotas, place);
    return status?.used?.['count/configmaps'] === '1' || undefined;
  };
  await waitFor(isCounted, { intervalMs: 20, signal: AbortSignal.timeout(10_000) });
});
