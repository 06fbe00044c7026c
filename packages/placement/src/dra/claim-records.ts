/**
 * Records of prepared claims and their pods, in upstream's file format: this kubelet and upstream's can continue with each other's files.
 */
import { crc32 } from 'node:zlib';
import { PodwrightError } from '@podwright/base';
import { readStateFile, writeStateFile } from '../topology/state-file.ts';

/** A prepared device; `RequestNames` is empty for all requests of the claim. */
export type PreparedDevice = {
  PoolName: string;
  DeviceName: string;
  ShareID: string | null;
  RequestNames: string[] | null;
  CDIDeviceIDs: string[] | null;
};

/** A claim that drivers prepare or have prepared. */
export type ClaimRecord = {
  ClaimUID: string;
  ClaimName: string;
  Namespace: string;
  /** UIDs of its pods as keys; the values are empty. */
  PodUIDs: Record<string, object>;
  /** By driver name. */
  DriverState: Record<string, { Devices: PreparedDevice[] | null }>;
};

const TYPE = { kind: 'DRACheckpoint', apiVersion: 'checkpoint.dra.kubelet.k8s.io/v1' };

/** Rejects with `data_loss` for a changed or corrupt file: prepared devices are then unknown. */
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
