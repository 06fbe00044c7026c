import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodwrightError } from '@podwright/base';
import type { Pod } from '@podwright/kube-api';
import { ApiViewReader } from './api-view-reader.ts';
import { why } from './chains/why.ts';
import { VIEWED } from './view-reader.ts';

const POD = '/api/v1/namespaces/shop/pods/web';
const EVENTS = '/api/v1/namespaces/shop/events';

/**
 * Returns a reader for a fake API server that has the given documents, by path. For a document that is an Error, requests fail with that
 * error; requests for other paths fail with `not_found`.
 */
function readerOf(documents: Record<string, unknown>) {
  const asked: string[] = [];
  const answer = async (path: string) => {
    asked.push(path);
    const found = documents[path.split('?')[0]!];
    if (found instanceof Error) throw found;
    if (found === undefined) throw new PodwrightError('not_found', path);
    return found;
  };
  return { reader: new ApiViewReader({ json: answer, text: async (path) => String(await answer(path)) }), asked };
}

const forbidden = new PodwrightError('permission_denied', 'no right');

function podOf(status: object, spec: object = {}): Pod {
  const metadata = { name: 'web', namespace: 'shop', uid: 'u' };
  return { metadata, spec: { containers: [{ name: 'main', image: 'i' }], ...spec }, status } as unknown as Pod;
}

test('nonexistent objects and kinds are reported as absent, and others may be forbidden', async () => {
  const { reader } = readerOf({ '/api/v1/namespaces/shop/services': forbidden });
  assert.equal(await reader.get(VIEWED.pods, 'shop', 'web'), undefined);
  assert.deepEqual(await reader.list(VIEWED.deployments, 'shop'), []);
  await assert.rejects(reader.list(VIEWED.services, 'shop'), { code: 'permission_denied' });
});

test('events are sorted by time, whichever field contains it', async () => {
  const event = (reason: string, times: object) => ({ reason, metadata: {}, ...times });
  const items = [
    event('third', { lastTimestamp: '2026-01-01T00:00:03Z' }),
    event('first', { lastTimestamp: null, eventTime: '2026-01-01T00:00:01.5Z' }),
    event('second', { metadata: { creationTimestamp: '2026-01-01T00:00:02Z' } }),
  ];
  const { reader, asked } = readerOf({ [EVENTS]: { items } });
  const events = await reader.events({ kind: 'Pod', namespace: 'shop', name: 'web', uid: 'u' });
  assert.deepEqual(
    events.map(({ reason }) => reason),
    ['first', 'second', 'third'],
  );
  assert.match(decodeURIComponent(asked[0]!), /fieldSelector=involvedObject.kind=Pod,.*uid=u$/);
});

test('the end of a log has few and short lines, or is empty if the log cannot be read', async () => {
  const lines = Array.from({ length: 9 }, (_, index) => `${index}${'x'.repeat(10_000)}`);
  const { reader, asked } = readerOf({ [`${POD}/log`]: `${lines.join('\n')}\n` });
  const end = await reader.log(podOf({}), 'main', true);
  assert.deepEqual([end.length, end[0]![0], end[0]!.length], [5, '4', 4096]);
  assert.match(asked[0]!, /container=main&tailLines=5&limitBytes=20480&previous=true$/);
  const gone = readerOf({ [`${POD}/log`]: new PodwrightError('unavailable', 'the kubelet does not answer') });
  assert.deepEqual(await gone.reader.log(podOf({}), 'main', false), []);
});

test('a pod is explained even to a user who may only read the pod', async () => {
  const status = {
    phase: 'Pending',
    conditions: [
      {
        type: 'PodScheduled',
        status: 'False',
        message: '0/1 nodes are available: 1 node(s) had untolerated taint(s).',
      },
    ],
  };
  const pod = podOf(status, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] });
  const claim = '/api/v1/namespaces/shop/persistentvolumeclaims/data';
  const { reader } = readerOf({ '/api/v1/nodes': forbidden, [EVENTS]: forbidden, [claim]: forbidden });
  const { finding } = await why(reader, VIEWED.pods, pod);
  assert.equal(finding!.sentence, 'it cannot be scheduled: it does not tolerate the taints of the nodes');
});
