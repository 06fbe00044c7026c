import type { ApiObject } from '../api-object.ts';
import { type JsonObject, objectsAt, textAt } from '../values.ts';

/** The identity of a device, or of a share of it, as text: driver, pool, device and share. */
export function deviceId(device: JsonObject): string {
  const share = textAt(device, 'shareID');
  const id = ['driver', 'pool', 'device'].map((name) => textAt(device, name)).join('/');
  return share === '' ? id : `${id}/${share}`;
}

/** The devices that are allocated to a claim. */
export const allocatedIds = (claim: ApiObject): ReadonlySet<string> =>
  new Set(objectsAt(claim, 'status', 'allocation', 'devices', 'results').map(deviceId));
