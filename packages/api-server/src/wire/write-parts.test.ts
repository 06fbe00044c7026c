import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { PROTOCOLS, serveExchanges } from './served-exchange.fixture.ts';
import { writeGzipped, writeParts } from './write-parts.ts';

const RANDOM = randomBytes(40_000);

for (const protocol of PROTOCOLS)
  for (const write of [writeParts, writeGzipped])
    test(`${write.name} takes no more parts than a client over ${protocol} reads, and ends when it disconnects`, async () => {
      let taken = 0;
      const { promise: result, resolve } = Promise.withResolvers<boolean>();
      const parts = {
        *[Symbol.iterator]() {
          for (; taken < 1000; taken++) yield RANDOM;
        },
      } as unknown as Uint8Array[];
      await using server = await serveExchanges(protocol, async ({ response, signal }) => {
        response.writeHead(200, {});
        resolve(write(response, parts, signal));
      });
      const { body, close } = await server.open({});
      body.pause().on('error', () => undefined);
      for (let before = -1; taken !== before; ) {
        before = taken;
        await new Promise((wait) => setTimeout(wait, 100));
      }
      assert.ok(taken > 0 && taken < 500, `took ${taken} parts of 40 kB`);
      close();
      assert.equal(await result, false);
    });
