import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reverseKey } from '../wire/addresses.ts';
import { CLASS_IN, RCODE, TYPE } from '../wire/numbers.ts';
import type { ResourceRecord } from '../wire/record.ts';
import { type Answer, answer } from './answer.ts';
import { service, slice, testCluster } from './test-cluster.fixture.ts';

type TypeName = keyof typeof TYPE;

const cluster = testCluster();

const ask = (name: string, type: TypeName, turn = 0): Answer | undefined =>
  answer({ name, type: TYPE[type], class: CLASS_IN }, cluster, { turn });

const dataOf = (record: ResourceRecord): string => {
  switch (record.type) {
    case 'A':
    case 'AAAA':
      return record.address;
    case 'TXT':
      return record.text;
    case 'SRV':
      return `${record.priority} ${record.weight} ${record.port} ${record.target}`;
    case 'SOA':
      return `${record.primary} ${record.mailbox} ${record.minimum}`;
    default:
      return record.target;
  }
};

const shown = (records: ResourceRecord[]) => records.map((record) => `${record.name} ${record.type} ${dataOf(record)}`);

/** Asserts the records of an answer. Each is given as `TYPE DATA` if it has the queried name, otherwise as `NAME TYPE DATA`. */
function check(name: string, type: TypeName, ...expected: string[]): void {
  const found = ask(name, type);
  assert.equal(found?.rcode, RCODE.NOERROR, name);
  assert.deepEqual(
    shown(found.answers).map((text) => (text.startsWith(`${name} `) ? text.slice(name.length + 1) : text)),
    expected,
  );
}

/** Asserts that an answer is negative and includes the SOA record. */
function checkNegative(name: string, type: TypeName, rcode: 'NXDOMAIN' | 'NOERROR'): void {
  const found = ask(name, type);
  assert.equal(found?.rcode, RCODE[rcode], `${name} ${type}`);
  assert.deepEqual(found.answers, [], `${name} ${type}`);
  assert.deepEqual(shown(found.authorities), ['cluster.local SOA ns.dns.cluster.local hostmaster.cluster.local 30']);
  assert.equal(found.authorities[0]!.ttl, 30);
}

test('a service with cluster IPs has addresses of both families, and its ports have SRV records', () => {
  check('kubernetes.default.svc.cluster.local', 'A', 'A 10.96.0.1');
  check('web.shop.svc.cluster.local', 'A', 'A 10.96.0.7');
  check('web.shop.svc.cluster.local', 'AAAA', 'AAAA fd00::7');
  check('_http._tcp.web.shop.svc.cluster.local', 'SRV', 'SRV 0 100 80 web.shop.svc.cluster.local');
  check(
    'web.shop.svc.cluster.local',
    'SRV',
    'SRV 0 50 80 web.shop.svc.cluster.local',
    'SRV 0 50 9 web.shop.svc.cluster.local',
  );
  assert.deepEqual(shown(ask('_http._tcp.web.shop.svc.cluster.local', 'SRV')!.additionals), [
    'web.shop.svc.cluster.local A 10.96.0.7',
    'web.shop.svc.cluster.local AAAA fd00::7',
  ]);
});

test('a headless service has the addresses of its ready endpoints, and each endpoint has a name', () => {
  check('db.shop.svc.cluster.local', 'A', 'A 10.88.0.5', 'A 10.88.0.6');
  check('db.shop.svc.cluster.local', 'AAAA', 'AAAA fd00:88::');
  check('db-0.db.shop.svc.cluster.local', 'A', 'A 10.88.0.5');
  check('fd00-88--0.db.shop.svc.cluster.local', 'AAAA', 'AAAA fd00:88::');
  check('10-88-0-20.web.shop.svc.cluster.local', 'A', 'A 10.88.0.20');
  check(
    '_sql._tcp.db.shop.svc.cluster.local',
    'SRV',
    'SRV 0 33 5432 db-0.db.shop.svc.cluster.local',
    'SRV 0 33 5432 db-1.db.shop.svc.cluster.local',
    'SRV 0 33 5432 fd00-88--0.db.shop.svc.cluster.local',
  );
  assert.deepEqual(shown(ask('db.shop.svc.cluster.local', 'SRV')!.additionals), [
    'db-0.db.shop.svc.cluster.local A 10.88.0.5',
    'db-1.db.shop.svc.cluster.local A 10.88.0.6',
    'fd00-88--0.db.shop.svc.cluster.local AAAA fd00:88::',
  ]);
});

