import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { metricsText, Registry } from '@podwright/base';
import type { ApiObject } from '@podwright/kube-kinds';
import { mandatoryFlowObjects, suggestedFlowObjects } from './bootstrap-flows.ts';
import { FlowControl, FlowRefused } from './flow-control.ts';
import { FlowMetrics } from './flow-metrics.ts';
import type { FlowRequest } from './flow-request.ts';

const RESOURCES = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }];
const REFUSED = { message: 'Too many requests, please try again later.' };
const signal = new AbortController().signal;

const info = (given: Partial<FlowRequest['info']> = {}): FlowRequest['info'] => ({
  ...{ isResourceRequest: true, path: '', verb: 'get', apiGroup: '', resource: 'pods', subresource: '' },
  namespace: 'n',
  ...given,
});

const request = (username: string, groups: string[], given: Partial<FlowRequest['info']> = {}): FlowRequest => ({
  user: { username, groups: [...groups, 'system:authenticated'] },
  caller: username,
  info: info(given),
});

const level = (name: string, limited: object): ApiObject => ({
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'PriorityLevelConfiguration',
  metadata: { name, uid: `uid-${name}` },
  spec: { type: 'Limited', limited },
});

const schema = (name: string, spec: object): ApiObject => ({
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'FlowSchema',
  metadata: { name, uid: `uid-${name}` },
  spec: {
    priorityLevelConfiguration: { name },
    matchingPrecedence: 10,
    distinguisherMethod: { type: 'ByUser' },
    rules: [
      {
        subjects: [{ kind: 'User', user: { name: '*' } }],
        resourceRules: RESOURCES,
      },
    ],
    ...spec,
  },
});

/** A flow control with a single priority level for all requests, which has practically all of its seats. */
function small(limitResponse: object, seats = 4) {
  const registry = new Registry();
  const control = new FlowControl({ seats, observer: new FlowMetrics(registry) });
  control.configure([schema('all', {})], [level('all', { nominalConcurrencyShares: 1_000_000, limitResponse })]);
  const enter = (username: string, { maxWaitMs = 60_000, given = signal } = {}) =>
    control.enter(control.classify(request(username, [])), { maxWaitMs, signal: given });
  const metric = async (name: string) => {
    const text = await metricsText(registry, (one) => one === `apiserver_flowcontrol_${name}`);
    return text.split('\n').filter((line) => line.startsWith('apiserver'));
  };
  /** Returns a histogram's observation counts as `LABEL COUNT`, where `LABEL` is the value of its last label. */
  const counts = async (name: string) => {
    const lines = (await metric(name)).filter((line) => line.includes('_count{'));
    return lines.map((line) => /="([^"]*)"\} (\d+)$/.exec(line)!.slice(1).join(' ')).sort();
  };
  return { control, enter, metric, counts };
}

suite('classification', () => {
  test('requests to a new cluster get the same schema, level and flow as upstream', () => {
    const control = new FlowControl();
    const [mandatory, suggested] = [mandatoryFlowObjects(), suggestedFlowObjects()];
    control.configure([...mandatory.schemas, ...suggested.schemas], [...mandatory.levels, ...suggested.levels]);
    const check = (one: FlowRequest, schema: string, level: string, flow: string) => {
      const found = control.classify(one);
      assert.deepEqual([found.schema.name, found.level.name, found.flow], [schema, level, `${schema}\0${flow}`]);
    };
    check(request('admin', ['system:masters']), 'exempt', 'exempt', '');
    const probe = { isResourceRequest: false, path: '/livez/ping', namespace: '' };
    check(request('alice', [], probe), 'probes', 'exempt', '');
    const lease = { apiGroup: 'coordination.k8s.io', resource: 'leases', verb: 'update' };
    const node = 'system:node:n';
    check(request(node, ['system:nodes'], lease), 'system-node-high', 'node-high', node);
    check(request(node, ['system:nodes']), 'system-nodes', 'system', node);
    const manager = 'system:kube-controller-manager';
    check(request(manager, [], lease), 'system-leader-election', 'leader-election', manager);
    check(request(manager, []), 'kube-controller-manager', 'workload-high', 'n');
    check(request('system:kube-scheduler', []), 'kube-scheduler', 'workload-high', 'n');
    const dns = 'system:serviceaccount:kube-system:dns';
    check(request(dns, ['system:serviceaccounts']), 'kube-system-service-accounts', 'workload-high', 'n');
    const account = 'system:serviceaccount:shop:a';
    check(request(account, ['system:serviceaccounts']), 'service-accounts', 'workload-low', account);
    check(request('alice', []), 'global-default', 'global-default', 'alice');
  });

  test('without objects, or for users in no group, the mandatory ones apply', () => {
    const control = new FlowControl();
    const one = control.classify({ user: { username: 'x', groups: [] }, caller: 'x', info: info() });
    assert.deepEqual(
      [one.schema.name, one.level.name, one.schema.uid, one.isExempt],
      ['catch-all', 'catch-all', '', false],
    );
    assert.ok(control.classify(request('root', ['system:masters'])).isExempt);
  });

  test('schemas apply by precedence, then by name, and not if their level does not exist', () => {
    const { control } = small({ type: 'Reject' });
    const classify = () => control.classify(request('alice', [])).schema.name;
    const levels = [level('all', { limitResponse: { type: 'Reject' } })];
    const to = (name: string) => ({ priorityLevelConfiguration: { name } });
    control.configure([schema('b', to('all')), schema('a', to('all'))], levels);
    assert.equal(classify(), 'a');
    control.configure([schema('b', { ...to('all'), matchingPrecedence: 9 }), schema('a', to('all'))], levels);
    assert.equal(classify(), 'b');
    control.configure([schema('b', to('all')), schema('a', to('none'))], levels);
    assert.equal(classify(), 'b');
    control.configure([], levels);
    assert.equal(classify(), 'catch-all');
  });
});

