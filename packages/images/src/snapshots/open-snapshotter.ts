import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Logger, PodwrightError } from '@podwright/base';
import type { MetadataDatabase } from '@podwright/metadata';
import type { System } from '@podwright/system';
import { DirectorySnapshotter, trashIn } from './directory-snapshotter.ts';
import { NativeLayout } from './native-layout.ts';
import { acceptedOptions, OverlayLayout, type OverlaySupport, probeOverlay } from './overlay-layout.ts';
import type { SnapshotLayout } from './snapshot-layout.ts';
import type { Snapshotter } from './snapshotter.ts';

/**
 * `kind`: `auto` selects overlayfs if it works on `root`, otherwise native. Each kind has its own directory under `root`. If the disk is
 * too full to test overlayfs, `auto` keeps the kind previously used on `root`.
 */
export type SnapshotterOptions = {
  kind: 'auto' | 'overlayfs' | 'native';
  root: string;
  database: MetadataDatabase;
  system: System;
  logger: Logger;
};

/** The opened snapshotter and, for operators, the reason for choosing its kind. */
export type OpenedSnapshotter = { snapshotter: Snapshotter; reason: string };

/**
 * Opens a snapshotter of the requested kind. Throws `failed_precondition` if `overlayfs` was requested and does not work, and
 * `resource_exhausted` if it has never been used on `root` and there is no space to test it.
 */
export function openSnapshotter({ kind, root, database, system, logger }: SnapshotterOptions): OpenedSnapshotter {
  const { layout, reason } = chooseLayout({ kind, root, system });
  const snapshotter = new DirectorySnapshotter({ root: join(root, layout.name), database, layout, logger });
  return { snapshotter, reason };
}

type Choice = { layout: SnapshotLayout; reason: string };

function chooseLayout({ kind, root, system }: Pick<SnapshotterOptions, 'kind' | 'root' | 'system'>): Choice {
  if (kind === 'native') return { layout: new NativeLayout(system), reason: 'native copies, as configured' };
  const support = overlaySupport(system, root);
  if (support.supported === true) {
    const options = support.options.length === 0 ? '' : ` with ${support.options.join(', ')}`;
    return { layout: new OverlayLayout(support.options), reason: `overlayfs works on ${root}${options}` };
  }
  if (support.supported === 'unknown' && (kind === 'overlayfs' || !isUsed(root, 'native')))
    throw new PodwrightError('resource_exhausted', `open snapshotter: ${support.reason}; free some disk space`);
  if (kind === 'overlayfs') {
    throw new PodwrightError(
      'failed_precondition',
      `open snapshotter: ${support.reason}; choose the native snapshotter`,
    );
  }
  return { layout: new NativeLayout(system), reason: `native copies, which are slow and big: ${support.reason}` };
}

/**
 * Tests overlayfs. If there is no space for the test, assumes that overlayfs works if its directory exists, which means that it has worked
 * on `root` before.
 */
function overlaySupport(system: System, root: string): OverlaySupport {
  const support = probeOverlay(system, root);
  if (support.supported !== 'unknown' || !isUsed(root, 'overlayfs')) return support;
  return { supported: true, options: acceptedOptions(system, trashIn(join(root, 'overlayfs'))) };
}

const isUsed = (root: string, kind: 'overlayfs' | 'native') => existsSync(join(root, kind));
