/** The contract suite for snapshotters of others: `@podwright/images/suites`, for `node:test`. It needs root, as it makes mounts. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { loadSystem } from '@podwright/system';
import { snapshotterSuite } from './snapshots/snapshotter.suite.ts';
import type { Snapshotter } from './snapshots/snapshotter.ts';

/**
 * What every snapshotter must do. `open` opens one with its lasting data in a directory, new or as an earlier one left it.
 * Scratch directories are made in `directory`, which must be on a real file system: not tmpfs for those that need extended attributes.
 */
export function testSnapshotter(
  name: string,
  open: (root: string) => Snapshotter | Promise<Snapshotter>,
  directory = '/var/tmp',
): void {
  const scratch = () => mkdtempSync(join(directory, `podwright-${name}-`));
  snapshotterSuite(name, { open, scratch, system: loadSystem() });
}
