import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodSpec } from '@podwright/kube-api';
import { parseResolvConf, searchProblem } from '../node/resolv-conf.ts';
import { podDnsConfig } from './dns-config.ts';

const host = { servers: ['192.0.2.53'], searches: ['example.org'], options: ['edns0'] };
const settings = { clusterDns: ['10.96.0.10'], clusterDomain: 'cluster.local', warnOfMissingClusterDns: true, host };

function dnsOf(spec: Partial<PodSpec>, given = settings) {
  const { servers, searches, options } = podDns(spec, given).config;
  return { servers, searches, options };
}

function podDns(spec: Partial<PodSpec>, given = settings) {
  const metadata = { name: 'web', namespace: 'shop', uid: 'u1' };
  const pod: Pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [], ...spec } };
  return podDnsConfig(pod, given);
}

const cluster = {
  servers: ['10.96.0.10'],
  searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'example.org'],
  options: ['ndots:5'],
};

test('resolv.conf is parsed including comments, and the last search line wins', () => {
  const text = '# by hand\nnameserver 192.0.2.53 # first\nsearch a b\nsearch c\noptions edns0 timeout:1\nsortlist x\n';
  assert.deepEqual(parseResolvConf(text), {
    servers: ['192.0.2.53'],
    searches: ['c'],
    options: ['edns0', 'timeout:1'],
  });
});

test('each DNS policy selects its servers', () => {
  assert.deepEqual(dnsOf({}), cluster);
  assert.deepEqual(dnsOf({ hostNetwork: true }), host);
  assert.deepEqual(dnsOf({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }), cluster);
  assert.deepEqual(dnsOf({ dnsPolicy: 'Default' }), host);
  assert.deepEqual(dnsOf({ dnsPolicy: 'None' }), { servers: [], searches: [], options: [] });
  assert.deepEqual(dnsOf({}, { ...settings, clusterDns: [] }), host);
});

test('the pod’s own settings are added, and its options override options with the same name', () => {
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

test('name servers and search domains are truncated to the resolver’s limits', () => {
  const nameservers = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'];
  const searches = Array.from({ length: 40 }, (_, index) => `s${index}.test`);
  const config = dnsOf({ dnsPolicy: 'None', dnsConfig: { nameservers, searches } });
  assert.equal(config.servers.length, 3);
  assert.equal(config.searches.length, 32);
});

test('omitted name servers and search domains are reported in a pod event', () => {
  const none = { ...settings, clusterDns: [] };
  const check = (spec: Partial<PodSpec>, given: typeof settings, expected: string[]) =>
    assert.deepEqual(
      podDns(spec, given).warnings.map(({ reason, message }) => `${reason}: ${message}`),
      expected,
    );
  const missing =
    'MissingClusterDNS: pod: "web_shop(u1)". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.';
  check({}, settings, []);
  check({}, none, [missing]);
  check({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }, none, [missing]);
  check({ hostNetwork: true }, none, []);
  check({ dnsPolicy: 'Default' }, none, []);
  check({}, { ...none, warnOfMissingClusterDns: false }, []);
  check({ dnsConfig: { nameservers: ['192.0.2.1', '192.0.2.2', '192.0.2.3'] } }, settings, [
    'DNSConfigForming: Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 10.96.0.10 192.0.2.1 192.0.2.2',
  ]);
  const long = 'x'.repeat(254);
  check({ dnsPolicy: 'None', dnsConfig: { searches: ['a.test', long, 'b.test'] } }, settings, [
    'DNSConfigForming: Search Line limits were exceeded, some search paths have been omitted, the applied search line is: a.test b.test',
  ]);
  const twelve = Array.from({ length: 12 }, (_, index) => `${'d'.repeat(198)}${String(index).padStart(2, '0')}`);
  assert.deepEqual(podDns({ dnsPolicy: 'None', dnsConfig: { searches: twelve } }).config.searches, twelve.slice(0, 10));
});

test('search domains of the host are reported if they leave no room for those of the cluster', () => {
  const check = (searches: string[], clusterDomain: string, expected: RegExp | undefined) => {
    const problem = searchProblem('/r', { servers: [], searches, options: [] }, clusterDomain);
    if (expected === undefined) assert.equal(problem, undefined);
    else assert.match(problem ?? '', expected);
  };
  const many = (count: number, length = 1) => Array.from({ length: count }, () => 's'.repeat(length));
  check(many(29), 'c', undefined);
  check(many(30), 'c', /^Resolv.conf file '\/r' contains search line consisting of more than 29 domains!$/);
  check(many(32), '', undefined);
  check(many(1, 254), '', /contains a search path which length is more than allowed 253 chars!$/);
  check(many(9, 250), '', /contains search line which length is more than allowed 2048 chars!$/);
});
