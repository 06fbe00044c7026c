import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '../api/types.ts';
import { parseResolvConf } from '../node/resolv-conf.ts';
import { podDnsConfig } from './dns-config.ts';

const host = { servers: ['192.0.2.53'], searches: ['example.org'], options: ['edns0'] };
const settings = { clusterDns: ['10.96.0.10'], clusterDomain: 'cluster.local', host };

function dnsOf(spec: Partial<PodSpec>, given = settings) {
  const metadata = { name: 'web', namespace: 'shop', uid: 'u1' };
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [], ...spec } };
  const { servers, searches, options } = podDnsConfig(pod, given);
  return { servers, searches, options };
}

const cluster = {
  servers: ['10.96.0.10'],
  searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'example.org'],
  options: ['ndots:5'],
};

test('resolv.conf is read with its comments, and the last search line wins', () => {
  const text = '# by hand\nnameserver 192.0.2.53 # first\nsearch a b\nsearch c\noptions edns0 timeout:1\nsortlist x\n';
  assert.deepEqual(parseResolvConf(text), {
    servers: ['192.0.2.53'],
    searches: ['c'],
    options: ['edns0', 'timeout:1'],
  });
});

test('each policy takes its servers from where it says', () => {
  assert.deepEqual(dnsOf({}), cluster);
  assert.deepEqual(dnsOf({ hostNetwork: true }), host);
  assert.deepEqual(dnsOf({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }), cluster);
  assert.deepEqual(dnsOf({ dnsPolicy: 'Default' }), host);
  assert.deepEqual(dnsOf({ dnsPolicy: 'None' }), { servers: [], searches: [], options: [] });
  assert.deepEqual(dnsOf({}, { ...settings, clusterDns: [] }), host);
});

test("the pod's own settings are added, and its options replace those of the same name", () => {
  const dnsConfig = {
    nameservers: ['198.51.100.1', '10.96.0.10'],
    searches: ['own.test'],
    options: [{ name: 'ndots', value: '2' }, { name: 'rotate' }],
  };
  assert.deepEqual(dnsOf({ dnsConfig }), {
    servers: ['10.96.0.10', '198.51.100.1'],
    searches: [...cluster.searches, 'own.test'],
    options: ['ndots:2', 'rotate'],
  });
});

test('no more than a resolver can take is passed on', () => {
  const nameservers = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'];
  const searches = Array.from({ length: 40 }, (_, index) => `s${index}.test`);
  const config = dnsOf({ dnsPolicy: 'None', dnsConfig: { nameservers, searches } });
  assert.equal(config.servers.length, 3);
  assert.equal(config.searches.length, 32);
});
