import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, test } from 'node:test';
import { type Logger, PodwrightError, silentLogger } from '@podwright/base';
import type { ProgramStarter, StartedProgram } from '@podwright/host';
import { loadSystem } from '@podwright/system';
import type { ExecRequest } from './exec-process.ts';
import { execSync } from './exec-process.ts';
import { execStream } from './exec-stream.ts';

const directory = mkdtempSync(join(tmpdir(), 'exec-kill-'));
after(() => rmSync(directory, { recursive: true }));
const system = loadSystem();
const config = join(directory, 'config.json');
writeFileSync(config, JSON.stringify({ process: { args: [] } }));

/** a PID above the kernel's maximum, so that no process has it */
const PID = 4194305;

/** A fake OCI runtime process that has started a command but cannot be killed: reading its own PID throws. */
function unkillable(pidFile: string) {
  const stdio = [new PassThrough(), new PassThrough(), new PassThrough()];
  const child = Object.assign(new EventEmitter(), { exitCode: null, signalCode: null, stdio, kill: () => false });
  Object.defineProperty(child, 'pid', {
    get: () => {
      throw new Error('too many open files');
    },
  });
  const start: ProgramStarter = () => {
    writeFileSync(pidFile, String(PID));
    return child as unknown as StartedProgram;
  };
  const end = () => {
    for (const stream of stdio) stream.destroy();
    child.emit('exit', 9, null);
  };
  return { start, end };
}

for (const [name, run] of [
  ['stream', (request: ExecRequest, signal: AbortSignal) => execStream(request, { terminal: undefined, signal })],
  ['sync', (request: ExecRequest, signal: AbortSignal) => execSync(request, { signal })],
] as const)
  test(`a command that cannot be killed is logged with its pid (${name})`, async () => {
    const logged = Promise.withResolvers<object>();
    const logger: Logger = { ...silentLogger, error: (fields) => logged.resolve(fields) };
    const pidFile = join(directory, name);
    const { start, end } = unkillable(pidFile);
    const runtime = { name: 'runc', path: 'runc', root: directory };
    const caller = new AbortController();
    const request = { start, runtime, pidFile, id: 'a', command: ['sleep'], config, system, logger };
    const running = run(request, caller.signal).catch((error) => error);
    caller.abort(new PodwrightError('cancelled', 'the client has disconnected'));
    // the OCI runtime exits while the PID of its process is being awaited; otherwise, that wait would take ten seconds
    setImmediate(end);
    assert.deepEqual(await logged.promise, { exec: 'run "sleep" in task a', pid: PID, error: 'too many open files' });
    await running;
  });
