import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, PRIVATE_DIRECTORY } from '@podwright/base';
import { mountAll, type System, unmountTree } from '@podwright/system';

/** Whether overlayfs works on a folder's file system: with which options, or why not. */
export type OverlaySupport = { supported: true; options: string[] } | { supported: false; reason: string };

/**
 * Options by preference, each set tried in turn. `index=off`: layers may be shared by mounts and copied. `volatile` (kernel
 * 5.10): taking a mount down does not wait for the whole disk's writes; containers do not survive a power cut anyway.
 */
const optionSets = [['index=off', 'volatile'], ['index=off'], []];

/** Mounts a small overlay below `root`, deletes a file in it, and looks at what came of it. */
export function probeOverlay(system: System, root: string): OverlaySupport {
  if (/[:,\\]/.test(root)) {
    return { supported: false, reason: `overlayfs cannot take the colon, comma or backslash in the path ${root}` };
  }
  let reason = '';
  for (const options of optionSets) {
    const directory = join(root, 'probe');
    try {
      tryOverlay(system, directory, options);
      return { supported: true, options };
    } catch (error) {
      reason ||= errorMessage(error);
    } finally {
      unmountTree(system, directory);
      rmSync(directory, { recursive: true, force: true });
    }
  }
  return { supported: false, reason: `overlayfs does not work on ${root}: ${reason}` };
}

function tryOverlay(system: System, directory: string, options: string[]): void {
  const [lower, upper, work, merged] = ['lower', 'upper', 'work', 'merged'].map((name) => join(directory, name));
  for (const path of [lower!, upper!, work!, merged!]) mkdirSync(path, { recursive: true, mode: PRIVATE_DIRECTORY });
  writeFileSync(join(lower!, 'deleted'), '');
  const folders = [`lowerdir=${lower}`, `upperdir=${upper}`, `workdir=${work}`];
  mountAll(system, [{ type: 'overlay', source: 'overlay', options: [...options, ...folders] }], merged!);
  rmSync(join(merged!, 'deleted'));
  const whiteout = lstatSync(join(upper!, 'deleted'));
  if (!whiteout.isCharacterDevice() || whiteout.rdev !== 0) throw new Error('a deleted file leaves no whiteout');
  system.setXattr(upper!, 'trusted.overlay.opaque', Buffer.from('y'));
}
