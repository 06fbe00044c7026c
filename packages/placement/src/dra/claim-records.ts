/**
 * Records of prepared ResourceClaims and their pods, in upstream's file format so that users can switch between this kubelet and
 * upstream's.
 */
import { crc32 } from 'node:zlib';
import { PodwrightError } from '@podwright/base';
import { readStateFile, writeStateFile } from '../topology/state-file.ts';

/** A prepared device. An empty `RequestNames` means all of the claim's requests. */
export type PreparedDevice = {
  PoolName: string;
  DeviceName: string;
  ShareID: string | null;
  RequestNames: string[] | null;
  CDIDeviceIDs: string[] | null;
};

/** A ResourceClaim that is prepared or being prepared by its drivers. */
export type ClaimRecord = {
  ClaimUID: string;
  ClaimName: string;
  Namespace: string;
  /** UIDs of the pods using the claim, as keys; the values are empty. */
  PodUIDs: Record<string, object>;
  /** Driver state, by driver name. */
  DriverState: Record<string, { Devices: PreparedDevice[] | null }>;
};

const TYPE = { kind: 'DRACheckpoint', apiVersion: 'checkpoint.dra.kubelet.k8s.io/v1' };

/**
 * Reads the claim records. Rejects with `data_loss` if the file is corrupt or was tampered with: it is then unknown which devices are
 * prepared.
 */
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
