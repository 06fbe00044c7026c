/**
 * Moves files out of the way of each measurement: `move-files.child.ts DIRECTORY BYTES`. Creates four directories in DIRECTORY. The second
 * and the fourth visited by a measurement contain many others, to gain time to react. Whenever a measurement has left the first one,
 * exchanges the empty directory in it with the full one in the third (renameat2(2), inotify(7)); when it has left the third one, exchanges
 * them back. Prints a line once it has started. Writes until the disk is full if BYTES is not a number.
 */
import { closeSync, mkdirSync, opendirSync, openSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The runtime's foreign function interface. */
const koffi = createRequire(new URL('../../packages/runtime/package.json', import.meta.url))('koffi');

const RENAME_EXCHANGE = 2;
const CLOSE_NOWRITE = 0x10;
const AT_FDCWD = -100;
/** Maximum time that a measurement takes from the first to the last directory. */
const PATIENCE_MS = 2000;
const POLLIN = 1;

const libc = koffi.load('libc.so.6');
const renameat2 = libc.func('int renameat2(int from, const char *old, int to, const char *new, unsigned int flags)');
const inotifyInit = libc.func('int inotify_init1(int flags)');
const addWatch = libc.func('int inotify_add_watch(int fd, const char *path, uint32_t mask)');
const read = libc.func('long read(int fd, _Out_ uint8_t *buffer, size_t count)');
const poll = libc.func('int poll(_Inout_ int *fds, unsigned long count, int timeout)');

const [, , top, amount] = process.argv;
process.chdir(top!);
for (const name of ['a', 'b', 'c', 'd']) mkdirSync(name);
const listed = opendirSync('.');
// a measurement visits the directory that is listed last first
const [tail, home, middle, hide] = [1, 2, 3, 4].map(() => listed.readSync()!.name);
listed.closeSync();
for (const name of [tail, middle]) for (let n = 0; n < 200; n++) mkdirSync(join(name!, String(n)));
for (const name of [home, hide]) mkdirSync(join(name!, 'x'));

const events = inotifyInit(0);
const [ofHome, ofHide] = [home, hide].map((name) => addWatch(events, name, CLOSE_NOWRITE));
let isHidden = false;
const exchange = () => {
  renameat2(AT_FDCWD, join(home!, 'x'), AT_FDCWD, join(hide!, 'x'), RENAME_EXCHANGE);
  isHidden = !isHidden;
};

/**
 * Returns the directories that a measurement has left since the last call. Skips events that have a name, because they concern a
 * subdirectory.
 */
function left(timeoutMs: number): number[] {
  const asked = Buffer.alloc(8);
  asked.writeInt32LE(events);
  asked.writeInt16LE(POLLIN, 4);
  if (poll(asked, 1, timeoutMs) === 0) return [];
  const buffer = Buffer.alloc(65_536);
  const size = Number(read(events, buffer, buffer.length));
  const found: number[] = [];
  for (let at = 0; at < size; at += 16 + buffer.readUInt32LE(at + 12))
    if (buffer.readUInt32LE(at + 12) === 0) found.push(buffer.readInt32LE(at));
  return found;
}

const file = openSync(join(home!, 'x/big'), 'w');
let missing = amount === 'all' ? Number.POSITIVE_INFINITY : Number(amount);
process.stdout.write('moving\n');
for (;;) {
  const directories = left(missing > 0 ? 0 : isHidden ? PATIENCE_MS : -1);
  const isLeft = isHidden ? directories.includes(ofHome!) : directories.includes(ofHide!);
  if (isLeft || (isHidden && missing <= 0 && directories.length === 0)) exchange();
  if (missing > 0) missing = write(missing);
}

function write(bytes: number): number {
  try {
    return bytes - writeSync(file, Buffer.alloc(Math.min(bytes, 65_536), 'x'));
  } catch {
    closeSync(file); // the disk is full
    return 0;
  }
}