test('an alias is followed within the cluster, and left to the resolvers outside it', () => {
  check('out.shop.svc.cluster.local', 'CNAME', 'CNAME www.example.org');
  check('out.shop.svc.cluster.local', 'A', 'CNAME www.example.org');
  assert.equal(ask('out.shop.svc.cluster.local', 'A')!.alias, 'www.example.org');
  check(
    'near.shop.svc.cluster.local',
    'A',
    'CNAME web.shop.svc.cluster.local',
    'web.shop.svc.cluster.local A 10.96.0.7',
  );
  const far = ask('far.shop.svc.cluster.local', 'A')!;
  assert.equal(far.rcode, RCODE.NXDOMAIN);
  assert.deepEqual(shown(far.answers), ['far.shop.svc.cluster.local CNAME gone.shop.svc.cluster.local']);
  assert.equal(ask('ring.shop.svc.cluster.local', 'A')!.rcode, RCODE.SERVFAIL);
});

test('reverse names are those of cluster IPs and endpoints, and others are outside the cluster', () => {
  check('1.0.96.10.in-addr.arpa', 'PTR', 'PTR kubernetes.default.svc.cluster.local');
  check('5.0.88.10.in-addr.arpa', 'PTR', 'PTR db-0.db.shop.svc.cluster.local');
  check(
    '7.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.d.f.ip6.arpa',
    'PTR',
    'PTR web.shop.svc.cluster.local',
  );
  for (const name of ['9.0.88.10.in-addr.arpa', '0.88.10.in-addr.arpa', 'x.in-addr.arpa', '1.ip6.arpa'])
    assert.equal(ask(name, 'PTR'), undefined);
  assert.equal(ask('1.0.96.10.in-addr.arpa', 'A'), undefined);
});

test('pod names map to their addresses, whether or not a pod has the address', () => {
  check('10-1-2-3.shop.pod.cluster.local', 'A', 'A 10.1.2.3');
  check('fd00--1.shop.pod.cluster.local', 'AAAA', 'AAAA fd00::1');
  checkNegative('10-1-2-3.shop.pod.cluster.local', 'AAAA', 'NOERROR');
  checkNegative('10-1-2-3.absent.pod.cluster.local', 'A', 'NXDOMAIN');
  checkNegative('10-1-2-300.shop.pod.cluster.local', 'A', 'NXDOMAIN');
  checkNegative('web.shop.pod.cluster.local', 'A', 'NXDOMAIN');
});

test('the domain has an SOA, a name server and a version', () => {
  check('cluster.local', 'SOA', 'SOA ns.dns.cluster.local hostmaster.cluster.local 30');
  check('cluster.local', 'NS', 'NS ns.dns.cluster.local');
  check('ns.dns.cluster.local', 'A', 'A 10.96.0.10');
  check('dns-version.cluster.local', 'TXT', 'TXT 1.1.0');
  checkNegative('dns-version.cluster.local', 'A', 'NOERROR');
});

test('names lacking the requested type, or having only names under them, exist; others do not', () => {
  for (const name of [
    'cluster.local',
    'svc.cluster.local',
    'pod.cluster.local',
    'empty.svc.cluster.local',
    'dns.cluster.local',
  ])
    checkNegative(name, 'A', 'NOERROR');
  checkNegative('kubernetes.default.svc.cluster.local', 'AAAA', 'NOERROR');
  checkNegative('_tcp.web.shop.svc.cluster.local', 'SRV', 'NOERROR');
  checkNegative('_http._tcp.web.shop.svc.cluster.local', 'A', 'NOERROR');
  checkNegative('web.shop.svc.cluster.local', 'TXT', 'NOERROR');
  checkNegative('literal.shop.svc.cluster.local', 'A', 'NOERROR');
  for (const name of [
    'none.shop.svc.cluster.local',
    'db-2.db.shop.svc.cluster.local',
    'absent.shop.svc.cluster.local',
    'web.absent.svc.cluster.local',
    'absent.svc.cluster.local',
    'a.out.shop.svc.cluster.local',
    '_udp.web.shop.svc.cluster.local',
    '_http._udp.web.shop.svc.cluster.local',
    'http._tcp.web.shop.svc.cluster.local',
    'a._http._tcp.web.shop.svc.cluster.local',
    'example.org.cluster.local',
    'www.dns.cluster.local',
  ])
    checkNegative(name, 'A', 'NXDOMAIN');
});

test('names are case-insensitive, and the answer preserves the case', () => {
  check('KuberneteS.default.SVC.Cluster.Local', 'A', 'A 10.96.0.1');
  assert.equal(ask('xcluster.local', 'A'), undefined);
  assert.equal(ask('example.org', 'A'), undefined);
});

test('zone transfers are refused', () => {
  assert.equal(ask('cluster.local', 'AXFR')!.rcode, RCODE.REFUSED);
});

test('the turn selects the first address', () => {
  const first = (turn: number) => dataOf(ask('db.shop.svc.cluster.local', 'A', turn)!.answers[0]!);
  assert.deepEqual([0, 1, 2, 3].map(first), ['10.88.0.5', '10.88.0.6', '10.88.0.5', '10.88.0.6']);
});

