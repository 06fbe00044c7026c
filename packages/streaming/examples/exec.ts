import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { silentLogger } from '@podwright/base';
import { openStreamingServer, runRemoteCommand } from '@podwright/streaming';

// A container runtime's server: each URL is valid once, for a minute.
const server = await openStreamingServer({ address: '127.0.0.1', port: 0, logger: silentLogger });
const url = server.url({
  kind: 'exec',
  choice: { stdin: false, stdout: true, stderr: true, tty: false },
  start: async () => {
    const child = spawn('sh', ['-c', 'echo output; echo problem >&2; exit 3'], { stdio: ['ignore', 'pipe', 'pipe'] });
    return {
      stdin: undefined,
      stdout: child.stdout,
      stderr: child.stderr,
      resize: () => undefined,
      exit: once(child, 'exit').then(([code]) => code ?? 137),
      close: () => child.kill('SIGKILL'),
    };
  },
});

// The client. kubectl, or any other client that speaks SPDY/3.1 or WebSocket, could run the command as well.
const exitCode = await runRemoteCommand({ url }, { stdout: process.stdout, stderr: process.stderr, tty: false });
console.log(`exit code ${exitCode}`);
await server.close();
