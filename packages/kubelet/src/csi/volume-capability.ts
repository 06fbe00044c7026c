import {
  VolumeCapability_AccessMode_Mode as Mode,
  type NodeGetCapabilitiesResponse,
  NodeServiceCapability_RPC_Type as Rpc,
} from '@podwright/cri/csi';
import type { CsiVolume } from './csi-volume.ts';

/** Which of the optional calls and fields a driver's node service has. */
export type NodeCapabilities = {
  stage: boolean;
  volumeStats: boolean;
  /** It gives volumes to a group itself. */
  mountGroup: boolean;
  /** It tells several writers on one node from one. */
  multiWriter: boolean;
};

export function nodeCapabilities({ capabilities }: NodeGetCapabilitiesResponse): NodeCapabilities {
  const has = (type: Rpc) => capabilities.some((one) => one.type.case === 'rpc' && one.type.value.type === type);
  return {
    stage: has(Rpc.STAGE_UNSTAGE_VOLUME),
    volumeStats: has(Rpc.GET_VOLUME_STATS),
    mountGroup: has(Rpc.VOLUME_MOUNT_GROUP),
    multiWriter: has(Rpc.SINGLE_NODE_MULTI_WRITER),
  };
}

/** csi.v1 VolumeCapability of a volume with files. `group` is for drivers with `mountGroup`. */
export function volumeCapability(
  { fsType, mountOptions, accessModes, mode }: CsiVolume,
  { multiWriter }: NodeCapabilities,
  group: number | undefined,
) {
  const accessMode = mode === 'Ephemeral' ? 'ReadWriteOnce' : (accessModes[0] ?? 'ReadWriteOnce');
  const volumeMountGroup = group === undefined ? '' : String(group);
  return {
    accessType: { case: 'mount' as const, value: { fsType, mountFlags: mountOptions, volumeMountGroup } },
    accessMode: { mode: (multiWriter ? MULTI_WRITER_MODES : MODES)[accessMode] ?? Mode.UNKNOWN },
  };
}

const MODES: Record<string, Mode> = {
  ReadWriteOnce: Mode.SINGLE_NODE_WRITER,
  ReadOnlyMany: Mode.MULTI_NODE_READER_ONLY,
  ReadWriteMany: Mode.MULTI_NODE_MULTI_WRITER,
  ReadWriteOncePod: Mode.SINGLE_NODE_WRITER,
};

const MULTI_WRITER_MODES: Record<string, Mode> = {
  ...MODES,
  ReadWriteOnce: Mode.SINGLE_NODE_MULTI_WRITER,
  ReadWriteOncePod: Mode.SINGLE_NODE_SINGLE_WRITER,
};
