/** Validates the volume mounts and devices of containers (ValidateVolumeMounts, ValidateVolumeDevices). */
import type { Field } from '../field.ts';
import { type JsonObject, objectsAt, textAt, valueAt } from '../values.ts';
import { hasBacksteps, validateDescendingPath } from './volume-paths.ts';

/** A pod's valid volumes, keyed by volume name. */
export type Volumes = ReadonlyMap<string, JsonObject>;

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];
const RECURSIVE = ['Disabled', 'Enabled', 'IfPossible'];

export function validateVolumeMounts(container: JsonObject, volumes: Volumes, field: Field): void {
  const paths = new Set<string>();
  const devices = pathsByName(objectsAt(container, 'volumeDevices'), 'devicePath');
  const devicePaths = new Set(devices.values());
  for (const [index, mount] of objectsAt(container, 'volumeMounts').entries()) {
    const at = field.at(index);
    const name = textAt(mount, 'name');
    const path = textAt(mount, 'mountPath');
    if (name === '') at.at('name').required();
    if (!volumes.has(name)) at.at('name').notFound(name);
    if (path === '') at.at('mountPath').required();
    if (paths.has(path)) at.at('mountPath').invalid(path, 'must be unique');
    paths.add(path);
    if (devices.has(name)) at.at('name').invalid(name, 'must not already exist in volumeDevices');
    if (devicePaths.has(path)) at.at('mountPath').invalid(path, 'must not already exist as a path in volumeDevices');
    validateSubPaths(mount, field, at);
    validatePropagation(mount, container, field.at('mountPropagation'));
    validateRecursiveReadOnly(mount, field.at('recursiveReadOnly'));
  }
}

/** Maps the names of volume mounts or devices to the paths in their field `path`. For duplicate names, the last entry wins. */
const pathsByName = (entries: readonly JsonObject[], path: string): Map<string, string> =>
  new Map(entries.map((entry) => [textAt(entry, 'name'), textAt(entry, path)]));

/** Validates the sub-paths of a mount. As in upstream, most errors do not include the mount's index. */
function validateSubPaths(mount: JsonObject, field: Field, at: Field): void {
  const subPath = textAt(mount, 'subPath');
  const expression = textAt(mount, 'subPathExpr');
  if (subPath !== '') validateDescendingPath(subPath, field.at('subPath'));
  if (expression === '') return;
  if (subPath !== '') at.at('subPathExpr').invalid(expression, 'subPathExpr and subPath are mutually exclusive');
  validateDescendingPath(expression, field.at('subPathExpr'));
}

function validatePropagation(mount: JsonObject, container: JsonObject, field: Field): void {
  if (valueAt(mount, 'mountPropagation') === undefined) return;
  const propagation = textAt(mount, 'mountPropagation');
  if (!PROPAGATIONS.includes(propagation)) field.notSupported(propagation, PROPAGATIONS);
  if (propagation === 'Bidirectional' && valueAt(container, 'securityContext', 'privileged') !== true)
    field.forbidden('Bidirectional mount propagation is available only to privileged containers');
}

function validateRecursiveReadOnly(mount: JsonObject, field: Field): void {
  if (valueAt(mount, 'recursiveReadOnly') === undefined) return;
  const value = textAt(mount, 'recursiveReadOnly');
  if (!RECURSIVE.includes(value)) return field.notSupported(value, RECURSIVE);
  if (value === 'Disabled') return;
  if (valueAt(mount, 'readOnly') !== true) field.forbidden('may only be specified when readOnly is true');
  if (!['', 'None'].includes(textAt(mount, 'mountPropagation')))
    field.forbidden('may only be specified when mountPropagation is None or not specified');
}

export function validateVolumeDevices(container: JsonObject, volumes: Volumes, field: Field): void {
  const paths = new Set<string>();
  const names = new Set<string>();
  const mounts = pathsByName(objectsAt(container, 'volumeMounts'), 'mountPath');
  const mountPaths = new Set(mounts.values());
  for (const [index, device] of objectsAt(container, 'volumeDevices').entries()) {
    const name = textAt(device, 'name');
    const path = textAt(device, 'devicePath');
    validateDeviceName(name, field.at(index, 'name'), { names, volumes });
    validateDevicePath(path, field.at(index, 'devicePath'), paths);
    if (mounts.has(name)) field.at(index, 'name').invalid(name, 'must not already exist in volumeMounts');
    if (mountPaths.has(path))
      field.at(index, 'devicePath').invalid(path, 'must not already exist as a path in volumeMounts');
    if (name !== '') names.add(name);
  }
}

function validateDeviceName(
  name: string,
  field: Field,
  { names, volumes }: { names: Set<string>; volumes: Volumes },
): void {
  const source = volumes.get(name);
  if (name === '') field.required();
  if (names.has(name)) field.invalid(name, 'must be unique');
  if (source === undefined) field.notFound(name);
  else if (valueAt(source, 'persistentVolumeClaim') === undefined && valueAt(source, 'ephemeral') === undefined)
    field.invalid(name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode');
}

function validateDevicePath(path: string, field: Field, paths: Set<string>): void {
  if (path === '') field.required();
  if (paths.has(path)) field.invalid(path, 'must be unique');
  if (hasBacksteps(path)) field.invalid(path, "can not contain backsteps ('..')");
  else paths.add(path);
}
