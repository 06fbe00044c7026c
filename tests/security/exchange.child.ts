/**
 * Keeps exchanging the directories d0… with the links l0… in a directory (renameat2(2)), as a container that holds a file descriptor of the
 * directory can: `exchange.child.ts DIRECTORY`. Prints a line once it has started, and exits when all of them are gone.
 */
import { openSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The runtime's foreign function interface. */
const koffi = createRequire(new URL('../../packages/runtime/package.json', import.meta.url))('koffi');

const RENAME_EXCHANGE = 2;
const renameat2 = koffi
  .load('libc.so.6')
  .func('int renameat2(int from, const char *old, int to, const char *new, unsigned int flags)');
const directory = openSync(process.argv[2]!, 'r');
const exchange = (index: number) => renameat2(directory, `d${index}`, directory, `l${index}`, RENAME_EXCHANGE) === 0;

for (let round = 0, lost = 0; lost < 5000; round++) {
  lost = [0, 1, 2].map(exchange).includes(true) ? 0 : lost + 1;
  if (round === 0) process.stdout.write('exchanging\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0.2);
}
