import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeAddress } from '@podwright/kube-api';
import { nodeHostIps, servingNames } from './host-ips.ts';
import { type AddressSources, nodeAddresses, providedAddresses } from './node-addresses.ts';

const OWN = ['127.0.0.1', '::1', '10.0.0.7', '192.168.1.7', 'fd00::7', '169.254.1.1'];
const sources = (ofName: string[] = []): AddressSources => ({
  ofInterfaces: () => OWN,
  ofName: async () => ofName,
  outward: async (any) => (any === '::' ? ['fd00::7', '10.0.0.7'] : ['10.0.0.7', 'fd00::7']),
});

type Given = { nodeIp?: string; name?: string; cloud?: boolean; ofName?: string[] };

/**
 * Checks that `nodeAddresses` returns the `expected` addresses (such as `InternalIP=10.0.0.7`, separated by spaces) or rejects with the
 * `expected` message.
 */
async function check({ nodeIp = '', name = 'n1', cloud = false, ofName }: Given, expected: string): Promise<void> {
  const found = nodeAddresses({ name, nodeIp, externalCloudProvider: cloud }, sources(ofName));
  const shown = await found.then(
    (all) => all.map(({ type, address }) => `${type}=${address}`).join(' '),
    (error: Error) => error.message,
  );
  assert.equal(shown, expected);
}

const NAMED = 'Hostname=n1';

test('without --node-ip the address comes from name resolution of the host name, IPv4 first, else from the default route', async () => {
  await check({}, `InternalIP=10.0.0.7 ${NAMED}`);
  await check({ ofName: ['127.0.1.1', '8.8.8.8'] }, `InternalIP=10.0.0.7 ${NAMED}`);
  await check({ ofName: ['fd00::7', '192.168.1.7'] }, `InternalIP=192.168.1.7 ${NAMED}`);
  await check({ ofName: ['fd00::7'] }, `InternalIP=fd00::7 ${NAMED}`);
  await check({ name: '192.168.1.7' }, 'InternalIP=192.168.1.7 Hostname=192.168.1.7');
});

test('a wildcard --node-ip puts its family first', async () => {
  await check({ nodeIp: '::' }, `InternalIP=fd00::7 ${NAMED}`);
  await check({ nodeIp: '0.0.0.0' }, `InternalIP=10.0.0.7 ${NAMED}`);
  await check({ nodeIp: '::', ofName: ['192.168.1.7', 'fd00::7'] }, `InternalIP=fd00::7 ${NAMED}`);
});

test('--node-ip must be a reachable address of the host', async () => {
  await check({ nodeIp: '192.168.1.7' }, `InternalIP=192.168.1.7 ${NAMED}`);
  await check({ nodeIp: 'FD00:0:0::7' }, `InternalIP=fd00::7 ${NAMED}`);
  await check({ nodeIp: '10.0.0.7, fd00::7' }, `InternalIP=10.0.0.7 InternalIP=fd00::7 ${NAMED}`);
  const wrong = (why: string) => `failed to validate nodeIP: ${why}`;
  await check({ nodeIp: '10.0.0.8' }, wrong('node IP: "10.0.0.8" not found in the host\'s network interfaces'));
  await check({ nodeIp: '10.0.0.7,fd00::8' }, wrong('node IP: "fd00::8" not found in the host\'s network interfaces'));
  await check({ nodeIp: '127.0.0.1' }, wrong("nodeIP can't be loopback address"));
  await check({ nodeIp: '224.0.0.1' }, wrong("nodeIP can't be a multicast address"));
  await check({ nodeIp: '169.254.1.1' }, wrong("nodeIP can't be a link-local unicast address"));
  await check({ nodeIp: 'ten' }, wrong('nodeIP must be a valid IP address'));
});

test('an external cloud provider sets the address, unless --node-ip is given', async () => {
  await check({ cloud: true }, NAMED);
  await check({ cloud: true, nodeIp: '0.0.0.0' }, `InternalIP=10.0.0.7 ${NAMED}`);
  await check({ cloud: true, nodeIp: '10.0.0.7' }, `InternalIP=10.0.0.7 ${NAMED}`);
  const provided = (nodeIp: string, externalCloudProvider = true) =>
    providedAddresses({ name: 'n1', nodeIp, externalCloudProvider });
  assert.equal(provided('10.0.0.7,FD00:0::7'), '10.0.0.7,fd00::7');
  assert.deepEqual([provided(''), provided('::'), provided('10.0.0.7', false)], [undefined, undefined, undefined]);
});

/** Checks the host IPs of pods for node addresses such as `InternalIP=10.0.0.7`. */
function checkHostIps(addresses: string, expected: string[] | undefined): void {
  const listed = addresses.split(' ').map((one) => one.split('=') as [NodeAddress['type'], string]);
  const status = { addresses: listed.map(([type, address]) => ({ type, address })) };
  assert.deepEqual(nodeHostIps({ metadata: {}, status }), expected, addresses);
}

test('hostIPs of pods are the internal address of the node and the first address of the other family', () => {
  checkHostIps('Hostname=10.0.0.9 InternalIP=10.0.0.7', ['10.0.0.7']);
  checkHostIps('ExternalIP=fd00::1 InternalIP=10.0.0.7 InternalIP=10.0.0.8', ['10.0.0.7', 'fd00::1']);
  checkHostIps('InternalIP=fd00::7 InternalIP=10.0.0.7', ['fd00::7', '10.0.0.7']);
  checkHostIps('ExternalIP=1.2.3.4', ['1.2.3.4']);
  checkHostIps('Hostname=n1 InternalIP=none', undefined);
  assert.equal(nodeHostIps(undefined), undefined);
  for (const addresses of ['InternalIP', 7, [null], [{ type: 'InternalIP', address: {} }]] as never[])
    assert.equal(nodeHostIps({ metadata: {}, status: { addresses } }), undefined);
});

test('the serving certificate has the same names as the Node object', () => {
  const check = (addresses: string[], expected: string[]) => {
    const listed = addresses.map((text) => {
      const [type = '', address = ''] = text.split(' ');
      return { type, address } as NodeAddress;
    });
    assert.deepEqual(servingNames({ metadata: {}, status: { addresses: listed } }), expected, addresses.join());
  };
  check(['InternalIP 192.0.2.1', 'Hostname a'], ['192.0.2.1', 'a']);
  check(['Hostname 192.0.2.1', 'ExternalIP fd00::1', 'InternalIP 192.0.2.1'], ['192.0.2.1', 'fd00::1']);
  check(['InternalDNS a.b', 'ExternalDNS c', 'InternalDNS 192.0.2.1'], ['a.b', 'c']);
  check(['InternalIP not-an-ip', 'Hostname ', 'Other x'], []);
  assert.deepEqual(servingNames(undefined), []);
});
