import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectEngine } from '../engine/engine.ts';
import { startFakeEngine } from '../engine/fake-engine.fixture.ts';
import { CONTAINER_TYPE, TYPE_LABEL } from '../labels/labels.ts';
import { LegacyLogs } from './legacy-logs.ts';

const FOREIGN = {
  Id: 'f'.repeat(64),
  Name: '/web',
  State: { Running: true, Pid: 1, ExitCode: 0 },
  Config: { Labels: { [TYPE_LABEL]: CONTAINER_TYPE } },
  HostConfig: { LogConfig: { Type: 'local' } },
  NetworkSettings: {},
};

test('the log of a foreign container with dockershim’s label is not read', async () => {
  await using fake = await startFakeEngine(({ url }, response) => {
    const answer = url === '/version' ? { Version: '20.10.24', ApiVersion: '1.41' } : FOREIGN;
    response.end(url?.endsWith('/json') || url === '/version' ? JSON.stringify(answer) : 'its log');
  });
  const engine = await connectEngine(fake.socket);
  try {
    await assert.rejects(new LegacyLogs(engine).read(FOREIGN.Id, {}, AbortSignal.timeout(30_000)), {
      code: 'not_found',
      message: `read the log of container ${FOREIGN.Id}: not a container of a pod`,
    });
  } finally {
    engine.close();
  }
});
