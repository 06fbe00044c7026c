import { join } from 'node:path';
import { type Logger, PodwrightError } from '@podwright/base';
import type { MetadataDatabase } from '@podwright/metadata';
import type { System } from '@podwright/system';
import { DirectorySnapshotter } from './directory-snapshotter.ts';
import { NativeLayout } from './native-layout.ts';
import { OverlayLayout, probeOverlay } from './overlay-layout.ts';
import type { SnapshotLayout } from './snapshot-layout.ts';
import type { Snapshotter } from './snapshotter.ts';

/** Where snapshots are, and what they work with. Each kind has its directory below `root`. */
export type SnapshotterOptions = {
  kind: 'auto' | 'overlayfs' | 'native';
  root: string;
  database: MetadataDatabase;
  system: System;
  logger: Logger;
};

/** The snapshotter that was opened. `reason` is a message for operators: why it is this one. */
export type OpenedSnapshotter = { snapshotter: Snapshotter; reason: string };

/**
 * Opens the snapshotter that was asked for; `auto` is overlayfs where it works, else native.
 * Throws `failed_precondition` if overlayfs is asked for and does not work.
 */
export function openSnapshotter({ kind, root, database, system, logger }: SnapshotterOptions): OpenedSnapshotter {
  const { layout, reason } = chooseLayout({ kind, root, system });
  const snapshotter = new DirectorySnapshotter({ root: join(root, layout.name), database, layout, logger });
  return { snapshotter, reason };
}

type Choice = { layout: SnapshotLayout; reason: string };

function chooseLayout({ kind, root, system }: Pick<SnapshotterOptions, 'kind' | 'root' | 'system'>): Choice {
  if (kind === 'native') return { layout: new NativeLayout(system), reason: 'native copies: asked for' };
  const support = probeOverlay(system, root);
  if (support.supported) {
    const options = support.options.length === 0 ? '' : ` with ${support.options.join(', ')}`;
    return { layout: new OverlayLayout(support.options), reason: `overlayfs works on ${root}${options}` };
  }
  if (kind === 'overlayfs') {
    throw new PodwrightError(
      'failed_precondition',
      `open snapshotter: ${support.reason}; choose the native snapshotter`,
    );
  }
  return { layout: new NativeLayout(system), reason: `native copies, which are slow and big: ${support.reason}` };
}
