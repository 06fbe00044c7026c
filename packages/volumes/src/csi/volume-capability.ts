import {
  VolumeCapability_AccessMode_Mode as Mode,
  type NodeGetCapabilitiesResponse,
  NodeServiceCapability_RPC_Type as Rpc,
} from '../csi-api.ts';
import type { CsiVolume } from './csi-volume.ts';

/** Optional calls and fields supported by a driver's node service. */
export type NodeCapabilities = {
  stage: boolean;
  volumeStats: boolean;
  /** VOLUME_MOUNT_GROUP: the driver sets the volume's group itself. */
  mountGroup: boolean;
  /** EXPAND_VOLUME: the driver must be called after a volume has grown. */
  expand: boolean;
  /** SINGLE_NODE_MULTI_WRITER: the driver distinguishes between one and several writers per node. */
  multiWriter: boolean;
};

export function nodeCapabilities({ capabilities }: NodeGetCapabilitiesResponse): NodeCapabilities {
  const has = (type: Rpc) => capabilities.some((one) => one.type.case === 'rpc' && one.type.value.type === type);
  return {
    stage: has(Rpc.STAGE_UNSTAGE_VOLUME),
    volumeStats: has(Rpc.GET_VOLUME_STATS),
    mountGroup: has(Rpc.VOLUME_MOUNT_GROUP),
    expand: has(Rpc.EXPAND_VOLUME),
    multiWriter: has(Rpc.SINGLE_NODE_MULTI_WRITER),
  };
}

/** Builds a csi.v1 VolumeCapability. `group` is for drivers with `mountGroup`. */
export function volumeCapability(volume: CsiVolume, { multiWriter }: NodeCapabilities, group: number | undefined) {
  const { accessModes, mode } = volume;
  const accessMode = mode === 'Ephemeral' ? 'ReadWriteOnce' : (accessModes[0] ?? 'ReadWriteOnce');
  return {
    accessType: volume.isBlock ? BLOCK : mountType(volume, group),
    accessMode: { mode: (multiWriter ? MULTI_WRITER_MODES : MODES)[accessMode] ?? Mode.UNKNOWN },
  };
}

const BLOCK = { case: 'block' as const, value: {} };

function mountType({ fsType, mountOptions, label }: CsiVolume, group: number | undefined) {
  // quoted because a label may contain commas
  const mountFlags = label === undefined ? mountOptions : [...mountOptions, `context="${label}"`];
  const volumeMountGroup = group === undefined ? '' : String(group);
  return { case: 'mount' as const, value: { fsType, mountFlags, volumeMountGroup } };
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