test('a name not found before all objects are loaded is not denied', () => {
  const starting = testCluster();
  starting.isComplete = false;
  const rcode = (name: string) => answer({ name, type: TYPE.A, class: CLASS_IN }, starting)!.rcode;
  assert.equal(rcode('absent.shop.svc.cluster.local'), RCODE.SERVFAIL);
  assert.equal(rcode('web.shop.svc.cluster.local'), RCODE.NOERROR);
});

test('object changes update the answers and the serial number', () => {
  const changing = testCluster();
  const addresses = (name: string) =>
    answer({ name, type: TYPE.A, class: CLASS_IN }, changing)!.answers.map(dataOf).join(' ');
  const reverse = (name: string) => answer({ name, type: TYPE.PTR, class: CLASS_IN }, changing)?.answers.map(dataOf);
  const serial = changing.serial;
  changing.setService(service('shop/web', { clusterIP: '10.96.0.8' }));
  assert.equal(addresses('web.shop.svc.cluster.local'), '10.96.0.8');
  assert.deepEqual(reverse('8.0.96.10.in-addr.arpa'), ['web.shop.svc.cluster.local']);
  assert.equal(reverse('7.0.96.10.in-addr.arpa'), undefined);
  changing.setSlice(slice('shop/db-1', 'db', { ports: [], endpoints: [{ addresses: ['10.88.0.6'] }] }));
  assert.equal(addresses('db.shop.svc.cluster.local'), '10.88.0.6');
  assert.equal(reverse('5.0.88.10.in-addr.arpa'), undefined);
  changing.setSlice(slice('shop/db-1', 'none', { ports: [], endpoints: [{ addresses: ['10.88.0.6'] }] }));
  assert.equal(addresses('none.shop.svc.cluster.local'), '10.88.0.6');
  assert.deepEqual(reverse('6.0.88.10.in-addr.arpa'), ['10-88-0-6.none.shop.svc.cluster.local']);
  changing.deleteSlice(slice('shop/db-1', 'none', {}));
  assert.equal(addresses('none.shop.svc.cluster.local'), '');
  changing.deleteService(service('shop/web', {}));
  changing.deleteNamespace({ metadata: { name: 'shop' } });
  assert.equal(addresses('db.shop.svc.cluster.local'), '');
  assert.ok(changing.serial > serial);
});

/** A headless service with `ports` named ports. All endpoints have these ports and, if given, the same hostname. */
function largeCluster(ports: number, endpoints: number, hostname?: string) {
  const large = testCluster();
  const named = Array.from({ length: ports }, (_, index) => ({ name: `p${index}`, port: index + 1, protocol: 'TCP' }));
  large.setService(service('shop/large', { clusterIP: 'None', ports: named }));
  const addresses = Array.from({ length: endpoints }, (_, index) => `10.9.${index >> 8}.${index & 255}`);
  const records = addresses.map((address) => ({ addresses: [address], hostname }));
  large.setSlice(slice('shop/large-1', 'large', { ports: named, endpoints: records }));
  return large;
}

test('the cost of an answer does not grow with a service’s ports and endpoints', () => {
  const limit = 80;
  const questions = ['large', '_p1._tcp.large', '_x._tcp.large', '_tcp.large', '_x.large', 'same.large', 'x.large'];
  for (const hostname of [undefined, 'same']) {
    const large = largeCluster(2000, 1000, hostname);
    const ask = (name: string) =>
      answer({ name: `${name}.shop.svc.cluster.local`, type: TYPE.SRV, class: CLASS_IN }, large, { limit })!;
    for (const name of questions) ask(name);
    const startedMs = performance.now();
    for (let round = 0; round < 20; round++) for (const name of questions) ask(name);
    const eachMs = (performance.now() - startedMs) / 20 / questions.length;
    assert.ok(eachMs < 2, `${eachMs} ms for each answer`);
    assert.equal(ask('large').answers.length, limit);
    assert.equal(ask('_p1._tcp.large').answers.length, hostname === undefined ? limit : 1);
  }
});

test('the names of an address in many slices are limited', () => {
  const large = testCluster();
  for (let index = 0; index < 2000; index++)
    large.setSlice(slice(`shop/s-${index}`, `s-${index}`, { ports: [], endpoints: [{ addresses: ['10.9.9.9'] }] }));
  const found = answer({ name: '9.9.9.10.in-addr.arpa', type: TYPE.PTR, class: CLASS_IN }, large, { limit: 80 });
  assert.equal(found?.answers.length, 80);
  assert.equal(large.namesOf(reverseKey('9.9.9.10.in-addr.arpa')!).length, 256);
});
