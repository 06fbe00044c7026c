import { statfs } from 'node:fs/promises';

/** `f_type` of nsfs and of proc, where namespaces were before Linux 3.19 (linux/magic.h). */
const NAMESPACE_FILE_SYSTEMS = [0x6e736673, 0x9fa0];

/**
 * True if the path leads to a namespace that still exists. After a reboot, or when only the mount is gone, an ordinary
 * file can be left there, at which plugins fail instead of releasing what they hold.
 */
export async function isNamespace(path: string): Promise<boolean> {
  if (path === '') return false;
  try {
    return NAMESPACE_FILE_SYSTEMS.includes((await statfs(path)).type);
  } catch {
    return false;
  }
}
