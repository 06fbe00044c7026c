import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KindRules, merged } from './kind-rules.fixture.ts';
import { services } from './services.ts';

const rules = await KindRules.of('core.v1.Service', services);

/** Returns a valid service with the given changes to its spec and annotations. */
const service = (spec: object = {}, annotations: object = {}) =>
  merged(
    { metadata: { name: 's', annotations }, spec: { selector: { a: 'b' }, ports: [{ name: 'p', port: 80 }] } },
    { spec },
  );
const check = (spec: object, errors: string[]) => rules.checkCreate(service(spec), errors);

describe('a new service', () => {
  it('gets defaults of its type', () => {
    const spec = (given: object) => rules.created(service(given)).spec;
    const common = { selector: { a: 'b' }, sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' };
    const ports = [{ name: 'p', port: 80, targetPort: 80, protocol: 'TCP' }];
    assert.deepEqual(spec({}), { ...common, ports, type: 'ClusterIP' });
    assert.deepEqual(spec({ type: 'LoadBalancer', sessionAffinity: 'ClientIP' }), {
      ...common,
      ports,
      type: 'LoadBalancer',
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10800 } },
      externalTrafficPolicy: 'Cluster',
      allocateLoadBalancerNodePorts: true,
    });
    const external = { type: 'ExternalName', ports: undefined, sessionAffinityConfig: { clientIP: {} } };
    assert.deepEqual(spec(external), { selector: { a: 'b' }, sessionAffinity: 'None', type: 'ExternalName' });
    assert.deepEqual((spec({ clusterIP: '10.0.0.1' }) as { clusterIPs: string[] }).clusterIPs, ['10.0.0.1']);
  });

  it('loses its status', () => {
    const given = { ...service(), status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } };
    assert.deepEqual(rules.created(given).status, { loadBalancer: {} });
  });

  it('has valid and unique ports', () => {
    check({ ports: [{ name: 'p', port: 80, appProtocol: 'example.com/p' }] }, []);
    check({ ports: [] }, ['spec.ports: Required value']);
    check({ ports: [], clusterIP: 'None' }, []);
    check(
      {
        ports: [
          { port: 80, targetPort: 'http' },
          { name: 'A', port: 0, protocol: 'X', targetPort: '-' },
        ],
      },
      [
        'spec.ports[0].name: Required value',
        'spec.ports[1].name: Invalid value: "A": a lowercase RFC 1123 label',
        'spec.ports[1].port: Invalid value: 0: must be between 1 and 65535, inclusive',
        'spec.ports[1].protocol: Unsupported value: "X": supported values: "SCTP", "TCP", "UDP"',
        'spec.ports[1].targetPort: Invalid value: "-": must contain at least one letter (a-z)',
        'spec.ports[1].targetPort: Invalid value: "-": must not begin or end with a hyphen',
      ],
    );
    check(
      {
        ports: [
          { name: 'p', port: 80 },
          { name: 'p', port: 80 },
          { name: 'q', port: 80, protocol: 'UDP' },
        ],
      },
      [
        'spec.ports[1].name: Duplicate value: "p"',
        'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
      ],
    );
  });

  it('has node ports only for some types, each once', () => {
    const ports = [
      { name: 'p', port: 1, nodePort: 30000 },
      { name: 'q', port: 2, nodePort: 30000 },
    ];
    check({ ports: ports.slice(1) }, ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"]);
    check({ type: 'NodePort', ports }, ['spec.ports[1].nodePort: Duplicate value: 30000']);
  });

  it('has the fields of its type', () => {
    check({ type: 'Other' }, [
      'spec.type: Unsupported value: "Other": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
    ]);
    check({ type: 'NodePort', clusterIP: 'None' }, [
      'spec.clusterIPs[0]: Invalid value: "None": may not be set to \'None\' for NodePort services',
    ]);
    check({ type: 'ExternalName', externalName: 'example.com.' }, []);
    check({ type: 'ExternalName', clusterIP: '10.0.0.1', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }, [
      'spec.clusterIPs: Forbidden: may not be set for ExternalName services',
      'spec.ipFamilies: Forbidden: may not be set for ExternalName services',
      'spec.ipFamilyPolicy: Forbidden: may not be set for ExternalName services',
      'spec.externalName: Required value',
    ]);
    check({ loadBalancerClass: 'a/b', allocateLoadBalancerNodePorts: true, loadBalancerSourceRanges: ['10.0.0.0/8'] }, [
      "spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer'",
      "spec.allocateLoadBalancerNodePorts: Forbidden: may only be used when `type` is 'LoadBalancer'",
      "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'",
    ]);
    check(
      { type: 'LoadBalancer', loadBalancerClass: 'a b', loadBalancerSourceRanges: [' 10.0.0.0/8 ', '10.0.0.1/8'] },
      [
        'spec.LoadBalancerSourceRanges[1]: Invalid value: "10.0.0.1/8": must not have bits set beyond',
        'spec.loadBalancerClass: Invalid value: "a b": name part must consist',
      ],
    );
  });

  it('has at most one cluster IP of each family', () => {
    const checkIps = (clusterIPs: string[], errors: string[]) =>
      check({ clusterIP: clusterIPs[0], clusterIPs }, errors);
    checkIps(['10.0.0.1', '2001:db8::1'], []);
    checkIps(
      ['10.0.0.1', '10.0.0.2'],
      ['spec.clusterIPs: Invalid value: ["10.0.0.1","10.0.0.2"]: may specify no more'],
    );
    checkIps(
      ['10.0.0.1', '2001:db8::1', '10.0.0.3'],
      ['spec.clusterIPs: Invalid value: ["10.0.0.1","2001:db8::1","10.0.0.3"]: may only hold up to 2 values'],
    );
    checkIps(
      ['None', '10.0.0.1'],
      ['spec.clusterIPs: Invalid value: ["None","10.0.0.1"]: \'None\' must be the first and only'],
    );
    check({ clusterIPs: ['10.0.0.1'] }, ['spec.clusterIPs: Invalid value: ["10.0.0.1"]: must be empty when']);
    check({ ipFamilies: ['IPv4', 'IPv4', 'x'], ipFamilyPolicy: 'y' }, [
      'spec.ipFamilies[1]: Duplicate value: "IPv4"',
      'spec.ipFamilies[2]: Unsupported value: "x": supported values: "IPv4", "IPv6"',
      'spec.ipFamilyPolicy: Unsupported value: "y": supported values: "PreferDualStack", "RequireDualStack", "SingleStack"',
    ]);
  });

  it('has valid labels, affinity and policies', () => {
    check({ selector: { 'a b': 'c' } }, ['spec.selector: Invalid value: "a b"']);
    check({ sessionAffinity: 'x' }, [
      'spec.sessionAffinity: Unsupported value: "x": supported values: "ClientIP", "None"',
    ]);
    check({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } }, [
      'spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400',
    ]);
    check({ externalTrafficPolicy: 'Local' }, [
      'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for externally-accessible services',
    ]);
    check({ type: 'NodePort', externalTrafficPolicy: 'x', internalTrafficPolicy: 'y', trafficDistribution: 'z' }, [
      'spec.externalTrafficPolicy: Unsupported value: "x": supported values: "Cluster", "Local"',
      'spec.internalTrafficPolicy: Unsupported value: "y": supported values: "Cluster", "Local"',
      'spec.trafficDistribution: Unsupported value: "z": supported values: "PreferClose", "PreferSameZone", "PreferSameNode"',
    ]);
    check({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' }, ['spec.healthCheckNodePort: Required value']);
    check({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 31000 }, []);
    check({ type: 'NodePort', healthCheckNodePort: 31000 }, [
      "spec.healthCheckNodePort: Invalid value: 31000: may only be set when `type` is 'LoadBalancer'",
    ]);
  });

  it('has external addresses to which traffic can be sent', () => {
    check({ externalIPs: ['1.2.3.4', '2001:db8::1'] }, []);
    check({ externalIPs: ['', '0.0.0.0', '127.0.0.1', '169.254.1.1', '224.0.0.1', 'fe80::1'] }, [
      'spec.externalIPs[0]: Invalid value: "": must be a valid IP address',
      'spec.externalIPs[1]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
      'spec.externalIPs[2]: Invalid value: "127.0.0.1": may not be in the loopback range',
      'spec.externalIPs[3]: Invalid value: "169.254.1.1": may not be in the link-local range',
      'spec.externalIPs[4]: Invalid value: "224.0.0.1": may not be in the link-local multicast range',
      'spec.externalIPs[5]: Invalid value: "fe80::1": may not be in the link-local range',
    ]);
    const ranges = { 'service.beta.kubernetes.io/load-balancer-source-ranges': '10.0.0.0/8, x' };
    rules.checkCreate(service({ type: 'LoadBalancer' }, ranges), [
      'metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: Invalid value: "x"',
    ]);
  });

  it('has agreeing annotations', () => {
    const annotations = {
      'service.kubernetes.io/topology-aware-hints': 'auto',
      'service.kubernetes.io/topology-mode': 'disabled',
    };
    rules.checkCreate(service({}, annotations), [
      'metadata.annotations[service.kubernetes.io/topology-mode]: Invalid value: "disabled": must match annotations[',
    ]);
  });

  it('has warnings', () => {
    rules.checkWarnings(
      service(
        { externalIPs: ['1.2.3.4'], externalName: 'a', trafficDistribution: 'PreferClose', loadBalancerIP: '::0' },
        { 'service.kubernetes.io/topology-aware-hints': 'auto' },
      ),
      [
        'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use',
        'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
        'spec.loadBalancerIP: IPv6 address "::0" should be in RFC 5952 canonical format ("::")',
        'spec.externalName is ignored when spec.type is not "ExternalName"',
        'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
      ],
    );
    rules.checkWarnings(service({ clusterIP: 'None', sessionAffinity: 'ClientIP' }), [
      'spec.SessionAffinity is ignored for headless services',
    ]);
  });
});

