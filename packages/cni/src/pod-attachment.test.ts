import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PodToAttach, podAddresses, podAttachment } from './pod-attachment.ts';
import { decodeResult } from './result.ts';

const pod: PodToAttach = {
  sandboxId: 'abc',
  podName: 'web',
  podNamespace: 'default',
  podUid: 'u-1',
  netnsPath: '/run/netns/abc',
  portMappings: [],
};

test('plugins receive the pod in the conventional CNI_ARGS', () => {
  assert.deepEqual(
    podAttachment(pod).args.map((pair) => pair.join('=')),
    [
      'IgnoreUnknown=1',
      'K8S_POD_NAMESPACE=default',
      'K8S_POD_NAME=web',
      'K8S_POD_INFRA_CONTAINER_ID=abc',
      'K8S_POD_UID=u-1',
    ],
  );
  assert.deepEqual(podAttachment(pod).capabilityArgs, {});
});

test('host ports, bandwidth limits, subnets, DNS and the cgroup are passed as capabilities', () => {
  const { capabilityArgs } = podAttachment({
    ...pod,
    cgroupParent: '/pods/web',
    podCidrs: ['10.1.0.0/24', 'fd00::/64'],
    dns: { servers: ['10.0.0.10'], searches: [], options: ['ndots:5'] },
    bandwidth: { egressRate: 1000 },
    portMappings: [
      { protocol: 'udp', containerPort: 53, hostPort: 5353, hostIp: '127.0.0.1' },
      { protocol: 'tcp', containerPort: 80, hostPort: 8080, hostIp: '' },
      { protocol: 'tcp', containerPort: 81, hostPort: 0, hostIp: '' },
    ],
  });
  assert.deepEqual(capabilityArgs, {
    cgroupPath: '/pods/web',
    ipRanges: [[{ subnet: '10.1.0.0/24' }], [{ subnet: 'fd00::/64' }]],
    dns: { servers: ['10.0.0.10'], searches: [], options: ['ndots:5'] },
    bandwidth: { egressRate: 1000, egressBurst: 2147483647 },
    portMappings: [
      { protocol: 'udp', containerPort: 53, hostPort: 5353, hostIP: '127.0.0.1' },
      { protocol: 'tcp', containerPort: 80, hostPort: 8080 },
    ],
  });
});

test('the pod’s addresses are those of interfaces in the sandbox, in plugin order', () => {
  const answer = {
    interfaces: [{ name: 'br0' }, { name: 'eth0', sandbox: '/run/netns/abc' }],
    ips: [
      { address: '10.0.0.1/24', interface: 0 },
      { address: 'fd00::2/64', interface: 1 },
      { address: '10.0.0.2/24', interface: 1 },
      { address: '10.9.0.2/24' },
    ],
    dns: { nameservers: ['10.0.0.1'] },
  };
  const result = decodeResult(JSON.stringify(answer), '1.0.0');
  assert.deepEqual(podAddresses(result), ['fd00::2', '10.0.0.2', '10.9.0.2']);
});
