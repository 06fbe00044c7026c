/** For tests of failed starts: makes each component of a graph fail, and finds leaked resources. */
import assert from 'node:assert/strict';
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor, withTimeout } from './deadline.ts';
import type { GraphPart, GraphParts } from './start-graph.ts';

/** Returns a graph whose component `name` fails right after starting, so that everything it acquired must be released. */
export function failingAfter<Parts>(graph: GraphParts<Parts>, name: keyof Parts & string): GraphParts<Parts> {
  const part: GraphPart<Parts, typeof name> = graph[name];
  const start: typeof part.start = async (...given) => {
    await part.start(...given);
    throw new Error(`${name} fails`);
  };
  return { ...graph, [name]: { ...part, start } };
}

/** Returns the servers, sockets, watches and timers that keep the process alive, and the open files and sockets. */
export function openResources(): string[] {
  const handles = process.getActiveResourcesInfo().filter((kind) => !kind.startsWith('FSReq') && kind !== 'Immediate');
  const files = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`).replace(/\d+/g, 'N')];
    } catch {
      return []; // the entry is the descriptor of this listing, which is closed by now
    }
  });
  // exclude libuv's inotify instance: all watches share it, and it stays open
  return [...handles, ...files.filter((file) => file !== 'anon_inode:inotify')].sort();
}

/** Waits until every resource that is not in `before` has been released, and asserts that no sockets remain under `directory`. */
export async function assertNothingLeft(directory: string, before: string[]): Promise<void> {
  const left = () => without(openResources(), before);
  try {
    using signal = withTimeout(undefined, 5000, 'end everything');
    await waitFor(() => without(left(), ['Timeout']).length === 0 || undefined, { intervalMs: 10, signal });
  } catch {
    assert.deepEqual(left(), []);
  }
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    names.filter((name) => statSync(join(directory, name)).isSocket()),
    [],
  );
}

/** Returns `list` without `others`: each entry of `others` removes only one equal entry. */
function without(list: string[], others: string[]): string[] {
  const rest = [...others];
  return list.filter((one) => {
    const index = rest.indexOf(one);
    if (index >= 0) rest.splice(index, 1);
    return index < 0;
  });
}
