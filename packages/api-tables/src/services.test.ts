import { test } from 'node:test';
import { checkRow } from './row-checks.fixture.ts';

test('a service’s addresses depend on its type', () => {
  const check = (spec: object, ...[cluster, external]: [string, string]) =>
    checkRow('Service', { spec }, { 'Cluster-IP': cluster, 'External-IP': external });
  const externalIPs = ['9.9.9.9', '8.8.8.8'];
  const clusterIPs = ['1.3.4.5'];
  check({ type: 'ClusterIP', clusterIPs: ['10.9.8.7', '2001::1'] }, '10.9.8.7', '<none>');
  check({ type: 'ClusterIP', clusterIP: '10.9.8.7', externalIPs }, '10.9.8.7', '9.9.9.9,8.8.8.8');
  check({ type: 'ClusterIP', clusterIPs: ['None'] }, 'None', '<none>');
  check({ type: 'NodePort', clusterIPs }, '1.3.4.5', '<none>');
  check({ type: 'NodePort', clusterIPs, externalIPs }, '1.3.4.5', '9.9.9.9,8.8.8.8');
  check({ type: 'LoadBalancer', clusterIPs }, '1.3.4.5', '<pending>');
  check({ type: 'ExternalName', externalName: 'my.database.example.com' }, '<none>', 'my.database.example.com');
  check({ clusterIPs }, '1.3.4.5', '<unknown>');
});

test('a load balancer’s addresses are sorted, not truncated, and before the external addresses', () => {
  const check = (ingress: object[], externalIPs: string[] | undefined, expected: string) =>
    checkRow(
      'Service',
      { spec: { type: 'LoadBalancer', externalIPs }, status: { loadBalancer: { ingress } } },
      { 'External-IP': expected },
    );
  check([{ ip: '2.3.4.5' }], undefined, '2.3.4.5');
  check([{ ip: '2.3.4.5', hostname: 'ignored' }], ['3.4.5.6'], '2.3.4.5,3.4.5.6');
  const ingress = [{ ip: '5.6.7.8' }, { ip: '2.3.4.5' }, { hostname: 'host' }, { ip: '2.3.4.5' }];
  check(ingress, undefined, '2.3.4.5,5.6.7.8,host');
  check([], ['3.4.5.6', '1.1.1.1'], '3.4.5.6,1.1.1.1');
});

test('a service’s ports show protocols and node ports', () => {
  const check = (ports: object[] | undefined, expected: string) =>
    checkRow('Service', { spec: { type: 'ClusterIP', ports } }, { 'Port(s)': expected });
  check(undefined, '<none>');
  check([{ port: 2233, protocol: 'tcp' }], '2233/tcp');
  check(
    [
      { port: 80, protocol: 'TCP' },
      { port: 53, protocol: 'UDP' },
    ],
    '80/TCP,53/UDP',
  );
  check([{ port: 80, nodePort: 9999, protocol: 'TCP' }], '80:9999/TCP');
  checkRow(
    'Service',
    { spec: { selector: { role: 'client', app: 'x' } } },
    { Type: '', Selector: 'app=x,role=client' },
  );
  checkRow('Service', { spec: { type: 'NodePort' } }, { Type: 'NodePort', Selector: '<none>' });
});

test('endpoints show at most three addresses with their ports', () => {
  const check = (subsets: object[] | undefined, expected: string) =>
    checkRow('Endpoints', { subsets }, { Endpoints: expected });
  const of = (...ips: string[]) => ips.map((ip) => ({ ip }));
  const [http, https] = [{ port: 8001 }, { port: 8443, name: 'https' }];
  check(undefined, '<none>');
  check([{ addresses: of('1.2.3.4', '5.6.7.8') }], '1.2.3.4,5.6.7.8');
  check([{ addresses: of('1.2.3.4', '5.6.7.8'), ports: [http] }], '1.2.3.4:8001,5.6.7.8:8001');
  check([{ addresses: of('2001:db8::1'), ports: [http] }], '[2001:db8::1]:8001');
  check([{ addresses: of('a', 'b'), ports: [http, https] }], 'a:8001,b:8001,a:8443 + 1 more...');
  check([{ addresses: of('a', 'b', 'c', 'd') }, { addresses: of('e'), ports: [http] }], 'a,b,c + 2 more...');
  check([{ notReadyAddresses: of('a'), ports: [http] }], '');
});

