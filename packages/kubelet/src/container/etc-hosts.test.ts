import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '@podwright/kube-api';
import { etcHosts } from './etc-hosts.ts';

function content(spec: object): string[] {
  const pod = {
    metadata: { name: 'web', namespace: 'ns', uid: 'u' },
    spec: { containers: [], ...spec },
  } as unknown as Pod;
  const input = {
    pod,
    podIps: ['10.0.0.2', 'fd00::2'],
    clusterDomain: 'cluster.local',
    hostContent: '127.0.0.1 host\n',
  };
  return etcHosts(input).split('\n');
}

test('a pod resolves localhost, itself and its aliases', () => {
  const lines = content({ hostAliases: [{ ip: '1.2.3.4', hostnames: ['a', 'b'] }] });
  assert.equal(lines[1], '127.0.0.1\tlocalhost');
  assert.deepEqual(lines.slice(7), [
    '10.0.0.2\tweb',
    'fd00::2\tweb',
    '',
    '# Entries added by HostAliases.',
    '1.2.3.4\ta\tb',
    '',
  ]);
});

test('a pod with a subdomain also has a fully qualified name', () => {
  assert.equal(
    content({ subdomain: 'sub', hostname: 'h', setHostnameAsFQDN: true })[7],
    '10.0.0.2\th.sub.ns.svc.cluster.local\th',
  );
});

test('a host network pod has the host’s entries', () => {
  const lines = content({ hostNetwork: true, hostAliases: [{ ip: '1.2.3.4', hostnames: ['a'] }] });
  assert.deepEqual(lines.slice(1), ['127.0.0.1 host', '', '# Entries added by HostAliases.', '1.2.3.4\ta', '']);
});
