import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeThresholds, NOTHING_MET } from './judge-thresholds.ts';
import type { Observation } from './observed-signals.ts';
import type { Signal } from './signals.ts';
import { type ThresholdSettings, thresholdsOf } from './thresholds.ts';

/**
 * Returns a node with the given thresholds, whose signals are observed as percentages. `at` evaluates the thresholds at a time in seconds
 * and returns `CONDITIONS | PRESSING`.
 */
function nodeWith(settings: Partial<ThresholdSettings>, transitionMs = 60_000) {
  const all = { hard: {}, soft: {}, softGracePeriod: {}, minimumReclaim: {}, ...settings };
  const thresholds = thresholdsOf(all, { areHeldToAllocatable: false });
  let memory = NOTHING_MET;
  return {
    at: (seconds: number, available: Partial<Record<Signal, number>>) => {
      const observed = Object.entries(available).map(([signal, amount]): [Signal, Observation] => {
        return [signal as Signal, { available: BigInt(amount), capacity: 100n, atMs: 0 }];
      });
      const input = { thresholds, observations: new Map(observed), nowMs: seconds * 1000, transitionMs };
      const judged = judgeThresholds(memory, input);
      memory = judged.memory;
      return `${judged.conditions.join(' ')} | ${judged.pressing.map(({ signal }) => signal).join(' ')}`;
    },
  };
}

test('a hard threshold evicts immediately, and its condition lasts for the transition period', () => {
  const node = nodeWith({ hard: { 'nodefs.available': '10%' } });
  assert.equal(node.at(0, { 'nodefs.available': 10 }), ' | ');
  assert.equal(node.at(10, { 'nodefs.available': 9 }), 'DiskPressure | nodefs.available');
  assert.equal(node.at(20, { 'nodefs.available': 10 }), 'DiskPressure | ');
  assert.equal(node.at(69, { 'nodefs.available': 50 }), 'DiskPressure | ');
  assert.equal(node.at(70, { 'nodefs.available': 50 }), ' | ');
});

test('without a transition period, a condition lasts as long as its threshold is met', () => {
  const node = nodeWith({ hard: { 'nodefs.available': '10%' } }, 0);
  assert.equal(node.at(10, { 'nodefs.available': 9 }), 'DiskPressure | nodefs.available');
  assert.equal(node.at(20, { 'nodefs.available': 10 }), ' | ');
});

test('a soft threshold sets its condition immediately, and evicts after an uninterrupted grace period', () => {
  const node = nodeWith({ soft: { 'memory.available': '20' }, softGracePeriod: { 'memory.available': '30s' } });
  assert.equal(node.at(0, { 'memory.available': 19 }), 'MemoryPressure | ');
  assert.equal(node.at(20, { 'memory.available': 20 }), 'MemoryPressure | ');
  assert.equal(node.at(25, { 'memory.available': 19 }), 'MemoryPressure | ');
  assert.equal(node.at(54, { 'memory.available': 19 }), 'MemoryPressure | ');
  assert.equal(node.at(55, { 'memory.available': 19 }), 'MemoryPressure | memory.available');
});

test('a threshold keeps evicting until its minimum reclaim is free', () => {
  const node = nodeWith({ hard: { 'nodefs.available': '10%' }, minimumReclaim: { 'nodefs.available': '5' } });
  assert.equal(node.at(0, { 'nodefs.available': 14 }), ' | ');
  assert.equal(node.at(10, { 'nodefs.available': 9 }), 'DiskPressure | nodefs.available');
  assert.equal(node.at(20, { 'nodefs.available': 14 }), 'DiskPressure | nodefs.available');
  assert.equal(node.at(30, { 'nodefs.available': 15 }), 'DiskPressure | ');
  assert.equal(node.at(40, { 'nodefs.available': 14 }), 'DiskPressure | ');
});

test('memory comes first, and signals without an observation are not under pressure', () => {
  const node = nodeWith({ hard: { 'pid.available': '10', 'nodefs.inodesFree': '10', 'memory.available': '10' } });
  const all = { 'pid.available': 1, 'nodefs.inodesFree': 1, 'memory.available': 1 };
  const conditions = 'PIDPressure DiskPressure MemoryPressure';
  assert.equal(node.at(0, all), `${conditions} | memory.available pid.available nodefs.inodesFree`);
  assert.equal(node.at(100, {}), ' | ');
});
