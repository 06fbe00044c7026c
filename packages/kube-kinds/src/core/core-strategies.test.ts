import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Schema } from '@podwright/kube-schema';
import type { ApiObject } from '../api-object.ts';
import { bindings } from './bindings.ts';
import { CORE_CONVERSIONS, CORE_STRATEGIES } from './core-strategies.ts';
import { KindRules, shownErrors } from './kind-rules.fixture.ts';
import { leases } from './leases.ts';
import { runtimeClasses } from './runtime-classes.ts';

const CONTEXT = { user: { username: 'test', groups: [] }, nowMs: 0 };

describe('the core strategies', () => {
  it('are those of served resources', async () => {
    const { resources } = await Schema.load();
    const served = new Set(resources.map(({ group, plural }) => (group === '' ? plural : `${plural}.${group}`)));
    for (const name of [...Object.keys(CORE_STRATEGIES), 'events.events.k8s.io']) assert.ok(served.has(name), name);
    assert.deepEqual(Object.keys(CORE_CONVERSIONS), ['events.events.k8s.io/v1']);
  });

  it('accept fields of any type without an exception', () => {
    const junk = [null, 0, -1, '', 'x', true, [], {}, [null], [{}], { a: null }, [[1]]];
    const fields = ['spec', 'status', 'data', 'subsets', 'endpoints', 'ports', 'secrets', 'target', 'involvedObject'];
    for (const [name, strategy] of Object.entries(CORE_STRATEGIES)) {
      for (const value of junk) {
        const object = {
          metadata: { name: 'a' },
          ...Object.fromEntries(fields.map((field) => [field, value])),
        } as ApiObject;
        const nested = {
          metadata: {},
          spec: Object.fromEntries(NESTED.map((field) => [field, value])),
        } as unknown as ApiObject;
        for (const one of [object, nested]) callAll(strategy, one, `${name} ${JSON.stringify(value)}`);
      }
    }
  });
});

const NESTED = ['ports', 'limits', 'rules', 'ingress', 'egress', 'tls', 'clusterIPs', 'taints', 'podCIDRs', 'scopes'];

function callAll(strategy: (typeof CORE_STRATEGIES)[string], object: ApiObject, name: string): void {
  assert.doesNotThrow(() => {
    const complete = strategy.applyDefaults?.(object) ?? object;
    const created = strategy.prepareForCreate?.(complete, CONTEXT) ?? complete;
    const updated = strategy.prepareForUpdate?.(complete, created) ?? complete;
    strategy.validate?.(created);
    strategy.validateUpdate?.(updated, created);
    strategy.warnings?.(updated, created);
    for (const field of Object.values(strategy.selectableFields ?? {})) field(updated);
    for (const { prepareForUpdate, validateUpdate } of Object.values(strategy.subresources ?? {}))
      validateUpdate?.(prepareForUpdate(complete, created), created);
  }, name);
}

describe('a lease', async () => {
  const rules = await KindRules.of('coordination.v1.Lease', leases);

  it('has a positive duration', () => {
    rules.checkCreate({ spec: { leaseDurationSeconds: 1, leaseTransitions: 0 } }, []);
    rules.checkCreate({ spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }, [
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
    ]);
  });

  it('loses the fields of coordinated leader election unless the old lease has them', () => {
    const coordinated = { spec: { strategy: 'x', preferredHolder: 'a' } };
    assert.deepEqual(rules.created(coordinated).spec, {});
    assert.deepEqual(rules.updated(coordinated, {}).spec, {});
    assert.deepEqual(rules.updated(coordinated, coordinated).spec, coordinated.spec);
    rules.checkUpdate(coordinated, coordinated, [
      'spec.strategy.strategy: Unsupported value: "x": supported values: "OldestEmulationVersion"',
    ]);
    rules.checkUpdate({ spec: { strategy: '', preferredHolder: 'a' } }, coordinated, [
      'spec.strategy.strategy: Unsupported value: ""',
      'spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined',
    ]);
  });
});

describe('a RuntimeClass', async () => {
  const rules = await KindRules.of('node.v1.RuntimeClass', runtimeClasses);
  const overhead = (podFixed: object) => ({ handler: 'h', overhead: { podFixed } });

  it('has a handler that does not change', () => {
    rules.checkCreate({ handler: 'h' }, []);
    rules.checkCreate({}, ['handler: Required value']);
    rules.checkCreate({ handler: 'A' }, ['handler: Invalid value: "A"']);
    rules.checkUpdate({ handler: 'b' }, { handler: 'a' }, ['handler: Invalid value: "b": field is immutable']);
  });

  it('has overhead of resources of containers', () => {
    rules.checkCreate(overhead({ cpu: '1', 'hugepages-2Mi': '4Mi', 'example.com/a': '1' }), []);
    rules.checkCreate(overhead({ x: '-1', 'hugepages-2Mi': '3Mi' }), [
      'overhead.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi',
      'overhead.limits[x]: Invalid value: "x": must be a standard resource type or fully qualified',
      'overhead.limits[x]: Invalid value: "x": must be a standard resource for containers',
      'overhead.limits[x]: Invalid value: "-1": must be greater than or equal to 0',
      'overhead: Forbidden: HugePages require cpu or memory',
    ]);
  });

  it('has unique tolerations', () => {
    const scheduling = (...tolerations: object[]) => ({ handler: 'h', scheduling: { tolerations } });
    const at = 'scheduling.tolerations';
    rules.checkCreate(scheduling({ operator: 'Exists' }, { key: 'a', value: 'b', effect: 'NoSchedule' }), []);
    rules.checkCreate(scheduling({ key: 'a' }, { key: 'a' }), [
      `${at}[1]: Duplicate value: {"Key":"a","Operator":"","Value":"","Effect":"","TolerationSeconds":null}`,
    ]);
    rules.checkCreate(scheduling({ value: '?', effect: 'x', tolerationSeconds: 1 }, { key: 'a', operator: 'Lt' }), [
      `${at}[0].operator: Invalid value: "": operator must be Exists when \`key\` is empty`,
      `${at}[0].effect: Invalid value: "x": effect must be 'NoExecute' when \`tolerationSeconds\` is set`,
      `${at}[0].operator: Invalid value: "?": a valid label must be`,
      `${at}[0].effect: Unsupported value: "x"`,
      `${at}[1].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"`,
    ]);
    rules.checkCreate(scheduling({ key: 'a', operator: 'Exists', value: 'b' }, { key: 'a', operator: 'x' }), [
      `${at}[0].operator: Invalid value: "b": value must be empty when \`operator\` is 'Exists'`,
      `${at}[1].operator: Unsupported value: "x": supported values: "Equal", "Exists"`,
    ]);
  });

  it('has warnings for deprecated labels', () => {
    rules.checkWarnings({ handler: 'h', scheduling: { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } } }, [
      'scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead',
    ]);
  });
});

describe('a binding', () => {
  it('targets a node by name', () => {
    const errors = (target: object) => shownErrors(bindings.validate!({ metadata: {}, target }));
    assert.deepEqual(errors({ kind: 'Node', name: 'n' }), []);
    assert.deepEqual(errors({ kind: 'Pod' }), [
      'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
      'target.name: Required value',
    ]);
  });
});
