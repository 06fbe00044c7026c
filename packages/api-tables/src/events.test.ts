import { test } from 'node:test';
import { ago, checkRow, DAY } from './row-checks.fixture.ts';

const [TWO_DAYS, THREE_DAYS] = [ago(2 * DAY), ago(3 * DAY)];

test('an event shows its times and count, whichever fields are set', () => {
  const check = (event: object, ...[last, first, Count]: [string, string, number]) =>
    checkRow('Event', event, { 'Last Seen': last, 'First Seen': first, Count });
  check({ firstTimestamp: THREE_DAYS, lastTimestamp: TWO_DAYS, count: 6 }, '2d', '3d', 6);
  check({ eventTime: THREE_DAYS, firstTimestamp: null, lastTimestamp: THREE_DAYS, count: 1 }, '3d', '3d', 1);
  check({ firstTimestamp: THREE_DAYS, count: 1 }, '3d', '3d', 1);
  check({ eventTime: THREE_DAYS }, '3d', '3d', 1);
  check({ eventTime: THREE_DAYS, series: { count: 2, lastObservedTime: TWO_DAYS } }, '2d', '3d', 2);
  check({ eventTime: THREE_DAYS, series: null, count: 0 }, '3d', '3d', 1);
  check({}, '<unknown>', '<unknown>', 1);
});

test('an event shows its object, source and message', () => {
  const involvedObject = { kind: 'Deployment', name: 'Some Name', fieldPath: 'spec.containers{foo}' };
  checkRow(
    'Event',
    {
      metadata: { name: 'e' },
      type: 'Warning',
      reason: 'R',
      message: ' M\n',
      involvedObject,
      source: { component: 'kubelet', host: 'n' },
    },
    {
      ...{ Type: 'Warning', Reason: 'R', Object: 'deployment/Some Name', Subobject: 'spec.containers{foo}' },
      ...{ Source: 'kubelet, n', Message: 'M', Name: 'e' },
    },
  );
  checkRow('Event', { involvedObject: { kind: 'Pod' } }, { Object: 'pod', Subobject: '' });
  const checkSource = (event: object, Source: string) => checkRow('Event', event, { Source });
  checkSource({ source: { component: 'kubelet' } }, 'kubelet');
  checkSource({ source: {}, reportingComponent: 'kubelet', reportingInstance: 'test' }, 'kubelet, test');
  checkSource({ source: { component: 'a', host: 'b' }, reportingComponent: 'c', reportingInstance: 'd' }, 'a, b');
});

test('events of events.k8s.io show the same columns', () => {
  checkRow(
    'Event.events.k8s.io',
    {
      ...{ regarding: { kind: 'Pod', name: 'p' }, note: 'N', reportingController: 'c', deprecatedCount: 3 },
      ...{ deprecatedFirstTimestamp: THREE_DAYS, deprecatedLastTimestamp: TWO_DAYS, deprecatedSource: { host: 'h' } },
    },
    { 'Last Seen': '2d', Object: 'pod/p', Source: 'c, h', Message: 'N', 'First Seen': '3d', Count: 3 },
  );
});
