import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { textAt, valueAt } from '../values.ts';
import { KindRules } from './kind-rules.fixture.ts';
import { nodes } from './nodes.ts';

const rules = await KindRules.of('core.v1.Node', nodes);
const taint = (key: string, effect = 'NoSchedule', value = '') => ({ key, effect, value });

describe('a node', () => {
  it('gets the capacity as its allocatable amounts', () => {
    const created = rules.created({ status: { capacity: { cpu: '1500u', memory: '1Gi' } } });
    for (const field of ['capacity', 'allocatable'])
      assert.deepEqual(valueAt(created, 'status', field), { cpu: '2m', memory: '1Gi' });
  });

  it('has agreeing fields for its pod CIDRs', () => {
    const cidrs = (spec: object) => rules.completed({ spec }).spec;
    assert.deepEqual(cidrs({ podCIDR: '10.0.0.0/24' }), { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] });
    assert.deepEqual(cidrs({ podCIDRs: ['10.0.0.0/24'] }), { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] });
    const changed = { podCIDR: '10.1.0.0/24', podCIDRs: ['10.0.0.0/24', '::/64'] };
    assert.deepEqual(cidrs(changed), { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'] });
  });

  it('may be created with a status, but not with a configuration', () => {
    const status = { phase: 'Running', config: { error: 'x' } };
    const created = rules.created({ spec: { configSource: { configMap: {} } }, status });
    assert.deepEqual(created.spec, {});
    assert.equal(textAt(created, 'status', 'phase'), 'Running');
    assert.equal(valueAt(created, 'status', 'config'), undefined);
  });

  it('has unique taints', () => {
    rules.checkCreate({ spec: { taints: [taint('a'), taint('a', 'NoExecute'), taint('b', 'PreferNoSchedule')] } }, []);
    rules.checkCreate({ spec: { taints: [taint('a b', 'No', '-'), taint('c', ''), taint('d'), taint('d')] } }, [
      'metadata.taints[0].key: Invalid value: "a b"',
      'metadata.taints[0].value: Invalid value: "-"',
      'metadata.taints[0].effect: Unsupported value: "No": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      'metadata.taints[1].effect: Required value',
      'metadata.taints[3]: Duplicate value: {"Key":"d","Value":"","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
    ]);
  });

  it('has amounts that are not negative and, where they count objects, whole', () => {
    rules.checkCreate(
      { status: { capacity: { cpu: '-1', pods: '1500m', 'example.com/gpu': '500m' }, allocatable: { cpu: '1' } } },
      [
        'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
        'status.capacity.example.com/gpu: Invalid value: "500m": must be an integer',
        'status.capacity.pods: Invalid value: "1500m": must be an integer',
      ],
    );
  });

  it('has sorted features, and one CIDR of each family', () => {
    rules.checkCreate(
      { status: { declaredFeatures: ['A', 'B/c', 'c', 'B', 'B'], nodeInfo: { swap: { capacity: 0 } } } },
      [
        'metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero',
        'status.declaredFeatures[2]: Invalid value: "c": invalid feature name "c": must start with an UpperCamelCase',
        'status.declaredFeatures[3]: Invalid value: "B": list must be sorted alphabetically',
        'status.declaredFeatures[4]: Duplicate value: "B"',
      ],
    );
    rules.checkCreate({ spec: { podCIDRs: ['10.0.0.0/24', '2001:db8::/64'] } }, []);
    rules.checkCreate({ spec: { podCIDRs: ['10.0.0.0/24', '10.1.0.0/24', 'x'] } }, [
      'spec.podCIDRs[2]: Invalid value: "x": must be a valid CIDR value',
      'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.1.0.0/24","x"]: may specify no more than one CIDR for each IP family',
    ]);
  });

  it('retains its CIDRs, its provider and its status in an update', () => {
    const old = { spec: { podCIDR: '10.0.0.0/24', providerID: 'a' }, status: { phase: 'Running' } };
    rules.checkUpdate(old, old, []);
    rules.checkUpdate({ spec: { podCIDR: '10.1.0.0/24', providerID: 'b', externalID: 'c' } }, old, [
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
      'spec.externalID: Forbidden: may not be updated',
    ]);
    rules.checkUpdate({ spec: { podCIDR: '10.1.0.0/24', providerID: 'b' } }, {}, []);
    assert.equal(textAt(rules.updated({}, old), 'status', 'phase'), 'Running');
  });

  it('reports each address once, and does not change its spec with its status', () => {
    const address = { type: 'InternalIP', address: '10.0.0.1' };
    rules.checkStatus({ status: { addresses: [address, address] } }, {}, [
      'status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"10.0.0.1"}',
    ]);
    const status = nodes.subresources!.status!;
    const object = rules.completed({ spec: { unschedulable: true }, status: { config: { error: 'x' } } });
    const prepared = status.prepareForUpdate(object, rules.completed({}));
    assert.deepEqual([prepared.spec, valueAt(prepared, 'status', 'config')], [{}, undefined]);
    assert.equal(nodes.selectableFields!['spec.unschedulable']!(object), 'true');
  });

  it('has a valid configuration if it has one', () => {
    const configured = { spec: { configSource: { configMap: { uid: 'a' } } } };
    rules.checkUpdate(configured, configured, [
      'spec.configSource.configMap.uid: Forbidden: uid must not be set in spec',
      'spec.configSource.configMap.namespace: Required value',
      'spec.configSource.configMap.name: Required value',
      'spec.configSource.configMap.kubeletConfigKey: Required value',
    ]);
    const source = { namespace: 'n', name: 'm', kubeletConfigKey: 'k' };
    const saved = (configMap: object) => ({ status: { config: { active: { configMap } } } });
    rules.checkUpdate({}, saved({ ...source, uid: 'u', resourceVersion: '1' }), []);
    rules.checkUpdate({}, saved(source), [
      'status.config.active.configMap.uid: Required value',
      'status.config.active.configMap.resourceVersion: Required value',
    ]);
    const empty = { status: { config: { assigned: {} } } };
    rules.checkUpdate({}, empty, [
      'status.config.assigned: Invalid value: {"ConfigMap":null}: exactly one reference subfield must be non-nil',
    ]);
  });

  it('has warnings for deprecated fields', () => {
    rules.checkWarnings({ spec: { externalID: 'a', podCIDRs: ['2001:0db8::/64'] } }, [
      'spec.externalID: this field is deprecated, and is unused by Kubernetes',
      'spec.podCIDRs[0]: IPv6 CIDR value',
    ]);
  });
});
