/** Node's timers fire after 1 ms if the delay is 2^31 ms or more, so user-defined delays require the `Timer` in packages/base. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read, shipped } from './source-tree.ts';

/** Delays passed to timers that do not depend on settings or requests: the expressions, by file. */
const OWN_DELAYS: Record<string, string[]> = {
  'packages/host/src/files/checkpoint.ts': ['delayMs'],
  'packages/base/src/cached-reading.ts': ['this.#times.refreshMs'],
  'packages/base/src/deadline.ts': ['leftMs'], // the Timer for delays of any length
  'packages/base/src/host-lookup.ts': ['this.#queueTimeoutMs'],
  'packages/base/src/keyed-lock.ts': ['this.#patienceMs'],
  'packages/base/src/later.ts': ['this.#delayMs'],
  'packages/cli/src/run/start-patience.ts': ['intervalMs'],
  'packages/cri/src/otlp/span-exporter.ts': ['delayMs'],
  'packages/grpc/src/server/listeners.ts': ['graceMs'],
  'packages/host/src/files/trash.ts': ['this.#turnMs'],
  'packages/images/src/pull/failed-pulls.ts': ['this.#options.retentionMs'],
  'packages/kube-client/src/informing/first-objects.ts': ['silenceMs'],
  'packages/kube-client/src/transport/http2-connection.ts': ['timeoutMs', 'afterMs / 2'],
  'packages/volumes/src/api-objects/within.ts': ['timeoutMs'],
  'packages/kubelet/src/api-pods/mirror-pods.ts': ["this.#backoff.next('')"],
  'packages/kubelet/src/api-pods/status-sync.ts': ['holdMs', 'this.#outage.next(OUTAGE)'],
  'packages/placement/src/plugins/plugin-watcher.ts': ['periodMs'],
  'packages/kubelet/src/eviction/measure-pods.ts': ['ms'],
  'packages/kubelet/src/stats/frozen-stats.ts': ['timeoutMs'],
  'packages/kubelet/src/status/status-records.ts': ['delayMs'],
  'packages/runtime/src/sandbox/ready-sandboxes.ts': ['delayMs'],
  'packages/runtime/src/sandbox/shim-sandbox.ts': ['graceMs', 'graceMs'],
};

/** Returns a call's arguments, given the position of its opening parenthesis. */
function argumentsAt(source: string, start: number): string[] {
  const found = [''];
  let depth = 0;
  for (const character of source.slice(start)) {
    if (')]}'.includes(character)) depth--;
    if (depth === 0 && found[0] !== '') break;
    if (character === ',' && depth === 1) found.push('');
    else if (depth > 0) found[found.length - 1] += character;
    if ('([{'.includes(character)) depth++;
  }
  return found.map((argument) => argument.trim()).filter((argument) => argument !== '');
}

/** Returns the delays that a file passes to timers, except literals, named constants and bounded expressions. */
function delaysOf(path: string): string[] {
  const source = read(path).replace(/^\s*(\*|\/\/|\/\*).*$/gm, '');
  const calls = source.matchAll(/(?<![.\w#])(setTimeout|setInterval|AbortSignal\.timeout)\(/g);
  return [...calls].flatMap(({ 0: call, index }) => {
    const given = argumentsAt(source, index + call.length - 1);
    const delay = (call.startsWith('AbortSignal') ? given[0] : given[1]) ?? '0';
    return /^[\d_]+$|\b[A-Z][A-Z\d]*_[A-Z\d_]+\b/.test(delay) ? [] : [delay];
  });
}

test('no unbounded user-specified delay is passed to a Node.js timer', () => {
  const found = shipped.map((path) => [path, delaysOf(path)] as const).filter(([, delays]) => delays.length > 0);
  assert.deepEqual(Object.fromEntries(found.filter(([path]) => !path.includes('.fixture.'))), OWN_DELAYS);
});
