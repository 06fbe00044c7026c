import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ContainerConfigSchema,
  create,
  type MessageInitShape,
  MountPropagation,
  NamespaceMode,
  PodSandboxConfigSchema,
  UserNamespaceSchema,
} from '@podwright/cri';
import { containerConfig } from './container-config.ts';
import { sandboxConfig } from './sandbox-config.ts';
import { sameMappings, userNamespaceOf } from './user-namespace.ts';

type Init = Omit<Extract<MessageInitShape<typeof UserNamespaceSchema>, { $typeName?: undefined }>, '$typeName'>;
const one = { containerId: 0, hostId: 65_536, length: 65_536 };
const pod: Init = { mode: NamespaceMode.POD, uids: [one], gids: [one] };
const parse = (init: Init) => userNamespaceOf(create(UserNamespaceSchema, init));

test('a user namespace has one user range and one group range, and undefined means the host’s namespace', () => {
  assert.deepEqual(parse(pod), { uids: [one], gids: [one] });
  assert.equal(parse({ mode: NamespaceMode.NODE }), undefined);
  assert.equal(userNamespaceOf(undefined), undefined);
});

test('the error for an invalid user namespace names the field', () => {
  const refuse = (init: Init, words: RegExp) =>
    assert.throws(() => parse(init), { code: 'invalid_argument', message: words }, String(words));
  refuse({ ...pod, mode: NamespaceMode.CONTAINER }, /mode CONTAINER/);
  refuse({ ...pod, mode: NamespaceMode.TARGET }, /mode TARGET/);
  refuse({ ...pod, mode: 9 as never }, /mode 9/);
  refuse({ ...pod, mode: NamespaceMode.NODE }, /NODE has mappings/);
  refuse({ ...pod, uids: [] }, /uids: there are 0 mappings/);
  refuse({ ...pod, gids: [one, one] }, /gids: there are 2 mappings/);
  refuse({ ...pod, uids: [{ ...one, length: 0 }] }, /uids: length 0/);
  refuse({ ...pod, uids: [{ ...one, containerId: 1 }] }, /id 0 must be mapped/);
  refuse({ ...pod, gids: [{ ...one, hostId: 0xffffffff }] }, /gids: hostId 4294967295/);
});

test('ID mappings are compared by value, and two absent mappings are equal', () => {
  assert.ok(sameMappings(undefined, undefined));
  assert.ok(sameMappings(parse(pod), parse(pod)));
  assert.ok(!sameMappings(parse(pod), undefined));
  assert.ok(!sameMappings(parse(pod), parse({ ...pod, gids: [{ ...one, length: 1 }] })));
});

test('a pod in a user namespace must have its own PID and IPC namespaces, and must not be privileged', () => {
  const translate = (securityContext: object) =>
    sandboxConfig(create(PodSandboxConfigSchema, { metadata: { name: 'p' }, linux: { securityContext } }), '');
  const usernsOptions = pod;
  assert.deepEqual(translate({ namespaceOptions: { usernsOptions } }).userNamespace, { uids: [one], gids: [one] });
  assert.equal(translate({ namespaceOptions: { usernsOptions, network: NamespaceMode.NODE } }).network, 'node');
  const refuse = (securityContext: object, message: RegExp) =>
    assert.throws(() => translate(securityContext), { code: 'invalid_argument', message });
  refuse({ namespaceOptions: { usernsOptions, pid: NamespaceMode.NODE } }, /host's pid/);
  refuse({ namespaceOptions: { usernsOptions, ipc: NamespaceMode.NODE } }, /host's ipc/);
  refuse({ namespaceOptions: { usernsOptions }, privileged: true }, /privileged/);
});

test('ID mappings of a mount are translated, and cannot be combined with bidirectional propagation', () => {
  const mount = { containerPath: '/d', hostPath: '/h', uidMappings: [one], gidMappings: [one] };
  const translate = (change: object) =>
    containerConfig(
      create(ContainerConfigSchema, {
        metadata: { name: 'c' },
        image: { image: 'i' },
        mounts: [{ ...mount, ...change }],
      }),
    ).mounts[0];
  assert.deepEqual(translate({})?.mappings, { uids: [one], gids: [one] });
  assert.equal(translate({ uidMappings: [], gidMappings: [] })?.mappings, undefined);
  const refuse = (change: object, message: RegExp) =>
    assert.throws(() => translate(change), { code: 'invalid_argument', message });
  refuse({ gidMappings: [] }, /mount \/d: gidMappings: there are 0/);
  refuse({ propagation: MountPropagation.PROPAGATION_BIDIRECTIONAL }, /bidirectional/);
});
