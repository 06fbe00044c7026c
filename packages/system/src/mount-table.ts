/** Exports that do not need a native library, as `@podwright/system/mountinfo`. */
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
