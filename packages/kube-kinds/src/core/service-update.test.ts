import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KindRules, merged } from './kind-rules.fixture.ts';
import { services } from './services.ts';

const rules = await KindRules.of('core.v1.Service', services);
const ip = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };
const dual = {
  clusterIP: '10.0.0.1',
  clusterIPs: ['10.0.0.1', '2001:db8::1'],
  ipFamilies: ['IPv4', 'IPv6'],
  ipFamilyPolicy: 'RequireDualStack',
};

const service = (spec: object = {}) =>
  merged({ spec: { ports: [{ name: 'p', port: 80 }], type: 'ClusterIP' } }, { spec });
const updated = (spec: object, old: object) =>
  rules.updated(service(spec), service(old)).spec as Record<string, unknown>;

/** Asserts which errors result from changing a service's spec from `old` to `spec`. */
const check = (spec: object, old: object, errors: string[]) => rules.checkUpdate(service(spec), service(old), errors);

describe('an update of a service', () => {
  it('retains allocated values that the client does not send', () => {
    assert.equal(updated({}, ip).clusterIP, '10.0.0.1');
    assert.deepEqual(updated({}, ip).clusterIPs, ['10.0.0.1']);
    const ports = (...numbers: (number | undefined)[]) => ({
      type: 'NodePort',
      ports: numbers.map((nodePort, index) => ({ name: `p${index}`, port: index + 1, nodePort })),
    });
    const nodePorts = (spec: object, old: object) =>
      (updated(spec, old).ports as { nodePort?: number }[]).map(({ nodePort }) => nodePort);
    assert.deepEqual(nodePorts(ports(undefined, 30002), ports(30001, 30002)), [30001, 30002]);
    assert.deepEqual(nodePorts(ports(undefined, 30001), ports(30001, 30002)), [undefined, 30001]);
    const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
    assert.equal(updated(local, { ...local, healthCheckNodePort: 31000 }).healthCheckNodePort, 31000);
  });

  it('does not change the cluster IP', () => {
    check(ip, ip, []);
    check({ ...ip, clusterIP: '10.0.0.2', clusterIPs: undefined }, ip, [
      'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
    ]);
    check({ ...ip, clusterIP: '10.0.0.2' }, ip, [
      'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
    ]);
    check({ ...ip, clusterIPs: ['10.0.0.2'] }, ip, [
      'spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set',
      'spec.clusterIPs: Invalid value: ["10.0.0.2"]: first value must match `clusterIP`',
    ]);
    check({ clusterIP: 'None' }, { clusterIP: 'None', clusterIPs: ['None'] }, []);
    check({ clusterIP: 'None', clusterIPs: ['None'] }, ip, [
      'spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set',
    ]);
  });

  it('adds a second family, and releases it with the policy SingleStack', () => {
    check(dual, ip, []);
    check({ ...ip, ipFamilyPolicy: 'SingleStack' }, dual, []);
    check({ ...ip, ipFamilyPolicy: 'PreferDualStack' }, dual, [
      'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the secondary clusterIP',
      'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": must be set to \'SingleStack\' when releasing the secondary ipFamily',
    ]);
    check(ip, { type: 'ExternalName', externalName: 'a' }, []);
    check({ type: 'ExternalName', externalName: 'a' }, ip, []);
    check({ ...ip, ipFamilies: ['IPv6'] }, ip, [
      'spec.ipFamilies[0]: Invalid value: ["IPv6"]: may not change once set',
      'spec.clusterIPs[0]: Invalid value: "10.0.0.1": expected an IPv6 value as indicated by `ipFamilies[0]`',
    ]);
  });

  it('does not change the class of a load balancer, nor its health check port', () => {
    const balanced = { ...ip, type: 'LoadBalancer', externalTrafficPolicy: 'Local' };
    const old = { ...balanced, loadBalancerClass: 'a/b', healthCheckNodePort: 31000 };
    check({ ...old, loadBalancerClass: 'a/c', healthCheckNodePort: 31001 }, old, [
      'spec.loadBalancerClass: Invalid value: "a/c": may not change once set',
      'spec.healthCheckNodePort: Forbidden: field is immutable',
    ]);
  });

  it('removes fields that do not apply to the new type', () => {
    const old = { ...ip, type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 };
    const full = {
      ...old,
      allocateLoadBalancerNodePorts: true,
      loadBalancerClass: 'a/b',
      ports: [{ name: 'p', port: 80, nodePort: 30000 }],
    };
    const cluster = updated({ ...full, type: 'ClusterIP' }, full);
    assert.deepEqual(Object.keys(cluster).sort(), [
      ...['clusterIP', 'clusterIPs', 'internalTrafficPolicy', 'ipFamilies', 'ipFamilyPolicy'],
      ...['ports', 'sessionAffinity', 'type'],
    ]);
    assert.deepEqual(cluster.ports, [{ name: 'p', port: 80, protocol: 'TCP', targetPort: 80 }]);
    check({ ...full, type: 'ClusterIP' }, full, []);
    const external = updated({ ...ip, type: 'ExternalName', externalName: 'a' }, ip);
    assert.deepEqual([external.clusterIP, external.clusterIPs, external.ipFamilies], [undefined, undefined, undefined]);
  });

  it('rejects such fields if the client changes them', () => {
    const old = { ...ip, type: 'NodePort', ports: [{ name: 'p', port: 80, nodePort: 30000 }] };
    check({ ...old, type: 'ClusterIP', ports: [{ name: 'p', port: 80, nodePort: 30001 }] }, old, [
      'spec.ports[0].nodePort: Forbidden',
    ]);
    check({ ...ip, type: 'ExternalName', externalName: 'a', clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] }, ip, [
      'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
    ]);
  });

  it('retains the status of load balancers only', () => {
    const status = { loadBalancer: { ingress: [{ ip: '1.2.3.4', ipMode: 'VIP' }] } };
    const old = { ...service({ type: 'LoadBalancer' }), status };
    assert.deepEqual(rules.updated(service({ type: 'LoadBalancer' }), old).status, status);
    assert.deepEqual(rules.updated(service(), old).status, { loadBalancer: {} });
  });

  it('retains invalid addresses that the old service has', () => {
    const old = { ...ip, externalIPs: ['010.0.0.1'] };
    check(old, old, []);
    check(old, ip, ['spec.externalIPs[0]: Invalid value: "010.0.0.1": must not have leading 0s']);
  });
});
