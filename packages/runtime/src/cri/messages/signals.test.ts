import assert from 'node:assert/strict';
import { test } from 'node:test';
import { criSignal, Signal, signalName } from '@podwright/cri';
import { parseStopSignal } from '../../containers/stop-signal.ts';

test('every CRI signal is accepted as a stop signal and reported unchanged', () => {
  const values = Object.values(Signal).filter((value) => typeof value === 'number');
  const twins = new Map([
    [Signal.SIGCLD, Signal.SIGCHLD],
    [Signal.SIGIOT, Signal.SIGABRT],
    [Signal.SIGPOLL, Signal.SIGIO],
  ]);
  for (const value of values.filter((signal) => signal !== Signal.RUNTIME_DEFAULT)) {
    const reported = criSignal(parseStopSignal(signalName(value)));
    assert.equal(twins.get(reported) ?? reported, twins.get(value) ?? value, Signal[value]);
  }
  assert.equal(signalName(Signal.RUNTIME_DEFAULT), '');
});
