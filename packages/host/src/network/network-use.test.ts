import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseInterfaces } from './network-use.ts';

test('the counters of each interface are parsed from the right columns', () => {
  const text = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       2    0    0    0     0          0         0      100       2    0    0    0     0       0          0
  eth0:    2354      31    1    7    0     0          0         0     1876      23    4    9    0     0       0          0
`;
  assert.deepEqual(parseInterfaces(text), [
    {
      name: 'lo',
      rxBytes: 100,
      rxPackets: 2,
      rxErrors: 0,
      rxDropped: 0,
      txBytes: 100,
      txPackets: 2,
      txErrors: 0,
      txDropped: 0,
    },
    {
      name: 'eth0',
      rxBytes: 2354,
      rxPackets: 31,
      rxErrors: 1,
      rxDropped: 7,
      txBytes: 1876,
      txPackets: 23,
      txErrors: 4,
      txDropped: 9,
    },
  ]);
});
