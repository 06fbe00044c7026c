import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger, waitFor, withTimeout } from '@podwright/base';
import type { Node } from '@podwright/kube-api';
import { NODES } from '@podwright/kube-client';
import { startApiServer } from './start-api-server.ts';

test('the taint of a new node is removed once it is ready', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'ready-'));
  const server = await startApiServer({
    ...{ directory: join(directory, 'data'), socketPath: join(directory, 'api.sock'), logger: silentLogger },
    untaintsNodes: true,
  });
  using signal = withTimeout(undefined, 20_000, 'wait for the nodes');
  try {
    const client = server.client({ username: 'admin', groups: ['system:masters'] });
    const taints = async (name: string) => (await client.get<Node>(NODES, { name })).spec?.taints?.length ?? 0;
    const setReady = (name: string, status: string) => {
      const body = { status: { conditions: [{ type: 'Ready', status }] } };
      return client.patch(NODES, { name }, { type: 'strategic', subresource: 'status', body });
    };
    for (const name of ['a', 'b']) await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    await setReady('b', 'False');
    await setReady('a', 'True');
    await waitFor(async () => (await taints('a')) === 0 || undefined, { intervalMs: 5, signal });
    assert.equal(await taints('b'), 1);
    await setReady('b', 'True');
    await waitFor(async () => (await taints('b')) === 0 || undefined, { intervalMs: 5, signal });
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true });
  }
});
