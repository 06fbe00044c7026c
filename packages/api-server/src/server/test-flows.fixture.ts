import { FlowControl } from '@podwright/flow-control';
import { MASTERS } from '@podwright/kube-kinds';

const ALL = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] };
const ANYTHING = { resourceRules: [ALL], nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }] };

/**
 * Returns a flow control with `seats` for all users except administrators. Each user may have up to half of the seats and `waiting` queued
 * requests.
 */
export function testFlows(seats: number, waiting = 0): FlowControl {
  const control = new FlowControl({ seats });
  const queuing = { queues: 64, handSize: 1, queueLengthLimit: waiting };
  const limited = { nominalConcurrencyShares: 1_000_000, limitResponse: { type: 'Queue', queuing } };
  const subjects = [{ kind: 'User', user: { name: '*' } }];
  const schema = {
    metadata: { name: 'test', uid: 'uid-of-schema' },
    spec: {
      priorityLevelConfiguration: { name: 'test' },
      matchingPrecedence: 2,
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects, ...ANYTHING }],
    },
  };
  const exempt = {
    metadata: { name: 'exempt', uid: 'uid-of-exempt' },
    spec: {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 1,
      rules: [{ subjects: [{ kind: 'Group', group: { name: MASTERS } }], ...ANYTHING }],
    },
  };
  const level = { metadata: { name: 'test', uid: 'uid-of-level' }, spec: { type: 'Limited', limited } };
  control.configure([schema, exempt], [level]);
  return control;
}
