import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { hasListener, isListening } from './listening-ports.ts';

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2 1 0 100 0 0 10 0
   2: 010011AC:1F90 020011AC:C350 01 00000000:00000000 00:00000000 00000000     0        0 3 1 0 100 0 0 10 0
`;

test('sockets that listen at all addresses, or at one of those, hold their port', () => {
  const has = (port: number, ...addresses: string[]) => hasListener(TABLE, { port, state: '0A', addresses });
  assert.deepEqual([has(22), has(80, '192.0.2.1'), has(8080, '172.17.0.1'), has(23)], [true, false, false, false]);
  assert.equal(has(80, '192.0.2.1', '127.0.0.1'), true);
});

test('the sockets of this host are read', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as { port: number };
  assert.equal(isListening(port, 'TCP', []), true);
  assert.equal(isListening(port, 'SCTP', []), false);
  await new Promise((resolve) => server.close(resolve));
  assert.equal(isListening(port, 'TCP', []), false);
});
