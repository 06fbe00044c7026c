import { statfs } from 'node:fs/promises';

/** The `f_type` of nsfs, and of procfs, which held namespace files before Linux 3.19 (linux/magic.h). */
const NAMESPACE_FILE_SYSTEMS = [0x6e736673, 0x9fa0];

/**
 * Whether the path refers to an existing namespace. After a reboot or an unmount it may be an ordinary file. Given such a path, plugins
 * would fail instead of releasing their resources.
 */
export async function isNamespace(path: string): Promise<boolean> {
  if (path === '') return false;
  try {
    return NAMESPACE_FILE_SYSTEMS.includes((await statfs(path)).type);
  } catch {
    return false;
  }
}
