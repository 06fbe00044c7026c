import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeKubeClient, refusal } from './fake-kube-client.ts';
import { PODS } from './resources.ts';

test('a scripted response is used for only one of several concurrent calls', async () => {
  const api = new FakeKubeClient();
  for (const name of ['a', 'b']) api.put(PODS, { metadata: { namespace: 'default', name } });
  api.script({ verb: 'delete' }, refusal(503, 'ServiceUnavailable'));
  const place = (name: string) => ({ namespace: 'default', name });
  const answers = await Promise.allSettled(['a', 'b'].map((name) => api.delete(PODS, place(name))));
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['rejected', 'fulfilled'],
  );
  assert.equal(api.stored(PODS, place('b')), undefined);
});