test('endpoint slices show at most three ports and addresses', () => {
  const check = (ports: object[], addresses: string[][], ...[Ports, Endpoints]: [string, string]) =>
    checkRow(
      'EndpointSlice.discovery.k8s.io',
      { addressType: 'IPv4', ports, endpoints: addresses.map((list) => ({ addresses: list })) },
      { AddressType: 'IPv4', Ports, Endpoints },
    );
  check([], [], '<unset>', '<unset>');
  check([{ port: 80, name: 'http' }], [['10.1.2.3', '2001:db8::1234']], '80', '10.1.2.3,2001:db8::1234');
  check([{ name: 'http' }, {}], [['a'], ['b'], ['c']], 'http,*', 'a,b,c');
  const ports = [1, 2, 3, 4, 5].map((port) => ({ port }));
  check(
    ports,
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
    '1,2,3 + 2 more...',
    'a,b,c + 1 more...',
  );
});

test('an ingress shows at most three hosts, and port 443 if it has TLS', () => {
  const check = (hosts: (string | undefined)[], expected: string) =>
    checkRow('Ingress.networking.k8s.io', { spec: { rules: hosts.map((host) => ({ host })) } }, { Hosts: expected });
  check([], '*');
  check([undefined, ''], '*');
  check(['a', undefined, 'b'], 'a,b');
  check(['a', 'b', 'c'], 'a,b,c');
  check(['a', 'b', 'c', undefined], 'a,b,c + 1 more...');
  check([undefined, 'a', 'b', 'c'], 'a,b,c');
  check(['a', 'a', 'a', 'b', 'c'], 'a,a,a + 2 more...');
  checkRow('Ingress.networking.k8s.io', { spec: {} }, { Class: '<none>', Address: '', Ports: '80' });
  checkRow(
    'Ingress.networking.k8s.io',
    {
      spec: { ingressClassName: 'external', tls: [{}] },
      status: { loadBalancer: { ingress: [{ ip: '2.3.4.5' }, { hostname: 'localhost' }] } },
    },
    { Class: 'external', Address: '2.3.4.5,localhost', Ports: '80, 443' },
  );
});

test('ingress classes, policies, ranges and addresses show references to other objects', () => {
  const check = (annotations: object, parameters: object | undefined, ...[Name, Parameters]: [string, string]) =>
    checkRow(
      'IngressClass.networking.k8s.io',
      { metadata: { name: 'c', annotations }, spec: { controller: 'example.com/c', parameters } },
      { Name, Controller: 'example.com/c', Parameters },
    );
  check({}, undefined, 'c', '<none>');
  check({}, { kind: 'K', name: 'n' }, 'c', 'K/n');
  check(
    { 'ingressclass.kubernetes.io/is-default-class': 'true' },
    { apiGroup: 'g', kind: 'K', name: 'n' },
    'c (default)',
    'K.g/n',
  );
  const podSelector = { matchLabels: { b: '1' }, matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] };
  checkRow('NetworkPolicy.networking.k8s.io', { spec: { podSelector } }, { 'Pod-Selector': '!a,b=1' });
  checkRow('NetworkPolicy.networking.k8s.io', { spec: { podSelector: {} } }, { 'Pod-Selector': '<none>' });
  checkRow(
    'ServiceCIDR.networking.k8s.io',
    { spec: { cidrs: ['10.1.0.0/16', 'fd00::/64'] } },
    { CIDRs: '10.1.0.0/16,fd00::/64' },
  );
  const checkParent = (parentRef: object | undefined, ParentRef: string) =>
    checkRow('IPAddress.networking.k8s.io', { spec: { parentRef } }, { ParentRef });
  checkParent({ group: 'mygroup', resource: 'myresource', namespace: 'ns', name: 'n' }, 'myresource.mygroup/ns/n');
  checkParent({ resource: 'Services', name: 'N' }, 'services/N');
  checkParent(undefined, '<none>');
});
