import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ContainerConfigSchema,
  create,
  type MessageInitShape,
  MountPropagation,
  NamespaceMode,
  Signal,
} from '@podwright/cri';
import { containerConfig } from './container-config.ts';

type Init = Omit<Extract<MessageInitShape<typeof ContainerConfigSchema>, { $typeName?: undefined }>, '$typeName'>;
const minimal: Init = { metadata: { name: 'web', attempt: 2 }, image: { image: 'busybox' } };
const translate = (more: Init) => containerConfig(create(ContainerConfigSchema, { ...minimal, ...more }));

test('a minimal configuration means the defaults of the CRI', () => {
  const config = translate({});
  assert.equal(config.name, 'web');
  assert.equal(config.attempt, 2);
  assert.equal(config.image.reference, 'busybox');
  assert.equal(config.stopSignal, '');
  assert.deepEqual(config.security.pid, { mode: 'pod' });
  assert.deepEqual(config.security.seccomp, { type: 'unconfined' });
  assert.equal(config.security.apparmor, undefined);
  assert.equal(config.resources.memoryLimitBytes, 0);
});

test('what is said is translated', () => {
  const config = translate({
    stopSignal: Signal.SIGRTMINPLUS3,
    envs: [{ key: 'A', value: Buffer.from('ä') }],
    mounts: [
      { containerPath: '/d', hostPath: '/h', readonly: true, propagation: MountPropagation.PROPAGATION_BIDIRECTIONAL },
    ],
    linux: {
      resources: { memoryLimitInBytes: 1n << 40n },
      securityContext: {
        runAsUser: { value: 1000n },
        namespaceOptions: { pid: NamespaceMode.TARGET, targetId: 'abc' },
        seccomp: { profileType: 2, localhostRef: 'localhost/p.json' },
      },
    },
  });
  assert.equal(config.stopSignal, 'SIGRTMIN+3');
  assert.deepEqual(config.envs, [{ name: 'A', value: 'ä' }]);
  assert.equal(config.mounts[0]?.propagation, 'bidirectional');
  assert.equal(config.resources.memoryLimitBytes, 2 ** 40);
  assert.equal(config.security.runAsUser, 1000);
  assert.deepEqual(config.security.pid, { mode: 'target', containerId: 'abc' });
  assert.deepEqual(config.security.seccomp, { type: 'localhost', ref: 'p.json' });
});

test('what makes no sense is refused with its class', () => {
  const refuse = (more: Init, code: string, words: RegExp) =>
    assert.throws(
      () => translate(more),
      (error: Error & { code: string }) => error.code === code && words.test(error.message),
      String(words),
    );
  refuse({ metadata: undefined }, 'invalid_argument', /no metadata/);
  refuse({ metadata: { name: '' } }, 'invalid_argument', /no name/);
  refuse({ image: undefined }, 'invalid_argument', /no image/);
  refuse({ mounts: [{ containerPath: 'd', hostPath: '/h' }] }, 'invalid_argument', /not absolute/);
  refuse({ mounts: [{ containerPath: '/d', hostPath: '' }] }, 'invalid_argument', /not absolute/);
  refuse(
    { mounts: [{ containerPath: '/d', hostPath: '/h', recursiveReadOnly: true }] },
    'invalid_argument',
    /read-only/,
  );
  refuse(
    { mounts: [{ containerPath: '/d', hostPath: '/h', propagation: 9 as never }] },
    'invalid_argument',
    /propagation 9/,
  );
  refuse({ CDIDevices: [{ name: 'gpu0' }] }, 'invalid_argument', /"gpu0" is not vendor\/class=name/);
  refuse({ linux: { securityContext: { runAsGroup: { value: 1n } } } }, 'invalid_argument', /runAsGroup/);
  refuse({ linux: { securityContext: { runAsUser: { value: -1n } } } }, 'invalid_argument', /-1 is not an id/);
  refuse({ linux: { resources: { memoryLimitInBytes: 1n << 62n } } }, 'invalid_argument', /out of range/);
});
