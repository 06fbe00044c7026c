/** Validates security contexts (ValidateSecurityContext, validatePodSpecSecurityContext). */
import type { Field } from '../field.ts';
import { unixIdProblems } from '../texts.ts';
import { type JsonObject, listAt, numberAt, objectAt, textAt, textsAt, valueAt } from '../values.ts';
import type { PodOptions } from './options.ts';
import { validateAppArmorProfile, validateSeccompProfile } from './security-profiles.ts';
import { validateSysctls } from './sysctls.ts';
import { validateWindowsOptions } from './windows.ts';

const PROC_MOUNTS = ['Default', 'Unmasked'];
const FS_GROUP_CHANGES = ['Always', 'OnRootMismatch'];
const SUPPLEMENTAL_GROUPS = ['Merge', 'Strict'];
const SELINUX_CHANGES = ['MountOption', 'Recursive'];

/** Validates a container's security context. `hostUsers` is false for pods with a user namespace. */
export function validateSecurityContext(context: JsonObject | undefined, field: Field, hostUsers: boolean): void {
  if (context === undefined) return;
  validateIds(context, field, ['runAsUser', 'runAsGroup']);
  if (valueAt(context, 'procMount') !== undefined) {
    const procMount = textAt(context, 'procMount');
    const at = field.at('procMount');
    if (!PROC_MOUNTS.includes(procMount)) at.notSupported(procMount, PROC_MOUNTS);
    if (hostUsers && procMount === 'Unmasked') at.invalid(procMount, '`hostUsers` must be false to use `Unmasked`');
  }
  validateSeccompProfile(objectAt(context, 'seccompProfile'), field.at('seccompProfile'));
  validateEscalation(context, field);
  validateWindowsOptions(objectAt(context, 'windowsOptions'), field.at('windowsOptions'));
  validateAppArmorProfile(objectAt(context, 'appArmorProfile'), field.at('appArmorProfile'));
}

function validateEscalation(context: JsonObject, field: Field): void {
  if (valueAt(context, 'allowPrivilegeEscalation') !== false) return;
  if (valueAt(context, 'privileged') === true)
    field.invalid(context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true');
  for (const capability of textsAt(context, 'capabilities', 'add'))
    if (capability === 'CAP_SYS_ADMIN')
      field.invalid(context, 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN');
}

function validateIds(context: JsonObject, field: Field, names: readonly string[]): void {
  for (const name of names) {
    const id = numberAt(context, name);
    if (id !== undefined) field.at(name).invalidEach(id, unixIdProblems(id));
  }
}

/**
 * Validates the pod's security context and the host namespace fields, which are part of it in upstream. `field` refers to the security
 * context.
 */
export function validatePodSecurityContext(spec: JsonObject, field: Field, options: PodOptions): void {
  const context = objectAt(spec, 'securityContext');
  if (context === undefined) return;
  validateIds(context, field, ['fsGroup', 'runAsUser', 'runAsGroup']);
  for (const [index, group] of listAt(context, 'supplementalGroups').entries())
    field.at('supplementalGroups', index).invalidEach(group, unixIdProblems(Number(group)));
  if (valueAt(spec, 'shareProcessNamespace') === true && valueAt(spec, 'hostPID') === true)
    field.at('shareProcessNamespace').invalid(true, 'ShareProcessNamespace and HostPID cannot both be enabled');
  validateSysctls(spec, field.at('sysctls'), options);
  validateChoice(context, field.at('fsGroupChangePolicy'), FS_GROUP_CHANGES);
  validateSeccompProfile(objectAt(context, 'seccompProfile'), field.at('seccompProfile'));
  validateWindowsOptions(objectAt(context, 'windowsOptions'), field.at('windowsOptions'));
  validateAppArmorProfile(objectAt(context, 'appArmorProfile'), field.at('appArmorProfile'));
  validateChoice(context, field.at('supplementalGroupsPolicy'), SUPPLEMENTAL_GROUPS);
  const selinux = options.allowMountOptionSelinuxChange ? SELINUX_CHANGES : ['Recursive'];
  validateChoice(context, field.at('seLinuxChangePolicy'), selinux);
}

function validateChoice(context: JsonObject, field: Field, supported: readonly string[]): void {
  const name = field.path.slice(field.path.lastIndexOf('.') + 1);
  const value = textAt(context, name);
  if (valueAt(context, name) !== undefined && !supported.includes(value)) field.notSupported(value, supported);
}

/** Requires pods with a user namespace not to share most of the host's namespaces (validateHostUsers). `field` refers to the pod spec. */
export function validateHostUsers(spec: JsonObject, field: Field, options: PodOptions): void {
  if (valueAt(spec, 'hostUsers') !== false) return;
  const words = 'when `hostUsers` is false';
  if (valueAt(spec, 'hostNetwork') === true && !options.allowUserNamespaceHostNetwork)
    field.at('hostNetwork').forbidden(words);
  // upstream capitalizes these two field names
  if (valueAt(spec, 'hostPID') === true) field.at('HostPID').forbidden(words);
  if (valueAt(spec, 'hostIPC') === true) field.at('HostIPC').forbidden(words);
}
