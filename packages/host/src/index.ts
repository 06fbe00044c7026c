export { CpuSamples } from './cgroup/cpu-samples.ts';
export type { CpuStats } from './cgroup/cpu-stats.ts';
export { type FrozenCgroup, freezeCgroup, isFrozenCgroup, thawCgroup } from './cgroup/freezer.ts';
export {
  type CgroupHierarchy,
  type CgroupMode,
  cgroupDirectory,
  discoverCgroups,
  readCgroupFile,
  treeOf,
} from './cgroup/hierarchy.ts';
export type { DeviceIo } from './cgroup/io-stats.ts';
export { type CgroupLimits, cpuWeightOfShares, limitWrites, setCgroupLimits } from './cgroup/limits.ts';
export { type MemoryStats, readOomKills } from './cgroup/memory-stats.ts';
export { type CgroupPressure, type PressureStats, readHostPressure } from './cgroup/pressure.ts';
export { cgroupPathOf, parseSystemdCgroup, scopeOf, slicePath } from './cgroup/slice.ts';
export { type CgroupStats, readCgroupStats, readCgroupUse } from './cgroup/stats.ts';
export {
  type CgroupDriver,
  delegateCgroup,
  delegatedUnit,
  endDelegation,
  endScope,
  endSlice,
  isSystemdHost,
  type SliceProperties,
  setSlice,
  systemdObstacle,
  takesScopeOomPolicy,
} from './cgroup/systemd.ts';
export {
  cgroupExists,
  cgroupPids,
  countCgroupProcesses,
  createCgroup,
  killCgroup,
  listChildCgroups,
  removeCgroup,
  thawForKill,
} from './cgroup/tree.ts';
export type { DBusValue } from './dbus/dbus-message.ts';
export { DBUS_TIMEOUT_MS } from './dbus/limits.ts';
export { SystemBus } from './dbus/system-bus.ts';
export {
  removeFileDurable,
  removeUnfinished,
  replaceFile,
  syncDirectory,
  writeFileAtomic,
  writeFileAtomicSync,
  writeFileDurable,
} from './files/atomic-file.ts';
export { Checkpoint, fieldsOf } from './files/checkpoint.ts';
export { namesIn, pathExists, removeIfEmpty } from './files/directory.ts';
export { namesInSync } from './files/directory-sync.ts';
export { type FileUse, filesIn, fileUse, remoteTreeUse, sumOfUses, type TreeUse, treeUse } from './files/file-use.ts';
export { type MeasureTreeOptions, measureTree } from './files/measure-tree.ts';
export { claimFormat, requireFormat } from './files/record-format.ts';
export { readJsonFile, readRegularFile } from './files/regular-file.ts';
export { removeTree } from './files/remove-tree.ts';
export { isTrashBusy, Trash } from './files/trash.ts';
export { mostChanges, type TreeChanges, type TreeMeasure } from './files/tree-count.ts';
export { type TimedMeasure, TreeMeasures } from './files/tree-measures.ts';
export { withoutLinks } from './files/without-links.ts';
export { type InterfaceUse, parseInterfaces } from './network/network-use.ts';
export { readPodResolvConf } from './network/resolv-conf.ts';
export { MAX_SOCKET_PATH_BYTES, requireSocketPath } from './network/socket-path.ts';
export { listenUnix, refuseTakenSocket, removeStaleSockets, type SocketFile } from './network/unix-socket.ts';
export { findInit } from './programs/find-init.ts';
export {
  findProgram,
  type ProgramFinding,
  programDirectories,
  readVersion,
  requireProgram,
} from './programs/find-program.ts';
export {
  findProcesses,
  isInOwnPidNamespace,
  listProcesses,
  parseProcessStart,
  readProcessStart,
} from './programs/processes.ts';
export { type ProgramResult, runChecked, runProgram } from './programs/program.ts';
export {
  type ProgramStarter,
  type StartedProgram,
  type StartOptions,
  startByFork,
} from './programs/program-starter.ts';
