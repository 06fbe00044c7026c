import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary } from '@bufbuild/protobuf';
import { NamespaceMode, PodSandboxConfigSchema, Protocol } from '@podwright/cri';
import type { SandboxRecord } from '../../records/sandbox-record.ts';
import { sandboxConfig } from './sandbox-config.ts';
import { describeSandbox } from './sandbox-description.ts';

test("a shim gets the client's request as a CRI message", () => {
  const request = create(PodSandboxConfigSchema, {
    metadata: { name: 'web', uid: 'u', namespace: 'd', attempt: 3 },
    hostname: 'web',
    logDirectory: '/var/log/pods/x',
    dnsConfig: { servers: ['10.0.0.10'], searches: ['a.test'], options: ['ndots:5'] },
    portMappings: [{ protocol: Protocol.UDP, containerPort: 53, hostPort: 5353, hostIp: '127.0.0.1' }],
    labels: { a: 'b' },
    annotations: { c: 'd' },
    linux: {
      cgroupParent: '/pods/x',
      sysctls: { 'net.core.somaxconn': '7' },
      securityContext: {
        namespaceOptions: {
          network: NamespaceMode.POD,
          ipc: NamespaceMode.POD,
          pid: NamespaceMode.CONTAINER,
          usernsOptions: {
            mode: NamespaceMode.POD,
            uids: [{ containerId: 0, hostId: 1000, length: 10 }],
            gids: [{ containerId: 0, hostId: 2000, length: 10 }],
          },
        },
      },
    },
  });
  const { typeUrl, value } = describeSandbox({ config: sandboxConfig(request, 'vm') } as SandboxRecord);
  assert.equal(typeUrl, 'runtime.v1.PodSandboxConfig');
  assert.deepEqual(fromBinary(PodSandboxConfigSchema, value), request);
});
