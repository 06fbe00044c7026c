import { PodwrightError } from '@podwright/base';
import { checksumOf, goList, goMap, readStateFile, writeStateFile } from '../topology/state-file.ts';
import type { Assignment } from './device-types.ts';

/** Content of the checkpoint: the assignments, and the IDs of the healthy devices of each registered resource. */
export type DeviceRecords = { assignments: Assignment[]; registered: Record<string, string[]> };

/** Upstream's file format (devicemanager/checkpoint). */
type Entry = {
  PodUID: string;
  ContainerName: string;
  ResourceName: string;
  DeviceIDs: Record<string, string[]>;
  AllocResp: string | null;
};
type Data = { PodDeviceEntries: Entry[] | null; RegisteredDevices: Record<string, string[]> };

/** Reads the checkpoint; `undefined` if there is no file. Rejects with `data_loss` if the file is corrupt. */
export async function readDeviceRecords(path: string): Promise<DeviceRecords | undefined> {
  const value = await readStateFile(path);
  if (value === undefined) return undefined;
  try {
    const { Data: data, Checksum: checksum } = value as { Data: Data; Checksum: unknown };
    if (checksumOf(goData(data)) !== checksum) throw new Error('its checksum is wrong');
    const assignments = (data.PodDeviceEntries ?? []).map(assignmentOf);
    return { assignments, registered: data.RegisteredDevices };
  } catch (error) {
    throw new PodwrightError('data_loss', `read ${path}: ${(error as Error).message}`, { cause: error });
  }
}

export function writeDeviceRecords(path: string, { assignments, registered }: DeviceRecords): Promise<void> {
  const entries = assignments.map(entryOf);
  const data = { PodDeviceEntries: entries.length === 0 ? null : entries, RegisteredDevices: registered };
  return writeStateFile(path, { Data: data, Checksum: checksumOf(goData(data)) });
}

function assignmentOf({ PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp }: Entry): Assignment {
  const answer = Buffer.from(AllocResp ?? '', 'base64');
  return { podUid: PodUID, container: ContainerName, resource: ResourceName, devices: DeviceIDs, answer };
}

function entryOf({ podUid, container, resource, devices, answer }: Assignment): Entry {
  return {
    PodUID: podUid,
    ContainerName: container,
    ResourceName: resource,
    DeviceIDs: devices,
    AllocResp: Buffer.from(answer).toString('base64'),
  };
}

function goData({ PodDeviceEntries: entries, RegisteredDevices: registered }: Data): string {
  const names = goMap(registered, (ids) => goList(ids));
  return `(checkpoint.checkpointData){PodDeviceEntries:([]checkpoint.PodDevicesEntry)${goList(entries, goEntry)} RegisteredDevices:(map[string][]string)${names}}`;
}

function goEntry({ PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp }: Entry): string {
  const devices = goMap(DeviceIDs, (ids) => goList(ids));
  const bytes = AllocResp === null ? '<nil>' : goList([...Buffer.from(AllocResp, 'base64')]);
  return `{PodUID:(string)${PodUID} ContainerName:(string)${ContainerName} ResourceName:(string)${ResourceName} DeviceIDs:(checkpoint.DevicesPerNUMA)${devices} AllocResp:([]uint8)${bytes}}`;
}
