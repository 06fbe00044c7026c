/** What was prepared for which pods, in upstream's file: either kubelet goes on with the other's. */
import { crc32 } from 'node:zlib';
import { PodwrightError } from '@podwright/base';
import { readStateFile, writeStateFile } from '../topology/state-file.ts';

/** A device that a driver has prepared; `RequestNames` empty for all requests of the claim. */
export type PreparedDevice = {
  PoolName: string;
  DeviceName: string;
  ShareID: string | null;
  RequestNames: string[] | null;
  CDIDeviceIDs: string[] | null;
};

/** A claim that drivers were asked to prepare. */
export type ClaimRecord = {
  ClaimUID: string;
  ClaimName: string;
  Namespace: string;
  /** The pods that have it; the values say nothing. */
  PodUIDs: Record<string, object>;
  /** By the driver's name. */
  DriverState: Record<string, { Devices: PreparedDevice[] | null }>;
};

const TYPE = { kind: 'DRACheckpoint', apiVersion: 'checkpoint.dra.kubelet.k8s.io/v1' };

/** Rejects with `data_loss` for a file that somebody else has written or changed: what drivers have prepared is then not known. */
export async function readClaimRecords(path: string): Promise<ClaimRecord[]> {
  const file = (await readStateFile(path)) as { Data?: unknown; Checksum?: unknown } | undefined;
  if (file === undefined) return [];
  const text = file?.Data;
  if (typeof text !== 'string' || crc32(text) !== file.Checksum)
    throw new PodwrightError('data_loss', `${path} is corrupt: drain the node and remove it`);
  const { ClaimInfoStateList: records } = JSON.parse(text) as { ClaimInfoStateList: ClaimRecord[] | null };
  return records ?? [];
}

export async function writeClaimRecords(path: string, records: ClaimRecord[]): Promise<void> {
  const Data = JSON.stringify({ ...TYPE, ClaimInfoStateList: records });
  await writeStateFile(path, { Data, Checksum: crc32(Data) });
}
