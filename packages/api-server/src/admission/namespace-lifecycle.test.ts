import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admissionChain } from './admission-chain.ts';
import { NamespaceLifecycle } from './namespace-lifecycle.ts';
import { admit, attributesOf, object, put, rejects, storeOf } from './test-admission.fixture.ts';

const store = storeOf({
  namespaces: [object('shop', { status: { phase: 'Active' } }), object('old', { status: { phase: 'Terminating' } })],
});
const plugin = new NamespaceLifecycle(store);

test('objects can be created and updated only in existing namespaces', async () => {
  await admit(plugin, { to: 'pods', object: object('shop/web') });
  await rejects(plugin, { to: 'pods', object: object('none/web') }, 'namespaces "none" not found');
  const update = { to: 'pods', object: object('none/web'), oldObject: object('none/web') };
  assert.equal((await rejects(plugin, update, 'namespaces "none" not found')).status.code, 404);
  await admit(plugin, { to: 'pods', oldObject: object('none/web') });
  await admit(plugin, { to: 'nodes', object: object('n1') });
  await admit(plugin, { to: 'localsubjectaccessreviews.authorization.k8s.io', object: object('none/') });
  await admit(plugin, { to: 'pods/exec', operation: 'CONNECT', object: object('none/web') });
});

test('nothing can be created in a terminating namespace', async () => {
  const refusal = 'unable to create new content in namespace old because it is being terminated';
  const error = await rejects(plugin, { to: 'pods', object: object('old/web') }, `pods "web" is forbidden: ${refusal}`);
  assert.deepEqual(error.status.details, {
    name: 'web',
    kind: 'pods',
    causes: [
      { reason: 'NamespaceTerminating', message: 'namespace old is being terminated', field: 'metadata.namespace' },
    ],
  });
  await rejects(
    plugin,
    { to: 'pods', object: object('old/', {}, { name: undefined, generateName: 'a-' }) },
    `pods "a-" is forbidden: ${refusal}`,
  );
  await rejects(plugin, { to: 'pods/eviction', object: object('old/web') }, refusal);
  await admit(plugin, { to: 'pods', object: object('old/web'), oldObject: object('old/web') });
});

test('system namespaces cannot be deleted', async () => {
  for (const name of ['default', 'kube-system', 'kube-public'])
    await rejects(
      plugin,
      { to: 'namespaces', oldObject: object(name) },
      `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    );
  for (const name of ['shop', 'kube-node-lease']) await admit(plugin, { to: 'namespaces', oldObject: object(name) });
  await admit(plugin, { to: 'namespaces', object: object('new') });
});

test('deletion of the namespace during a write is detected', async () => {
  const chain = admissionChain([plugin]);
  put(store, 'namespaces', object('brief'));
  const attributes = attributesOf({ to: 'pods', object: object('brief/web') });
  await chain.mutate(attributes);
  put(store, 'namespaces', object('brief', { status: { phase: 'Terminating' } }));
  await assert.rejects(chain.validate(attributes), /being terminated/);
});
