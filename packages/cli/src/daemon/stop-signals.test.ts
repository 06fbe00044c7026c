import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '@podwright/base';
import { onStopSignal } from './stop-signals.ts';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Records which signals stop a daemon and which are logged. */
function receive(context: TestContext, hasTerminal: boolean) {
  const before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));
  context.after(() => {
    for (const [signal, listeners] of before)
      for (const one of process.listeners(signal)) if (!listeners.includes(one)) process.off(signal, one);
  });
  const [stops, logged]: [string[], unknown[]] = [[], []];
  const logger = { ...silentLogger, info: ({ signal }: { signal: string }) => void logged.push(signal) };
  let current = '';
  onStopSignal(logger as typeof silentLogger, () => void stops.push(current), hasTerminal);
  for (const signal of SIGNALS) {
    current = signal;
    process.emit(signal, signal);
  }
  return { stops, logged };
}

test('a daemon on a terminal stops on SIGTERM, SIGINT and SIGHUP, and logs them', (context) => {
  assert.deepEqual(receive(context, true), { stops: [...SIGNALS], logged: [...SIGNALS] });
});

test('a daemon without a terminal, as after nohup, ignores and logs SIGHUP', (context) => {
  assert.deepEqual(receive(context, false), { stops: ['SIGTERM', 'SIGINT'], logged: [...SIGNALS] });
});
