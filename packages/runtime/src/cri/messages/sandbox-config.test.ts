import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, type MessageInitShape, NamespaceMode, PodSandboxConfigSchema, Protocol } from '@podwright/cri';
import { sandboxConfig } from './sandbox-config.ts';

type Init = Omit<Extract<MessageInitShape<typeof PodSandboxConfigSchema>, { $typeName?: undefined }>, '$typeName'>;
const metadata = { name: 'web', uid: 'u1', namespace: 'default', attempt: 1 };
const translate = (more: Init) => sandboxConfig(create(PodSandboxConfigSchema, { metadata, ...more }), '');

test('a sandbox has its own namespaces unless host namespaces are requested', () => {
  const plain = translate({});
  assert.deepEqual([plain.network, plain.ipc, plain.pid], ['pod', 'pod', 'pod']);
  const namespaceOptions = { network: NamespaceMode.NODE, ipc: NamespaceMode.NODE, pid: NamespaceMode.CONTAINER };
  const host = translate({ linux: { securityContext: { namespaceOptions } } });
  assert.deepEqual([host.network, host.ipc, host.pid], ['node', 'node', 'container']);
});

test('only ports with a host port are mapped', () => {
  const { portMappings } = translate({
    portMappings: [
      { containerPort: 80 },
      { containerPort: 53, hostPort: 5353, protocol: Protocol.UDP, hostIp: '127.0.0.1' },
    ],
  });
  assert.deepEqual(portMappings, [{ protocol: 'udp', containerPort: 53, hostPort: 5353, hostIp: '127.0.0.1' }]);
});

test('the pod’s overall resources are translated', () => {
  assert.equal(translate({}).resources, undefined);
  const { resources } = translate({
    linux: { overhead: { cpuShares: 20n }, resources: { memoryLimitInBytes: 4096n } },
  });
  assert.deepEqual([resources?.overhead.cpuShares, resources?.containers.memoryLimitBytes], [20, 4096]);
});

test('invalid values are refused', () => {
  const refuse = (more: Init, message: RegExp) =>
    assert.throws(() => translate(more), { code: 'invalid_argument', message });
  assert.throws(() => sandboxConfig(undefined, ''), { code: 'invalid_argument' });
  refuse({ metadata: undefined }, /no metadata/);
  refuse({ metadata: { ...metadata, name: '' } }, /no name/);
  refuse({ hostname: 'x'.repeat(65) }, /host name/);
  refuse({ hostname: 'a b' }, /host name/);
  refuse({ logDirectory: 'logs' }, /log directory/);
  refuse({ logDirectory: '/var/log/../../etc' }, /log directory/);
  refuse({ dnsConfig: { servers: ['1.1.1.1\nnameserver 6.6.6.6'] } }, /white space/);
  refuse({ portMappings: [{ containerPort: 70000, hostPort: 1 }] }, /port 70000/);
  refuse({ logDirectory: '/a\0' }, /logDirectory/);
  refuse({ dnsConfig: { searches: ['a b'] } }, /white space/);
  refuse({ dnsConfig: { options: ['ndots:5\nserver'] } }, /white space/);
  for (const port of [-1, 0, 65_536])
    refuse({ portMappings: [{ containerPort: port, hostPort: 80 }] }, new RegExp(`port ${port}`));
  refuse({ portMappings: [{ containerPort: 1, hostPort: 65_536 }] }, /port 65536/);
  refuse({ portMappings: [{ containerPort: 1, hostPort: 1, hostIp: 'localhost' }] }, /hostIp "localhost"/);
  refuse({ portMappings: [{ containerPort: 1, hostPort: 1, protocol: 9 as never }] }, /protocol 9/);
  refuse({ linux: { cgroupParent: '/pods/../../other' } }, /cgroupParent "\/pods\/\.\.\/\.\.\/other"/);
  refuse({ linux: { cgroupParent: '/\0' } }, /cgroupParent/);
  refuse({ linux: { cgroupParent: '/a--b.slice' } }, /"a--b\.slice": systemd has no such names/);
  for (const field of ['network', 'ipc', 'pid'])
    refuse(
      { linux: { securityContext: { namespaceOptions: { [field]: 9 } } } },
      new RegExp(`namespaceOptions\\.${field} 9`),
    );
  refuse({ linux: { securityContext: { selinuxOptions: { user: 'a:b' } } } }, /selinuxOptions\.user/);
});

test('values that upstream accepts are accepted', () => {
  const accept = (more: Init) => assert.doesNotThrow(() => translate(more));
  // as in containerd, a pod name may contain any characters and have any length
  for (const name of ['../x', 'a/b', 'x'.repeat(300)])
    accept({ metadata: { ...metadata, name, namespace: '', uid: '' } });
  accept({ portMappings: [{ containerPort: 80, hostPort: -1 }] });
  accept({ hostname: 'x'.repeat(64), logDirectory: '', linux: { cgroupParent: 'system.slice' } });
  accept({ linux: { securityContext: { namespaceOptions: { network: NamespaceMode.CONTAINER } } } });
});
