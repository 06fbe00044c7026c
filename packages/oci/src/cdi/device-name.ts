import { PodwrightError } from '@podwright/base';

/** A CDI device: `vendor/class=name`, for example `nvidia.com/gpu=0`. */
export type DeviceName = { vendor: string; class: string; name: string };

/** Prefix of container annotations that name devices: `cdi.k8s.io/ANYTHING: NAME,NAME`. */
const ANNOTATION_PREFIX = 'cdi.k8s.io/';
/** Maximum number of devices per container. */
const MAX_DEVICES = 1000;

const KIND_PART = /^[A-Za-z](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?$/;
const NAME_PART = /^[A-Za-z0-9](?:[A-Za-z0-9_.:-]*[A-Za-z0-9])?$/;

/** Parses a qualified device name (CDI, SPEC.md: kind and name). Returns `undefined` if it is invalid. */
export function parseDeviceName(text: string): DeviceName | undefined {
  const [, kind = '', name = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  const parts = parseKind(kind);
  return parts === undefined || !isDeviceName(name) ? undefined : { ...parts, name };
}

/** Parses the `vendor/class` of a CDI specification. Returns `undefined` if it is invalid. */
export function parseKind(text: string): Omit<DeviceName, 'name'> | undefined {
  const [vendor = '', deviceClass = '', ...rest] = text.split('/');
  if (rest.length > 0 || !KIND_PART.test(vendor) || !KIND_PART.test(deviceClass)) return undefined;
  return { vendor, class: deviceClass };
}

/** Whether `text` is a valid device name within a CDI specification. */
export const isDeviceName = (text: string): boolean => NAME_PART.test(text);

/**
 * Returns the devices that a container requests, without duplicates: first those in the CRI field, then those in annotations, which device
 * plugins use with older kubelets. Throws `invalid_argument`, naming the invalid device.
 */
export function requestedDevices(named: string[], annotations: Record<string, string>): string[] {
  const fromAnnotations = Object.entries(annotations)
    .filter(([key]) => key.startsWith(ANNOTATION_PREFIX))
    .flatMap(([key, value]) => value.split(',').map((name) => ({ name, where: `annotation ${key}` })));
  const all = [...named.map((name) => ({ name, where: 'CDI devices' })), ...fromAnnotations];
  if (all.length > MAX_DEVICES) {
    throw new PodwrightError(
      'invalid_argument',
      `${all.length} CDI devices are requested, the limit is ${MAX_DEVICES}`,
    );
  }
  for (const { name, where } of all) {
    if (parseDeviceName(name) !== undefined) continue;
    throw new PodwrightError('invalid_argument', `${where}: ${JSON.stringify(name)} is not vendor/class=name`);
  }
  return [...new Set(all.map(({ name }) => name))];
}
