import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { writeNow } from './write-now.ts';

test('a written chunk has been sent when the call returns', async (t) => {
  const unsent: number[] = [];
  const server = createServer((_request, response) => {
    response.flushHeaders();
    for (const line of ['one\n', 'two\n']) {
      assert.equal(writeNow(response, Buffer.from(line)), true);
      unsent.push(response.socket!.writableLength);
    }
    response.end();
  });
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const [answer] = (await once(get({ host: '127.0.0.1', port, agent: false }), 'response')) as [IncomingMessage];
  assert.equal(await text(answer), 'one\ntwo\n');
  assert.deepEqual(unsent, [0, 0]);
});
