/**
 * The contract test suite for third-party snapshotters, for `node:test`: `@podwright/images/suites`. Requires root, because it mounts file
 * systems.
 */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { loadSystem } from '@podwright/system';
import { snapshotterSuite } from './snapshots/snapshotter.suite.ts';
import type { Snapshotter } from './snapshots/snapshotter.ts';

/**
 * Defines the tests of the `Snapshotter` contract. `open` opens a snapshotter with its persistent data in the given directory, which is
 * either new or left by an earlier instance. The tests create scratch directories in `directory`, whose file system must support everything
 * the snapshotter needs; tmpfs might lack extended attributes.
 */
export function testSnapshotter(
  name: string,
  open: (root: string) => Snapshotter | Promise<Snapshotter>,
  directory = '/var/tmp',
): void {
  const scratch = () => mkdtempSync(join(directory, `podwright-${name}-`));
  snapshotterSuite(name, { open, scratch, system: loadSystem() });
}
