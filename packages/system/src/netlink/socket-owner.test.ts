import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { waitFor } from '@podwright/base';
import { SocketOwners } from './socket-owner.ts';

/** Opens a loopback connection from this process to itself. */
async function connection(t: TestContext, { listen, to }: { listen: string; to: string }) {
  const server = createServer({ allowHalfOpen: true }).listen(0, listen);
  t.after(() => server.close());
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, to);
  t.after(() => client.destroy());
  const [accepted] = (await once(server, 'connection')) as [Socket];
  t.after(() => accepted.destroy());
  return { client, accepted };
}

test('a local connection belongs to the user who opened it until the client closes it', async (t) => {
  const owners = new SocketOwners();
  const user = process.getuid!();
  for (const addresses of [
    { listen: '127.0.0.1', to: '127.0.0.1' },
    { listen: '::1', to: '::1' },
    { listen: '::', to: '127.0.0.1' },
  ]) {
    const { client, accepted } = await connection(t, addresses);
    assert.equal(owners.userOf(accepted), user, JSON.stringify(addresses));
    assert.equal(owners.userOf(accepted), user, 'each answer is read');
    const { localAddress, localPort, remoteAddress, remotePort } = accepted;
    client.destroy();
    const ends = { localAddress, localPort, remoteAddress, remotePort };
    const hasNoOwner = () => owners.userOf(ends) === undefined || undefined;
    await waitFor(hasNoOwner, { intervalMs: 1, signal: AbortSignal.timeout(3000) });
  }
});

test('a remote connection has no user', () => {
  const owners = new SocketOwners();
  const here = { localAddress: '127.0.0.1', localPort: 10250 };
  assert.equal(owners.userOf({ ...here, remoteAddress: '192.0.2.1', remotePort: 1000 }), undefined);
  assert.equal(owners.userOf({ ...here, remoteAddress: 'fe80::1%lo', remotePort: 1000 }), undefined);
  assert.equal(owners.userOf({ ...here, remoteAddress: undefined, remotePort: undefined }), undefined);
});
