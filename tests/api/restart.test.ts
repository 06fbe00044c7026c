/** An API server that is killed and restarted: its objects are retained, and clients learn that they must relist. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { pause, waitFor, withTimeout } from '@podwright/base';
import { ApiPlace } from './api-place.fixture.ts';

type Listed = { metadata: { resourceVersion: string }; items: { metadata: { name: string; uid: string } }[] };

let place: ApiPlace;

async function list(path: string): Promise<Listed> {
  const { status, body } = await place.call(path);
  assert.equal(status, 200, body);
  return JSON.parse(body);
}

suite('an API server after kill -9', () => {
  before(async () => {
    place = await ApiPlace.start();
  });
  after(() => place.remove());

  test('keeps its objects and the same certificate authority', async () => {
    const before = await list('/api/v1/namespaces');
    const roles = await list('/apis/rbac.authorization.k8s.io/v1/clusterroles');
    const authority = await configuredAuthority();
    await place.stopServer('SIGKILL');
    await place.startServer();
    const after = await list('/api/v1/namespaces');
    assert.deepEqual(after.items.map(identity), before.items.map(identity));
    const rolesAfter = await list('/apis/rbac.authorization.k8s.io/v1/clusterroles');
    assert.deepEqual(rolesAfter.items.map(identity), roles.items.map(identity));
    assert.equal(await configuredAuthority(), authority);
    assert.ok(Number(after.metadata.resourceVersion) > Number(before.metadata.resourceVersion));
  });

  test('has every object whose creation was acknowledged', async () => {
    const path = '/api/v1/namespaces/default/configmaps';
    const acknowledged = new Set<string>();
    const create = async (writer: number) => {
      for (let index = 0; ; index++) {
        const name = `w${writer}-${index}`;
        const answer = await place.call(path, { metadata: { name } }).catch(() => undefined);
        if (answer?.status !== 201) return;
        acknowledged.add(name);
      }
    };
    const writers = [1, 2, 3, 4].map(create);
    await pause(300, new AbortController().signal);
    await place.stopServer('SIGKILL');
    await Promise.all(writers);
    await place.startServer();
    const names = new Set((await list(path)).items.map(({ metadata }) => metadata.name));
    assert.ok(acknowledged.size > 10, `${acknowledged.size} objects`);
    assert.deepEqual(
      [...acknowledged].filter((name) => !names.has(name)),
      [],
    );
  });

  test('refuses a watch from a version that it does not have', async () => {
    const { metadata } = await list('/api/v1/namespaces');
    await place.stopServer('SIGKILL');
    await place.startServer();
    const { body } = await place.call(
      `/api/v1/namespaces?watch=1&resourceVersion=${metadata.resourceVersion}&timeoutSeconds=1`,
    );
    const { code, reason, message } = JSON.parse(body).object ?? JSON.parse(body);
    assert.equal(code, 410);
    assert.equal(reason, 'Expired');
    assert.match(message, /too old resource version/);
  });
});

const identity = ({ metadata: { name, uid } }: Listed['items'][number]) => `${name} ${uid}`;

/** Returns the CA certificate that a controller publishes shortly after startup. */
async function configuredAuthority(): Promise<string> {
  using signal = withTimeout(undefined, 20_000, 'wait for kube-root-ca.crt');
  const find = async () => {
    const { status, body } = await place.call('/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt');
    return status === 200 ? (JSON.parse(body).data['ca.crt'] as string) : undefined;
  };
  return waitFor(find, { intervalMs: 50, signal });
}
