import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KindRules } from './kind-rules.fixture.ts';
import { limitRanges } from './limit-ranges.ts';
import { resourceQuotas } from './resource-quotas.ts';

const quotas = await KindRules.of('core.v1.ResourceQuota', resourceQuotas);
const limits = await KindRules.of('core.v1.LimitRange', limitRanges);
const quota = (hard: object, spec: object = {}) => ({ spec: { hard, ...spec } });
const selector = (scopeName: string, operator = 'Exists', values?: string[]) => ({
  scopeSelector: { matchExpressions: [{ scopeName, operator, values }] },
});

describe('a quota', () => {
  it('has amounts of known resources', () => {
    const hard = {
      cpu: '1',
      'requests.memory': '1Gi',
      pods: '2',
      'count/deployments.apps': '3',
      'hugepages-2Mi': '2Mi',
    };
    quotas.checkCreate(quota({ ...hard, 'requests.example.com/gpu': '1', 'services.nodeports': '0' }), []);
    quotas.checkCreate(quota({ cpus: '1', storage: '1', pods: '-500m' }), [
      'spec.hard[cpus]: Invalid value: "cpus": must be a standard resource type or fully qualified',
      'spec.hard[cpus]: Invalid value: "cpus": must be a standard resource for quota',
      'spec.hard[pods]: Invalid value: "-500m": must be greater than or equal to 0',
      'spec.hard[pods]: Invalid value: "-500m": must be an integer',
      'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
    ]);
    assert.deepEqual((quotas.created(quota({ cpu: '1100u' })).spec as { hard: object }).hard, { cpu: '2m' });
  });

  it('has scopes that suit its resources', () => {
    quotas.checkCreate(quota({ pods: '1' }, { scopes: ['BestEffort'] }), []);
    quotas.checkCreate(quota({ persistentvolumeclaims: '1' }, { scopes: ['VolumeAttributesClass'] }), []);
    quotas.checkCreate(quota({ cpu: '1' }, { scopes: ['BestEffort', 'NotBestEffort', 'x'] }), [
      'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","x"]: unsupported scope applied to resource',
      'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","x"]: unsupported scope',
      'spec.scopes: Invalid value: ["BestEffort","NotBestEffort","x"]: conflicting scopes',
    ]);
  });

  it('selects scopes', () => {
    const field = 'spec.scopeSelector.matchExpressions';
    quotas.checkCreate(quota({ cpu: '1' }, selector('PriorityClass', 'In', ['a'])), []);
    quotas.checkCreate(quota({}, selector('PriorityClass', 'In')), [
      `${field}.values: Required value: must be at least one`,
    ]);
    quotas.checkCreate(quota({}, selector('Terminating', 'DoesNotExist', ['a'])), [
      `${field}.operator: Invalid value: "DoesNotExist": must be 'Exists' when scope is any of`,
      `${field}.values: Invalid value: ["a"]: must be no value when`,
    ]);
    quotas.checkCreate(quota({ secrets: '1' }, selector('Terminating')), [
      `${field}: Invalid value: {"MatchExpressions":[{"ScopeName":"Terminating","Operator":"Exists","Values":null}]}: unsupported scope applied to resource`,
    ]);
    quotas.checkCreate(quota({}, selector('x', 'y')), [
      `${field}.scopeName: Invalid value: "x": unsupported scope`,
      `${field}.operator: Invalid value: "y": not a valid selector operator`,
    ]);
  });

  it('does not change its scopes', () => {
    const old = quota({}, { scopes: ['BestEffort'] });
    quotas.checkUpdate(quota({ pods: '1' }, { scopes: ['BestEffort'] }), old, []);
    quotas.checkUpdate(quota({}), old, ['spec.scopes: Invalid value: null: field is immutable']);
  });

  it('has a status with valid amounts', () => {
    const metadata = { resourceVersion: '1' };
    quotas.checkStatus({ metadata, status: { hard: { pods: '1' }, used: { pods: '1' } } }, {}, []);
    quotas.checkStatus({ status: { used: { pods: '-1' } } }, {}, [
      'resourceVersion: Required value',
      'status.used[pods]: Invalid value: "-1"',
    ]);
  });

  it('has a warning if requests exceed limits', () => {
    const hard = { cpu: '2', 'limits.cpu': '1', 'requests.memory': '1Gi', 'limits.memory': '1Gi' };
    quotas.checkWarnings(quota(hard), ['ResourceQuota cpu (2) should be less than limits.cpu (1)']);
    quotas.checkWarnings(quota(hard), [], {});
  });
});

