import type { ImageRecord } from '@podwright/images';
import type { OciLinuxResources, OciSpec } from '../oci/spec.ts';
import type { ContainerRecord } from '../records/container-record.ts';
import type { SandboxRecord } from '../records/sandbox-record.ts';

/** Turns records of containers into what an OCI runtime is told. */
export interface ContainerSpecs {
  /** Paths of the volumes that the image declares and that no mount covers. */
  imageVolumes(record: ContainerRecord): string[];
  /** Who the container's process is; its root file system is mounted. */
  resolveUser(record: ContainerRecord, image: ImageRecord): Promise<ContainerRecord['user']>;
  /** The whole specification; makes host paths that are missing, and the shared PID namespace if it is needed. */
  build(record: ContainerRecord, sandbox: SandboxRecord, signal: AbortSignal): Promise<OciSpec>;
  /** The limits alone, as `build` has them. */
  resources(record: ContainerRecord): OciLinuxResources;
}
