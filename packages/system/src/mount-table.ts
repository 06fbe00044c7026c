/** The exports that need no native library, as `@podwright/system/mountinfo`. */
export {
  type MountEntry,
  mayWaitForServer,
  mountsBelow,
  parseMountinfo,
  parseMountsBelow,
  readMountinfo,
  readMounts,
  unmountEntries,
  unmountOnce,
  unmountTree,
} from './mountinfo.ts';
export { serverMounts } from './server-mounts.ts';
