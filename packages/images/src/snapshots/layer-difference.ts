import { lstatSync, opendirSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EventLoopBudget, PRIVATE_DIRECTORY, PRIVATE_FILE } from '@podwright/base';
import { runChecked } from '@podwright/host';
import { loadSystem } from '@podwright/system';
import type { UnpackTarget } from './snapshotter.ts';

/**
 * The contents of a writable layer: the entries present, the entries deleted from lower layers, and the opaque directories, which hide the
 * contents of their counterparts in lower layers. Paths are latin1 strings, one character per byte, because file names need not be UTF-8.
 */
export type LayerEntries = { present: string[]; deleted: string[]; opaque: string[] };

/** The prefix of whiteouts and the name of the opaque whiteout in image layers (image-spec, layer.md). */
const WHITEOUT = '.wh.';
const OPAQUE = '.wh..wh..opq';
/** Extended attribute that marks a directory as opaque in overlayfs. */
const OPAQUE_XATTR = 'trusted.overlay.opaque';
/** Options for tar(1): archive all extended attributes except overlayfs's own. */
const TAR = ['--create', '--xattrs', '--xattrs-exclude=trusted.overlay.*', '--numeric-owner', '--sparse'];
const FROM_LIST = ['--null', '--verbatim-files-from', '--no-recursion', '--files-from=-'];

/**
 * Writes a container's changes to the file `archive` as an image layer, and the deleted paths to the file `deleted` as JSON. With the
 * `native` snapshotter, which makes full copies, every file counts as changed.
 */
export async function writeLayerDifference(
  { directory, overlayWhiteouts }: UnpackTarget,
  { archive, deleted, signal }: { archive: string; deleted: string; signal: AbortSignal },
): Promise<void> {
  const entries = await listLayer(directory, { overlayWhiteouts, signal });
  const whiteouts = `${archive}.whiteouts`;
  try {
    const names = await makeWhiteouts(whiteouts, entries);
    const own = ['--directory', directory, ...FROM_LIST];
    await runChecked('tar', [...TAR, '--file', archive, ...own], { stdin: list(entries.present), signal });
    const append = ['--append', '--file', archive, '--directory', whiteouts, ...FROM_LIST];
    if (names.length > 0) await runChecked('tar', append, { stdin: list(names), signal });
  } finally {
    await rm(whiteouts, { recursive: true, force: true });
  }
  await writeFile(deleted, JSON.stringify(entries.deleted.map((path) => `/${bytesOf(path)}`)), { mode: PRIVATE_FILE });
}

/**
 * Lists the entries of a layer's directory tree, parents first. Regularly yields to the event loop, because a layer might contain many
 * files.
 */
export async function listLayer(
  directory: string,
  { overlayWhiteouts, signal }: { overlayWhiteouts: boolean; signal: AbortSignal },
): Promise<LayerEntries> {
  const system = loadSystem();
  const top = Buffer.from(directory).toString('latin1');
  const entries: LayerEntries = { present: [], deleted: [], opaque: [] };
  const pending = [''];
  const budget = new EventLoopBudget();
  for (let parent = pending.pop(); parent !== undefined; parent = pending.pop()) {
    for (const name of namesIn(bytesOf(join(top, parent)))) {
      if (budget.isSpent) await budget.renew(signal);
      const path = join(parent, name);
      const stat = lstatSync(bytesOf(join(top, path)));
      const isWhiteout = overlayWhiteouts && stat.isCharacterDevice() && stat.rdev === 0;
      (isWhiteout ? entries.deleted : entries.present).push(path);
      if (!stat.isDirectory()) continue;
      const isOpaque = overlayWhiteouts && system.getXattr(bytesOf(join(top, path)), OPAQUE_XATTR)?.toString() === 'y';
      if (isOpaque) entries.opaque.push(path);
      pending.push(path);
    }
  }
  return entries;
}

/** Yields the names in a directory, which is read in chunks because a container might have created a huge number of files. */
function* namesIn(directory: Buffer): Generator<string> {
  const entries = opendirSync(directory as unknown as string, { encoding: 'latin1' });
  try {
    for (let entry = entries.readSync(); entry !== null; entry = entries.readSync()) yield entry.name;
  } finally {
    entries.closeSync();
  }
}

/** Creates whiteout files under `root` for the deleted entries and opaque directories, and returns their names. */
async function makeWhiteouts(root: string, { deleted, opaque }: LayerEntries): Promise<string[]> {
  const names = [
    ...deleted.map((path) => join(dirname(path), WHITEOUT + path.slice(path.lastIndexOf('/') + 1))),
    ...opaque.map((path) => join(path, OPAQUE)),
  ];
  await mkdir(root, { recursive: true, mode: PRIVATE_DIRECTORY });
  const top = Buffer.from(root).toString('latin1');
  for (const name of names) {
    await mkdir(bytesOf(join(top, dirname(name))), { recursive: true, mode: PRIVATE_DIRECTORY });
    await writeFile(bytesOf(join(top, name)), '');
  }
  return names;
}

const bytesOf = (path: string): Buffer => Buffer.from(path, 'latin1');

const list = (names: string[]): Buffer => bytesOf(names.map((name) => `${name}\0`).join(''));
