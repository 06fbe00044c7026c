/** A pod's operating system, and the fields supported on each (validateOS, validateLinux, validateWindows). */
import type { Field } from '../field.ts';
import { dns1123SubdomainProblems } from '../names.ts';
import { type JsonObject, objectAt, textAt, valueAt } from '../values.ts';
import { containersOf } from './visit-containers.ts';

const SYSTEMS = ['linux', 'windows'];
const MAX_CREDENTIAL_KIB = 64;

const POD_FIELDS = ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace'];
const LINUX_POD_CONTEXT = [
  ...['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'fsGroup', 'fsGroupChangePolicy', 'sysctls'],
  ...['runAsUser', 'runAsGroup', 'supplementalGroups', 'supplementalGroupsPolicy', 'seLinuxChangePolicy'],
];
const LINUX_CONTEXT = [
  ...['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'capabilities', 'readOnlyRootFilesystem', 'privileged'],
  ...['allowPrivilegeEscalation', 'procMount', 'runAsUser', 'runAsGroup'],
];

/** Rejects fields not supported by the pod's operating system. `field` refers to the pod spec. */
export function validateOs(spec: JsonObject, field: Field): void {
  if (objectAt(spec, 'os') === undefined) return;
  const name = textAt(spec, 'os', 'name');
  if (name === '') field.at('os', 'name').required();
  else if (!SYSTEMS.includes(name)) field.at('os').notSupported(name, SYSTEMS);
  else if (name === 'linux') forbidWindowsOptions(spec, field);
  else forbidLinuxFields(spec, field);
}

function forbidWindowsOptions(spec: JsonObject, field: Field): void {
  const words = 'windows options cannot be set for a linux pod';
  if (objectAt(spec, 'securityContext', 'windowsOptions') !== undefined)
    field.at('securityContext', 'windowsOptions').forbidden(words);
  for (const { container, list, index } of containersOf(spec))
    if (objectAt(container, 'securityContext', 'windowsOptions') !== undefined)
      field.at(list, index, 'securityContext', 'windowsOptions').forbidden(words);
}

function forbidLinuxFields(spec: JsonObject, field: Field): void {
  const forbid = (holder: JsonObject | undefined, names: readonly string[], at: Field) => {
    for (const name of names) {
      const value = valueAt(holder, name);
      const isSet = value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
      if (isSet || (value === false && name !== 'hostPID' && name !== 'hostIPC'))
        at.at(name).forbidden('cannot be set for a windows pod');
    }
  };
  forbid(objectAt(spec, 'securityContext'), LINUX_POD_CONTEXT, field.at('securityContext'));
  forbid(spec, POD_FIELDS, field);
  for (const { container, list, index } of containersOf(spec))
    forbid(objectAt(container, 'securityContext'), LINUX_CONTEXT, field.at(list, index, 'securityContext'));
}

/** Validates Windows options by the most common rules only: they are stored, but ignored by Podwright's nodes. */
export function validateWindowsOptions(options: JsonObject | undefined, field: Field): void {
  if (valueAt(options, 'gmsaCredentialSpecName') !== undefined) {
    const name = textAt(options, 'gmsaCredentialSpecName');
    field.at('gmsaCredentialSpecName').invalidEach(name, dns1123SubdomainProblems(name));
  }
  if (valueAt(options, 'gmsaCredentialSpec') !== undefined) {
    const text = textAt(options, 'gmsaCredentialSpec');
    const at = field.at('gmsaCredentialSpec');
    if (text === '') at.invalid(text, 'gmsaCredentialSpec cannot be an empty string');
    else if (Buffer.byteLength(text) > MAX_CREDENTIAL_KIB << 10)
      at.invalid(text, `gmsaCredentialSpec size must be under ${MAX_CREDENTIAL_KIB} KiB`);
  }
  if (valueAt(options, 'runAsUserName') === '')
    field.at('runAsUserName').invalid('', 'runAsUserName cannot be an empty string');
}

/**
 * Requires either all or none of a pod's containers to be host process containers, and host networking for those
 * (validateWindowsHostProcessPod).
 */
export function validateHostProcess(spec: JsonObject, field: Field): void {
  const ofPod = valueAt(spec, 'securityContext', 'windowsOptions', 'hostProcess');
  const containers = containersOf(spec);
  let count = 0;
  for (const { container, list, index } of containers) {
    const own = valueAt(container, 'securityContext', 'windowsOptions', 'hostProcess');
    const at = field.at(list, index, 'securityContext', 'windowsOptions', 'hostProcess');
    if (ofPod !== undefined && own !== undefined && ofPod !== own)
      at.invalid(own, `pod hostProcess value must be identical if both are specified, was ${ofPod}`);
    if ((own ?? ofPod) === true) count++;
  }
  if (count === 0) return;
  if (count !== containers.length)
    field.invalid('', 'If pod contains any hostProcess containers then all containers must be HostProcess containers');
  if (valueAt(spec, 'hostNetwork') !== true)
    field.at('hostNetwork').invalid(false, 'hostNetwork must be true if pod contains any hostProcess containers');
}
