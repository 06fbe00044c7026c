import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ingressClasses } from './ingress-classes.ts';
import { ingresses } from './ingresses.ts';
import { ipAddresses } from './ip-addresses.ts';
import { KindRules, merged } from './kind-rules.fixture.ts';
import { networkPolicies } from './network-policies.ts';
import { serviceCidrs } from './service-cidrs.ts';

describe('an ingress', async () => {
  const rules = await KindRules.of('networking.v1.Ingress', ingresses);
  const backend = { service: { name: 's', port: { number: 80 } } };
  const withPath = (path: object) => ({
    spec: { rules: [{ host: 'a.b', http: { paths: [{ path: '/', pathType: 'Prefix', backend, ...path }] } }] },
  });
  const at = 'spec.rules[0].http.paths[0]';

  it('has a default backend or rules', () => {
    rules.checkCreate({ spec: { defaultBackend: backend } }, []);
    rules.checkCreate({}, ['spec: Invalid value: null: either `defaultBackend` or `rules` must be specified']);
    rules.checkCreate({ spec: { rules: [{ host: '1.2.3.4', http: {} }, { host: '*x' }], ingressClassName: 'A' } }, [
      'spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
      'spec.rules[0].http.paths: Required value',
      'spec.rules[1].host: Invalid value: "*x": a wildcard DNS-1123 subdomain',
      'spec.ingressClassName: Invalid value: "A"',
    ]);
    assert.deepEqual(rules.created({ status: { loadBalancer: { ingress: [{}] } } }).status, { loadBalancer: {} });
  });

  it('has paths of known types', () => {
    rules.checkCreate(withPath({}), []);
    rules.checkCreate(withPath({ path: '', pathType: 'ImplementationSpecific' }), []);
    rules.checkCreate(withPath({ pathType: undefined }), [
      `${at}.pathType: Required value: pathType must be specified`,
    ]);
    rules.checkCreate(withPath({ pathType: 'x' }), [
      `${at}.pathType: Unsupported value: "x": supported values: "Exact", "ImplementationSpecific", "Prefix"`,
    ]);
    rules.checkCreate(withPath({ path: 'a//b/./%2F/..' }), [
      `${at}.path: Invalid value: "a//b/./%2F/..": must be an absolute path`,
      `${at}.path: Invalid value: "a//b/./%2F/..": must not contain '//'`,
      `${at}.path: Invalid value: "a//b/./%2F/..": must not contain '/./'`,
      `${at}.path: Invalid value: "a//b/./%2F/..": must not contain '%2F'`,
      `${at}.path: Invalid value: "a//b/./%2F/..": cannot end with '/..'`,
    ]);
  });

  it('has backends that are services or other resources', () => {
    const resource = { apiGroup: 'a.b', kind: 'K', name: 'n' };
    const check = (given: object, errors: string[]) => rules.checkCreate(withPath({ backend: given }), errors);
    check({ resource }, []);
    check({}, [`${at}.backend: Invalid value: "": resource or service backend is required`]);
    check({ resource, ...backend }, [
      `${at}.backend: Invalid value: "": cannot set both resource and service backends`,
    ]);
    check({ resource: { apiGroup: 'A', kind: 'a/b' } }, [
      `${at}.backend.resource.apiGroup: Invalid value: "A"`,
      `${at}.backend.resource.kind: Invalid value: "a/b": may not contain '/'`,
      `${at}.backend.resource.name: Required value`,
    ]);
    check({ service: { name: 'A', port: { name: 'p', number: 1 } } }, [
      `${at}.backend.service.name: Invalid value: "A"`,
      `${at}.backend: Invalid value: "": cannot set both port name & port number`,
    ]);
    check({ service: { name: '1s', port: { name: '-' } } }, [
      `${at}.backend.service.port.name: Invalid value: "-": must contain`,
      `${at}.backend.service.port.name: Invalid value: "-": must not begin`,
    ]);
    check({ service: { port: { number: 65536 } } }, [
      `${at}.backend.service.name: Required value`,
      `${at}.backend.service.port.number: Invalid value: 65536: must be between`,
    ]);
    check({ service: { name: 's' } }, [`${at}.backend: Required value: port name or number is required`]);
  });

  it('may retain invalid secret names and rules of wildcard hosts', () => {
    const old = { spec: { rules: [{ host: '*.a', http: {} }], tls: [{ hosts: ['A'], secretName: 'B' }] } };
    rules.checkUpdate(old, old, ['spec.tls[0].hosts[0]: Invalid value: "A"']);
    rules.checkCreate(old, [
      'spec.rules[0].http.paths: Required value',
      'spec.tls[0].hosts[0]: Invalid value: "A"',
      'spec.tls[0].secretName: Invalid value: "B"',
    ]);
  });

  it('has a class in one place', () => {
    const annotated = { ...withPath({}), metadata: { annotations: { 'kubernetes.io/ingress.class': 'a' } } };
    rules.checkWarnings(annotated, ['annotation "kubernetes.io/ingress.class" is deprecated, please use']);
    rules.checkWarnings(annotated, [], annotated);
    rules.checkCreate(merged(annotated, { spec: { ingressClassName: 'b' } }), [
      'annotations.kubernetes.io/ingress.class: Invalid value: "a": must match `ingressClassName`',
    ]);
  });

  it('reports addresses and names of load balancers', () => {
    const status = (...ingress: object[]) => ({ status: { loadBalancer: { ingress } } });
    rules.checkStatus(status({ ip: '1.2.3.4' }, { hostname: 'a' }), {}, []);
    rules.checkStatus(status({ ip: 'x' }, { hostname: '::1' }), {}, [
      'status.loadBalancer.ingress[0].ip: Invalid value: "x"',
      'status.loadBalancer.ingress[1].hostname: Invalid value: "::1": a lowercase',
      'status.loadBalancer.ingress[1].hostname: Invalid value: "::1": must be a DNS name',
    ]);
  });
});

