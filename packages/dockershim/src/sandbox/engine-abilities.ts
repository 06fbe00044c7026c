import { PodwrightError } from '@podwright/base';
import { NamespaceMode, type PodSandboxConfig } from '@podwright/cri';
import type { EngineInfo } from '../engine/engine-types.ts';
import { asksAppArmor, hasSecurity } from './security-options.ts';

/** The runtime handler for the Engine's default OCI runtime, as in upstream's dockershim. */
const DEFAULT_HANDLER = 'docker';

/** Returns the Engine's OCI runtime for a runtime handler, or `undefined` for the default one. */
export function runtimeOf(handler: string): string | undefined {
  return handler === '' || handler === DEFAULT_HANDLER ? undefined : handler;
}

/** Whether creating the sandbox requires the Engine's info. */
export function asksAbilities({ linux }: PodSandboxConfig, handler: string): boolean {
  return runtimeOf(handler) !== undefined || asksAppArmor(linux?.securityContext);
}

/** Throws `failed_precondition` if the sandbox requests features that the Engine or its host lacks. */
export function requireAbilities(info: EngineInfo, { linux }: PodSandboxConfig, handler: string): void {
  const runtime = runtimeOf(handler);
  if (runtime !== undefined && !Object.hasOwn(info.Runtimes, runtime)) {
    const known = Object.keys(info.Runtimes).sort().join(', ');
    throw refusal(
      `runtime handler "${runtime}" is not a runtime of the Docker Engine, which has ${known}: add it to "runtimes" in daemon.json`,
    );
  }
  if (asksAppArmor(linux?.securityContext) && !hasSecurity(info.SecurityOptions, 'apparmor'))
    throw refusal('an AppArmor profile is requested, and the Docker host has no AppArmor');
}

/**
 * Throws `failed_precondition` if the pod requests its own user namespace: the Engine can map users only for all containers or for none.
 */
export function refuseOwnUsers({ linux }: PodSandboxConfig): void {
  const mode = linux?.securityContext?.namespaceOptions?.usernsOptions?.mode ?? NamespaceMode.NODE;
  if (mode !== NamespaceMode.NODE)
    throw refusal(
      'a user namespace of a pod (hostUsers: false): the Docker Engine has one for all containers, or none',
    );
}

const refusal = (message: string): PodwrightError => new PodwrightError('failed_precondition', message);