suite('seats', () => {
  test('a level of type Reject rejects requests if no seat is free, with a retry time', async () => {
    const { enter, metric, counts } = small({ type: 'Reject' }, 2);
    const [first] = await Promise.all([enter('a'), enter('b')]);
    await assert.rejects(enter('c'), (error) => error instanceof FlowRefused && error.retryAfterSeconds === 1);
    first![Symbol.dispose]();
    await enter('c');
    const labels = 'priority_level="all",flow_schema="all"';
    assert.deepEqual(await metric('rejected_requests_total'), [
      `apiserver_flowcontrol_rejected_requests_total{${labels},reason="concurrency-limit"} 1`,
    ]);
    assert.deepEqual(await metric('current_executing_requests'), [
      `apiserver_flowcontrol_current_executing_requests{${labels}} 2`,
    ]);
    assert.deepEqual(await metric('dispatched_requests_total'), [
      `apiserver_flowcontrol_dispatched_requests_total{${labels}} 3`,
    ]);
    assert.deepEqual(await counts('request_wait_duration_seconds'), ['false 1', 'true 3']);
    assert.deepEqual(await counts('request_queue_length_after_enqueue'), []);
    assert.ok(
      (await metric('nominal_limit_seats')).includes(
        'apiserver_flowcontrol_nominal_limit_seats{priority_level="all"} 2',
      ),
    );
  });

  test('requests are queued until a seat is free, they time out, or the client disconnects', async () => {
    const queuing = { queues: 1, handSize: 1, queueLengthLimit: 2 };
    const { enter, metric, counts } = small({ type: 'Queue', queuing }, 1);
    const first = await enter('a');
    const waiting = enter('b');
    await assert.rejects(enter('c', { maxWaitMs: 1 }), REFUSED);
    const client = new AbortController();
    const disconnected = enter('d', { given: client.signal });
    await assert.rejects(enter('e'), REFUSED);
    client.abort(new Error('disconnected'));
    await assert.rejects(disconnected, { message: 'disconnected' });
    first[Symbol.dispose]();
    (await waiting)[Symbol.dispose]();
    const reasons = (await metric('rejected_requests_total')).map((line) => /reason="(.*?)"/.exec(line)![1]);
    assert.deepEqual(reasons.sort(), ['cancelled', 'queue-full', 'time-out']);
    assert.deepEqual(await counts('request_wait_duration_seconds'), ['false 3', 'true 2']);
    assert.deepEqual(await counts('request_queue_length_after_enqueue'), ['all 4']);
    const [inQueue] = await metric('current_inqueue_requests');
    assert.match(inQueue!, / 0$/);
  });

  test('exempt requests neither wait nor take seats', async () => {
    const { control, enter } = small({ type: 'Reject' }, 1);
    const root = control.classify(request('root', ['system:masters']));
    await Promise.all([1, 2, 3].map(() => control.enter(root, { maxWaitMs: 0, signal })));
    await enter('a');
  });

  test('requests queued in a removed level still get its seats', async () => {
    const queuing = { queues: 1, handSize: 1, queueLengthLimit: 9 };
    const { control, enter } = small({ type: 'Queue', queuing }, 1);
    const first = await enter('a');
    const waiting = enter('b');
    control.configure([], []);
    first[Symbol.dispose]();
    await waiting;
  });

  test('a level lends seats that its requests do not need', async () => {
    let nowMs = 0;
    const control = new FlowControl({ seats: 10, nowMs: () => nowMs });
    const limited = { nominalConcurrencyShares: 1_000_000, limitResponse: { type: 'Reject' } };
    const user = (name: string) => ({
      rules: [{ subjects: [{ kind: 'User', user: { name } }], resourceRules: RESOURCES }],
    });
    const levels = ['lender', 'borrower'].map((name) => level(name, { ...limited, lendablePercent: 50 }));
    control.configure(
      ['lender', 'borrower'].map((name) => schema(name, user(name))),
      levels,
    );
    const enter = (name: string) => control.enter(control.classify(request(name, [])), { maxWaitMs: 0, signal });
    const fill = async (name: string) => {
      for (let count = 0; ; count++) if ((await enter(name).catch(() => undefined)) === undefined) return count;
    };
    const adjust = () => {
      nowMs += 10_000;
      control.adjustSeats();
    };
    assert.equal(await fill('borrower'), 4);
    adjust();
    assert.equal(await fill('borrower'), 2, 'more than its five nominal seats');
    adjust();
    assert.equal(await fill('borrower'), 1);
    assert.equal(await fill('lender'), 2, 'the seats that it never lends');
  });

  test('the seats of a new cluster match upstream', async () => {
    const registry = new Registry();
    const control = new FlowControl({ observer: new FlowMetrics(registry) });
    control.configure([], suggestedFlowObjects().levels);
    const text = await metricsText(registry, (name) => name.endsWith('nominal_limit_seats'));
    const seats = [...text.matchAll(/priority_level="(.*?)"\} (\d+)/g)].map(([, name, count]) => `${name} ${count}`);
    assert.deepEqual(seats.sort(), [
      'catch-all 13',
      'exempt 0',
      'global-default 49',
      'leader-election 25',
      'node-high 98',
      'system 74',
      'workload-high 98',
      'workload-low 245',
    ]);
  });
});