describe('an IngressClass', async () => {
  const rules = await KindRules.of('networking.v1.IngressClass', ingressClasses);
  const withParameters = (parameters: object) => ({ spec: { controller: 'a.b/c', parameters } });

  it('has a controller', () => {
    const check = (controller: string, errors: string[]) => rules.checkCreate({ spec: { controller } }, errors);
    check('example.com/a-b_c:d', []);
    check('', ['spec.controller: Required value']);
    check('a/', ['spec.controller: Invalid value: "a/": must be a domain-prefixed path (such as "acme.io/foo")']);
    check('A/b c', [
      'spec.controller: Invalid value: "A": a lowercase RFC 1123 subdomain',
      'spec.controller: Invalid value: "b c": Invalid path (regex used for validation is ',
    ]);
    check(`a/${'b'.repeat(249)}`, ['spec.controller: Too long: may not be more than 250 bytes']);
    rules.checkUpdate({ spec: { controller: 'a/b' } }, { spec: { controller: 'a/c' } }, [
      'spec.controller: Invalid value: "a/b": field is immutable',
    ]);
  });

  it('has parameters of the cluster or of a namespace', () => {
    const reference = { kind: 'K', name: 'n' };
    rules.checkCreate(withParameters(reference), []);
    rules.checkCreate(withParameters({ ...reference, scope: 'Namespace', namespace: 'a' }), []);
    const errors: [object, string][] = [
      [{ ...reference, scope: 'x' }, 'scope: Unsupported value: "x": supported values: "Cluster", "Namespace"'],
      [{ ...reference, scope: 'Namespace' }, "namespace: Required value: `parameters.scope` is set to 'Namespace'"],
      [{ ...reference, namespace: 'a' }, "namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
      [{ kind: 'K' }, 'name: Required value'],
    ];
    for (const [parameters, error] of errors)
      rules.checkCreate(withParameters(parameters), [`spec.parameters.${error}`]);
  });
});

describe('a NetworkPolicy', async () => {
  const rules = await KindRules.of('networking.v1.NetworkPolicy', networkPolicies);
  const policy = (...from: object[]) => ({ spec: { podSelector: {}, ingress: [{ from }] } });
  const block = (cidr: string, ...except: string[]) => policy({ ipBlock: { cidr, except } });
  const at = 'spec.ingress[0].from[0]';

  it('gets its types and protocols', () => {
    const spec = (given: object) => rules.completed({ spec: given }).spec;
    assert.deepEqual(spec({ ingress: [{ ports: [{ port: 80 }] }] }), {
      podSelector: {},
      ingress: [{ ports: [{ port: 80, protocol: 'TCP' }] }],
      policyTypes: ['Ingress'],
    });
    assert.deepEqual(spec({ egress: [{}] }), { podSelector: {}, egress: [{}], policyTypes: ['Ingress', 'Egress'] });
  });

  it('has peers of one form', () => {
    rules.checkCreate(policy({ podSelector: {}, namespaceSelector: {} }, { ipBlock: { cidr: '10.0.0.0/8' } }), []);
    rules.checkCreate(policy({}), [`${at}: Required value: must specify a peer`]);
    rules.checkCreate(policy({ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }), [
      `${at}: Forbidden: may not specify both ipBlock and another peer`,
    ]);
    rules.checkCreate(policy({ podSelector: { matchLabels: { 'a b': '' } } }), [
      `${at}.podSelector.matchLabels: Invalid`,
    ]);
  });

  it('has blocks of addresses with exceptions', () => {
    rules.checkCreate(block('10.0.0.0/8', '10.1.0.0/16'), []);
    rules.checkCreate(block(''), [`${at}.ipBlock.cidr: Required value`]);
    rules.checkCreate(block('x', 'y'), [`${at}.ipBlock.cidr: Invalid value: "x"`]);
    rules.checkCreate(block('10.0.0.0/8', '11.0.0.0/16', '10.0.0.0/8', 'y'), [
      `${at}.ipBlock.except[0]: Invalid value: "11.0.0.0/16": must be a strict subset of \`cidr\``,
      `${at}.ipBlock.except[1]: Invalid value: "10.0.0.0/8": must be a strict subset of \`cidr\``,
      `${at}.ipBlock.except[2]: Invalid value: "y": must be a valid CIDR value`,
    ]);
    rules.checkUpdate(block('10.0.0.1/8'), block('10.0.0.1/8'), []);
    rules.checkUpdate(block('10.0.0.1/8'), {}, [
      `${at}.ipBlock.cidr: Invalid value: "10.0.0.1/8": must not have bits set`,
    ]);
    rules.checkWarnings(block('10.0.0.1/8'), [
      `${at}.ipBlock.cidr: CIDR value "10.0.0.1/8" is ambiguous in this context`,
    ]);
  });

  it('has ports, or ranges of them', () => {
    const field = 'spec.egress[0].ports[0]';
    const check = (port: object, errors: string[]) =>
      rules.checkCreate({ spec: { egress: [{ ports: [port] }] } }, errors);
    check({ port: 'http' }, []);
    check({ port: 1, endPort: 2, protocol: 'SCTP' }, []);
    check({ protocol: 'X', endPort: 1 }, [
      `${field}.protocol: Unsupported value: "X": supported values: "TCP", "UDP", "SCTP"`,
      `${field}.endPort: Invalid value: 1: may not be specified when \`port\` is not specified`,
    ]);
    check({ port: 'A', endPort: 1 }, [
      `${field}.endPort: Invalid value: 1: may not be specified when \`port\` is non-numeric`,
      `${field}.port: Invalid value: "A": must contain only`,
      `${field}.port: Invalid value: "A": must contain at least one letter`,
    ]);
    check({ port: 1, endPort: 65536 }, [`${field}.endPort: Invalid value: 65536: must be between`]);
    check({ port: 2, endPort: 1 }, [`${field}.endPort: Invalid value: 2: must be greater than or equal to \`port\``]);
  });

  it('has at most two types', () => {
    rules.checkCreate({ spec: { policyTypes: ['Ingress', 'x'] } }, [
      'spec.policyTypes[1]: Unsupported value: "x": supported values: "Ingress", "Egress"',
    ]);
    rules.checkCreate({ spec: { policyTypes: ['Ingress', 'Egress', 'x'] } }, [
      'spec.policyTypes: Invalid value: ["Ingress","Egress","x"]: may not specify more than two policyTypes',
    ]);
  });

  it('may retain invalid values of its selector', () => {
    const old = { spec: { podSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: ['?'] }] } } };
    rules.checkUpdate(old, old, []);
    rules.checkUpdate(old, {}, ['spec.podSelector.matchExpressions[0].values[0]: Invalid value: "?"']);
  });
});

