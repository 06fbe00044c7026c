import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fake Engine: a Unix socket served by the test itself. */
export type FakeEngine = AsyncDisposable & { socket: string };

export async function startFakeEngine(answer: RequestListener): Promise<FakeEngine> {
  const scratch = mkdtempSync(join(tmpdir(), 'pwd-fake-'));
  const socket = join(scratch, 's');
  const server = createServer(answer).listen(socket);
  await once(server, 'listening');
  return {
    socket,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      rmSync(scratch, { recursive: true });
    },
  };
}
