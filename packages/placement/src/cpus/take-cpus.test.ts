import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCpus, parseCpus } from '@podwright/kube-api';
import type { Cpu } from '../topology/machine.ts';
import { takeDistributed } from './distribute-cpus.ts';
import { type TakeRequest, takePacked } from './take-cpus.ts';

/**
 * Thread siblings have IDs that differ by `cores`. With `round`, cores are numbered round-robin across sockets, otherwise socket by socket.
 */
type Shape = { sockets: number; nodes: number; cores: number; threads: number; round?: true; cachesOf?: number };

function machine({ sockets, nodes, cores, threads, round, cachesOf }: Shape): Cpu[] {
  return Array.from({ length: cores * threads }, (_, id) => {
    const core = id % cores;
    const place = (groups: number) => (round ? core % groups : Math.floor(core / (cores / groups)));
    const cache = cachesOf === undefined ? place(sockets) : Math.floor(core / cachesOf);
    return { id, core, socket: place(sockets), node: place(nodes), cache };
  });
}

const ONE_SOCKET = machine({ sockets: 1, nodes: 1, cores: 4, threads: 2 });
const TWO_SOCKETS = machine({ sockets: 2, nodes: 2, cores: 6, threads: 2, round: true });
const TWO_WITHOUT_THREADS = machine({ sockets: 2, nodes: 2, cores: 8, threads: 1 });
const FOUR_NODES = machine({ sockets: 2, nodes: 4, cores: 40, threads: 2 });
const CACHES = machine({ sockets: 1, nodes: 1, cores: 8, threads: 2, cachesOf: 4 });
const CACHES_OF_TWO_SOCKETS = machine({ sockets: 2, nodes: 2, cores: 16, threads: 1, cachesOf: 4 });

type Case = [cpus: Cpu[], available: string, count: number, expected: string | RegExp, more?: Partial<TakeRequest>];

function check(take: (request: TakeRequest) => number[], [cpus, available, count, expected, more]: Case): void {
  const request = { cpus, available: parseCpus(available), count, order: 'packed' as const, byCache: false, ...more };
  if (expected instanceof RegExp) assert.throws(() => take(request), { message: expected });
  else assert.equal(formatCpus(take(request)), expected, `${count} of ${available}`);
}

/** Test cases from upstream's cpu_assignment_test.go, with the same numbering. */
const PACKED: Case[] = [
  [ONE_SOCKET, '1-7', 9, /^not enough cpus available to satisfy request: requested=9, available=7$/],
  [ONE_SOCKET, '0-7', 0, ''],
  [ONE_SOCKET, '0-7', 1, '0'],
  [ONE_SOCKET, '1,3,5-7', 1, '6'],
  [ONE_SOCKET, '0-7', 8, '0-7'],
  [ONE_SOCKET, '0-1,4', 2, '0,4'],
  [TWO_SOCKETS, '1-5,7-11', 1, '2'],
  [TWO_SOCKETS, '0-11', 6, '0,2,4,6,8,10'],
  [TWO_SOCKETS, '0-11', 8, '0-2,4,6-8,10'],
  [TWO_SOCKETS, '1-11', 6, '1,3,5,7,9,11'],
  [TWO_WITHOUT_THREADS, '0-7', 2, '0-1'],
  [FOUR_NODES, '0-79', 64, '0-31,40-71'],
  [ONE_SOCKET, '0-7', 3, '0-2', { order: 'spread' }],
  [TWO_SOCKETS, '0-11', 8, '0-4,6,8,10', { order: 'spread' }],
  [CACHES, '2-3,10-11,4-7,12-15', 6, '4-6,12-14', { byCache: true }],
  [CACHES, '1-7,9-15', 10, '1,4-7,9,12-15', { byCache: true }],
  [CACHES_OF_TWO_SOCKETS, '0-15', 4, '0-3', { byCache: true }],
  [CACHES_OF_TWO_SOCKETS, '2-15', 6, '2-7', { byCache: true }],
];

test('CPUs are taken in whole nodes, sockets and cores as long as enough are requested', () => {
  for (const one of PACKED) check(takePacked, one);
});

test('CPUs are taken evenly from NUMA nodes', () => {
  const all: Case[] = [
    [TWO_SOCKETS, '0-11', 8, '0-3,6-9'],
    [FOUR_NODES, '0-79', 64, '0-7,10-17,20-27,30-37,40-47,50-57,60-67,70-77'],
    [FOUR_NODES, '0-79', 48, '0-7,10-17,20-27,40-47,50-57,60-67'],
    [FOUR_NODES, '2-29,31-39,42-69,71-79', 48, '10-17,20-27,31-38,50-57,60-67,71-78'],
    [FOUR_NODES, '0-2,10-12,20-22,30-32,40-41,50-51,60-61,70-71', 16, '0-1,10-11,20-21,30-31,40-41,50-51,60-61,70-71'],
    [FOUR_NODES, '0-3', 5, /^not enough cpus available/],
  ];
  for (const one of all) check((request) => takeDistributed({ ...request, groupSize: 1 }), one);
  check((request) => takeDistributed({ ...request, groupSize: 2 }), [TWO_SOCKETS, '0-11', 3, '0,2,6']);
  check((request) => takeDistributed({ ...request, groupSize: 2 }), [TWO_SOCKETS, '0-11', 4, '0,2,6,8']);
});

test('CPU lists have the kernel’s format', () => {
  const lists: [text: string, cpus: number[], written?: string][] = [
    ['', []],
    ['0', [0]],
    ['0-3', [0, 1, 2, 3]],
    ['5,1-2,2', [1, 2, 5], '1-2,5'],
  ];
  for (const [text, cpus, written = text] of lists) {
    assert.deepEqual(parseCpus(text), cpus);
    assert.equal(formatCpus(cpus), written);
  }
  for (const wrong of ['a', '1-', '3-1', '1,,2', '0-99999', '-1'])
    assert.throws(() => parseCpus(wrong), /is not a list/);
});
