import type { ImageRecord } from '../images/image-service.ts';
import type { OciLinuxResources, OciSpec } from '../oci/spec.ts';
import type { SandboxRecord } from '../sandbox/sandbox-record.ts';
import type { ContainerRecord } from './container-record.ts';

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
