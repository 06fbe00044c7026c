import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { listeningPorts, readListeners } from './listening-ports.ts';

const TABLE = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2 1 0 100 0 0 10 0
   2: 010011AC:1F90 020011AC:C350 01 00000000:00000000 00:00000000 00000000     0        0 3 1 0 100 0 0 10 0
`;
const TABLE_6 = `  sl  local_address                         remote_address                        st
   0: B80D0120000000000000000001000000:0016 00000000000000000000000000000000:0000 0A
   1: 0000000000000000FFFF00000100007F:0050 00000000000000000000000000000000:0000 0A
   2: 0000000000000000FFFF000000000000:1F90 00000000000000000000000000000000:0000 0A
`;

test('sockets listening on all addresses, or on a given one, occupy their ports', () => {
  const ports = (table: string, ...addresses: string[]) => [...listeningPorts(table, { state: '0A', addresses })];
  assert.deepEqual(ports(TABLE), [22]);
  assert.deepEqual(ports(TABLE, '192.0.2.1', '172.17.0.1'), [22]);
  assert.deepEqual(ports(TABLE, '192.0.2.1', '127.0.0.1'), [22, 80]);
  assert.deepEqual(ports(TABLE_6, '2001:db8::1'), [22, 8080]);
  assert.deepEqual(ports(TABLE_6, '127.0.0.1'), [80, 8080]);
  assert.deepEqual(ports(TABLE_6, '::2', '127.0.0.2'), [8080]);
});

test('the sockets of this host are listed', async () => {
  const server = createServer();
  const listen = (host: string) => new Promise<void>((resolve) => server.listen(0, host, resolve));
  const close = () => new Promise((resolve) => server.close(resolve));
  await listen('0.0.0.0');
  const { port } = server.address() as { port: number };
  const isListening = readListeners([]);
  assert.deepEqual([isListening(port, 'TCP'), isListening(port, 'SCTP')], [true, false]);
  await close();
  assert.equal(readListeners([])(port, 'TCP'), false);
  await listen('127.0.0.1');
  const { port: own } = server.address() as { port: number };
  assert.equal(readListeners(['127.0.0.1'])(own, 'TCP'), true);
  await close();
});
