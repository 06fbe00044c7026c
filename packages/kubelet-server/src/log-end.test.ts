import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Broadcast, PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import type { PodChange } from '@podwright/kubelet';
import { endOfLog } from './log-end.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { containers: [{ name: 'app', image: 'i' }] },
};

/** Returns a fake kubelet with one container, whose log the test can change or remove. */
function start() {
  const changes = new Broadcast<PodChange>();
  const log: { now: { path: string; running: boolean } | undefined } = { now: { path: '/log', running: true } };
  const kubelet = {
    watch: (signal: AbortSignal) => changes.subscribe(signal),
    containerLog: () => {
      if (log.now === undefined) throw new PodwrightError('failed_precondition', 'it has not begun yet');
      return log.now;
    },
  };
  const reader = new AbortController();
  const follow = () => endOfLog(kubelet, pod, { container: 'app', path: '/log', signal: reader.signal });
  return { changes, log, follow };
}

test('a log ends when its container exits or restarts, its pod is deleted, or the runtime removes the container', async () => {
  const check = async (type: PodChange['type'], now: { path: string; running: boolean } | undefined) => {
    const { changes, log, follow } = start();
    const ended = follow();
    changes.publish({ type: 'MODIFIED', pod, version: 1 });
    assert.equal(ended.aborted, false);
    log.now = now;
    changes.publish({ type, pod, version: 2 });
    await once(ended, 'abort', { signal: AbortSignal.timeout(30_000) });
  };
  await check('MODIFIED', { path: '/log', running: false });
  await check('MODIFIED', { path: '/other', running: true });
  await check('DELETED', { path: '/log', running: true });
  await check('MODIFIED', undefined);
  const { log, follow } = start();
  log.now = undefined;
  assert.equal(follow().aborted, true);
});
