import {
  type ContainerConfig as CriContainerConfig,
  invalid,
  type KeyValue,
  plainText,
  signalName,
} from '@podwright/cri';
import { requestedDevices } from '@podwright/oci';
import type { ContainerConfig } from '../../records/container-record.ts';
import { containerDevice, containerMount } from './container-mount.ts';
import { containerResources } from './container-resources.ts';
import { containerSecurity } from './security-context.ts';

/** Maximum number of mounts, and of environment variables, per container. The kernel and OCI runtimes cannot handle many more. */
const MAX_ENTRIES = 100_000;

/** Converts and validates the CRI's ContainerConfig. Throws `invalid_argument` for invalid values. */
export function containerConfig(config: CriContainerConfig | undefined): ContainerConfig {
  if (config?.metadata === undefined) throw invalid('the container configuration has no metadata');
  if (config.metadata.name === '') throw invalid('the container has no name');
  if (config.image === undefined || config.image.image === '') throw invalid('the container has no image');
  if (config.mounts.length > MAX_ENTRIES || config.envs.length > MAX_ENTRIES)
    throw invalid('too many mounts or variables');
  return {
    name: config.metadata.name,
    attempt: config.metadata.attempt,
    image: {
      reference: config.image.image,
      annotations: config.image.annotations,
      userSpecified: config.image.userSpecifiedImage,
      runtimeHandler: config.image.runtimeHandler,
    },
    command: config.command.map((word) => plainText('command', word)),
    args: config.args.map((word) => plainText('args', word)),
    workingDir: plainText('workingDir', config.workingDir),
    envs: config.envs.map(variable),
    mounts: config.mounts.map(containerMount),
    devices: config.devices.map(containerDevice),
    cdiDevices: requestedDevices(
      config.CDIDevices.map(({ name }) => name),
      config.annotations,
    ),
    labels: config.labels,
    annotations: config.annotations,
    logPath: plainText('logPath', config.logPath),
    stdin: config.stdin,
    stdinOnce: config.stdinOnce,
    tty: config.tty,
    stopSignal: signalName(config.stopSignal),
    resources: containerResources(config.linux?.resources),
    security: containerSecurity(config.linux?.securityContext),
  };
}

/** Converts an environment variable. The OCI config.json is UTF-8, so invalid bytes become U+FFFD, as in other runtimes. */
function variable({ key, value }: KeyValue): { name: string; value: string } {
  if (key === '') throw invalid('envs: a variable has no name');
  return { name: plainText('envs', key), value: plainText(`variable ${key}`, Buffer.from(value).toString('utf8')) };
}
