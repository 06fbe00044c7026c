import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceObject } from './objects.ts';
import { isExternal, policiesOf, servicePortsOf } from './service-port.ts';

const service = (spec: ServiceObject['spec'], status?: ServiceObject['status']): ServiceObject => ({
  metadata: { namespace: 'default', name: 'web' },
  spec: { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1'], ports: [{ port: 80 }], ...spec },
  status,
});
const names = (object: ServiceObject) =>
  servicePortsOf(object).map(({ name, version, clusterIp }) => [name, version, clusterIp]);

test('a service has its ports in each IP family of its cluster IPs', () => {
  assert.deepEqual(names(service({})), [['default/web:80', 4, '10.96.0.1']]);
  const ports = [
    { name: 'http', port: 80 },
    { name: 'dns', port: 53, protocol: 'UDP' },
  ];
  const dual = servicePortsOf(service({ clusterIPs: ['fd00::1', '10.96.0.1'], ports }));
  assert.deepEqual(
    dual.map(({ name, version, protocol }) => `${name} ${version} ${protocol}`),
    ['default/web:http 4 TCP', 'default/web:dns 4 UDP', 'default/web:http 6 TCP', 'default/web:dns 6 UDP'],
  );
  assert.deepEqual(names(service({ clusterIPs: undefined })), [['default/web:80', 4, '10.96.0.1']]);
});

test('headless and ExternalName services, and unknown protocols, have no ports', () => {
  assert.deepEqual(names(service({ clusterIP: 'None', clusterIPs: ['None'] })), []);
  assert.deepEqual(names(service({ clusterIP: '' })), []);
  assert.deepEqual(names(service({ type: 'ExternalName' })), []);
  assert.deepEqual(names(service({ ports: [{ port: 1, protocol: 'DCCP' }] })), []);
  assert.deepEqual(names({ metadata: { name: 'x' } }), []);
});

test('addresses and ranges match the IP family, and a range of all addresses counts as none', () => {
  const ports = (loadBalancerSourceRanges: string[]) =>
    servicePortsOf(
      service(
        { externalIPs: ['192.0.2.1', 'fd00::2'], loadBalancerSourceRanges },
        {
          loadBalancer: { ingress: [{ ip: '192.0.2.2' }, { ip: '192.0.2.3', ipMode: 'Proxy' }, {}, { ip: 'fd00::3' }] },
        },
      ),
    )[0]!;
  const { externalIps, loadBalancerIps, sourceRanges } = ports([' 10.0.0.0/8 ', 'fd00::/8']);
  assert.deepEqual([externalIps, loadBalancerIps, sourceRanges], [['192.0.2.1'], ['192.0.2.2'], ['10.0.0.0/8']]);
  assert.deepEqual(ports(['10.0.0.0/8', '0.0.0.0/0']).sourceRanges, []);
});

test('session affinity has a timeout, three hours by default', () => {
  const affinity = (spec: ServiceObject['spec']) => servicePortsOf(service(spec))[0]!.affinityMs;
  assert.equal(affinity({ sessionAffinity: 'None' }), undefined);
  assert.equal(affinity({ sessionAffinity: 'ClientIP' }), 10_800_000);
  const sessionAffinityConfig = { clientIP: { timeoutSeconds: 5 } };
  assert.equal(affinity({ sessionAffinity: 'ClientIP', sessionAffinityConfig }), 5000);
});

test('the endpoints for a policy are used only if an address has that policy', () => {
  const check = (spec: ServiceObject['spec'], expected: [external: boolean, cluster: boolean, local: boolean]) => {
    const port = servicePortsOf(service(spec))[0]!;
    const { cluster, local } = policiesOf(port);
    assert.deepEqual([isExternal(port), cluster, local], expected);
  };
  const nodePort = { ports: [{ port: 80, nodePort: 30000 }] };
  check({}, [false, true, false]);
  check({ internalTrafficPolicy: 'Local' }, [false, false, true]);
  check({ externalTrafficPolicy: 'Local' }, [false, true, false]);
  check({ ...nodePort, externalTrafficPolicy: 'Local' }, [true, true, true]);
  check({ ...nodePort, internalTrafficPolicy: 'Local' }, [true, true, true]);
});