describe('a limit range', () => {
  const range = (...items: object[]) => ({ spec: { limits: items } });
  const at = 'spec.limits[0]';

  it('gets defaults for containers', () => {
    const item = { type: 'Container', max: { cpu: '2', memory: '1100u' }, min: { cpu: '1', 'example.com/a': '1' } };
    assert.deepEqual(limits.completed(range({ ...item, default: { cpu: '1500m' } })).spec, {
      limits: [
        {
          type: 'Container',
          max: { cpu: '2', memory: '2m' },
          min: { cpu: '1', 'example.com/a': '1' },
          default: { cpu: '1500m', memory: '2m' },
          defaultRequest: { cpu: '1500m', memory: '2m', 'example.com/a': '1' },
        },
      ],
    });
    assert.match(limits.created(range()).metadata.name!, /^[0-9a-f-]{36}$/);
  });

  it('has known types and resources', () => {
    limits.checkCreate(range({ type: 'Pod', max: { cpu: '1' } }, { type: 'example.com/a', max: { storage: '1' } }), []);
    limits.checkCreate(range({ type: 'x', max: { y: '1' } }, { type: 'x' }), [
      `${at}.type: Invalid value: "x": must be a standard limit type or fully qualified`,
      `${at}.max[y]: Invalid value: "y": must be a standard resource type or fully qualified`,
      'spec.limits[1].type: Invalid value: "x": must be a standard limit type or fully qualified',
      'spec.limits[1].type: Duplicate value: "x"',
    ]);
    limits.checkCreate(range({ type: 'Pod', max: { storage: '1' }, default: { cpu: '1' } }), [
      `${at}.max[storage]: Invalid value: "storage": must be a standard resource for containers`,
      `${at}.default: Forbidden: may not be specified when \`type\` is 'Pod'`,
    ]);
    limits.checkCreate(range({ type: 'PersistentVolumeClaim', max: { cpu: '1' } }), [
      `${at}.limits: Required value: either minimum or maximum storage value is required, but neither was provided`,
    ]);
  });

  it('has amounts in order', () => {
    const item = { min: { cpu: '3' }, max: { cpu: '1' }, default: { cpu: '2' }, defaultRequest: { cpu: '2500m' } };
    limits.checkCreate(range({ type: 'Container', ...item }), [
      `${at}.min[cpu]: Invalid value: "3": min value 3 is greater than max value 1`,
      `${at}.defaultRequest[cpu]: Invalid value: "2500m": min value 3 is greater than default request value 2500m`,
      `${at}.defaultRequest[cpu]: Invalid value: "2500m": default request value 2500m is greater than max value 1`,
      `${at}.defaultRequest[cpu]: Invalid value: "2500m": default request value 2500m is greater than default limit value 2`,
      `${at}.default[cpu]: Invalid value: "3": min value 3 is greater than default value 2`,
      `${at}.default[cpu]: Invalid value: "1": default value 2 is greater than max value 1`,
    ]);
  });

  it('has possible ratios, and equal defaults of resources without overcommitment', () => {
    const bounds = { min: { cpu: '1' }, max: { cpu: '2' } };
    limits.checkCreate(range({ type: 'Pod', ...bounds, maxLimitRequestRatio: { cpu: '2' } }), []);
    limits.checkCreate(range({ type: 'Pod', ...bounds, maxLimitRequestRatio: { cpu: '3', memory: '500m' } }), [
      `${at}.maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000`,
      `${at}.maxLimitRequestRatio[memory]: Invalid value: "500m": ratio 500m is less than 1`,
    ]);
    const gpu = { default: { 'example.com/gpu': '2' }, defaultRequest: { 'example.com/gpu': '1' } };
    limits.checkCreate(range({ type: 'Container', ...gpu }), [
      `${at}.defaultRequest[example.com/gpu]: Invalid value: "1": default value 2 must equal to defaultRequest value 1 in example.com/gpu`,
    ]);
  });
});
