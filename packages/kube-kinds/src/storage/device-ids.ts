import type { ApiObject } from '../api-object.ts';
import { type JsonObject, objectsAt, textAt } from '../values.ts';

/** Returns a string that identifies a device or a share of it: driver, pool, device and share ID. */
export function deviceId(device: JsonObject): string {
  const share = textAt(device, 'shareID');
  const id = ['driver', 'pool', 'device'].map((name) => textAt(device, name)).join('/');
  return share === '' ? id : `${id}/${share}`;
}

/** Returns the IDs of the devices allocated to a claim. */
export const allocatedIds = (claim: ApiObject): ReadonlySet<string> =>
  new Set(objectsAt(claim, 'status', 'allocation', 'devices', 'results').map(deviceId));
