/** OCI specifications of containers, built from resolved input, and the devices of the Container Device Interface. */

export { type AppArmorSurroundings, defaultAppArmorProfile } from './apparmor-profile.ts';
export { buildSpec } from './build-spec.ts';
export { capabilitiesOfMask } from './capabilities.ts';
export { applyCdiEdits, type ResolvedEdits } from './cdi/apply-edits.ts';
export { CDI_DIRECTORIES, resolveCdiDevices } from './cdi/cdi-devices.ts';
export { requestedDevices } from './cdi/device-name.ts';
export { deviceOf } from './devices.ts';
export { ociMappings } from './id-mappings.ts';
export {
  computeArgs,
  computeEnvironment,
  computeRlimits,
  computeWorkingDirectory,
  hasHome,
  withDefaultHome,
} from './process-config.ts';
export { MAX_SECCOMP_PROFILE_BYTES, parseSeccompProfile } from './seccomp.ts';
export {
  checkSelinuxOptions,
  parseSelinuxContexts,
  type SelinuxContexts,
  type SelinuxOptions,
  selinuxLabels,
} from './selinux.ts';
export type { OciDevice, OciLinuxResources, OciMount, OciProcess, OciSpec } from './spec.ts';
export type {
  OpenFilesLimit,
  SpecDevice,
  SpecHost,
  SpecInput,
  SpecNamespace,
  SpecNamespaces,
  SpecResources,
  SpecSecurity,
} from './spec-input.ts';
export { byDepth } from './spec-mounts.ts';
export { computeOomScoreAdj, computeResources, withResources } from './spec-resources.ts';
export { findUser, parseGroup, parsePasswd, type ResolvedUser, type UserRequest, userString } from './user.ts';