describe('a status of a service', () => {
  const balanced = (...ingress: object[]) => ({
    ...service({ type: 'LoadBalancer' }),
    status: { loadBalancer: { ingress } },
  });

  it('has addresses and names of load balancers', () => {
    const field = 'status.loadBalancer.ingress';
    rules.checkStatus(balanced({ ip: '1.2.3.4' }, { hostname: 'a.b', ports: [] }), balanced(), []);
    rules.checkStatus({ ...balanced({ ip: '1.2.3.4' }), spec: service().spec }, service(), [
      `${field}: Forbidden: may only be used when \`spec.type\` is 'LoadBalancer'`,
    ]);
    rules.checkStatus(balanced({ ip: 'x', ipMode: 'y' }, { hostname: '1.2.3.4', ipMode: 'VIP' }), balanced(), [
      `${field}[0].ip: Invalid value: "x"`,
      `${field}[0].ipMode: Unsupported value: "y": supported values: "Proxy", "VIP"`,
      `${field}[1].ipMode: Forbidden: may not be specified when \`ip\` is not set`,
      `${field}[1].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address`,
    ]);
  });

  it('has warnings for addresses', () => {
    const object = rules.completed(balanced({ ip: '::0' }));
    assert.deepEqual(services.subresources!.status!.warnings!(object, object).length, 1);
  });
});