describe('an IPAddress', async () => {
  const rules = await KindRules.of('networking.v1.IPAddress', ipAddresses);
  const parent = { resource: 'services', namespace: 'n', name: 's' };

  it('has a parent that does not change', () => {
    const old = { spec: { parentRef: parent } };
    rules.checkCreate(old, []);
    rules.checkCreate({}, ['spec.parentRef: Required value']);
    rules.checkCreate({ spec: { parentRef: { group: 'A', namespace: 'a/b' } } }, [
      'spec.parentRef.group: Invalid value: "A"',
      'spec.parentRef.resource: Required value',
      'spec.parentRef.name: Required value',
      'spec.parentRef.namespace: Invalid value: "a/b": may not contain \'/\'',
    ]);
    rules.checkUpdate({ spec: { parentRef: { ...parent, name: 't' } } }, old, [
      'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"n","Name":"t"}: field is immutable',
    ]);
  });

  it('is named by a canonical address', () => {
    const problems = (name: string) => ipAddresses.nameProblems!(name, false);
    assert.deepEqual(problems('10.0.0.1'), []);
    assert.deepEqual(problems('a"b'), ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']);
    assert.deepEqual(problems('2001:db8:0::1'), ['must be in canonical form ("2001:db8::1")']);
  });
});

describe('a ServiceCIDR', async () => {
  const rules = await KindRules.of('networking.v1.ServiceCIDR', serviceCidrs);
  const cidr = (...cidrs: string[]) => ({ spec: { cidrs } });

  it('has a block of each family', () => {
    rules.checkCreate(cidr('10.0.0.0/16', '2001:db8::/64'), []);
    rules.checkCreate(cidr(), ['spec.cidrs: Required value: at least one CIDR required']);
    rules.checkCreate(cidr('1', '2', '3'), [
      'spec.cidrs: Invalid value: {"CIDRs":["1","2","3"]}: may only hold up to 2 values',
    ]);
    rules.checkCreate(cidr('10.0.0.1/16'), ['spec.cidrs[0]: Invalid value: "10.0.0.1/16": must not have bits set']);
    rules.checkCreate(cidr('10.0.0.0/16', '10.1.0.0/16'), [
      'spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: may specify no more than one IP for each IP family',
    ]);
  });

  it('may get a second block, but not change otherwise', () => {
    const old = cidr('10.0.0.0/16');
    rules.checkUpdate(cidr('10.0.0.0/16', '2001:db8::/64'), old, []);
    rules.checkUpdate(cidr('10.0.0.0/16', 'x'), old, ['spec.cidrs[1]: Invalid value: "x": must be a valid CIDR']);
    rules.checkUpdate(cidr('10.1.0.0/16'), old, ['spec.cidrs[0]: Invalid value: "10.1.0.0/16": field is immutable']);
    rules.checkUpdate(cidr(), old, ['spec.cidrs: Invalid value: null: field is immutable']);
  });

  it('gets conditions, but neither labels nor blocks, by a status update', () => {
    const { prepareForUpdate } = serviceCidrs.subresources!.status!;
    const old = rules.completed({ metadata: { labels: { a: 'b' } }, ...cidr('10.0.0.0/16') });
    const object = rules.completed({ ...cidr('10.1.0.0/16'), status: { conditions: [{ type: 'Ready' }] } });
    const { metadata, spec, status } = prepareForUpdate(object, old);
    assert.deepEqual([metadata.labels, spec, status], [{ a: 'b' }, old.spec, object.status]);
  });
});
