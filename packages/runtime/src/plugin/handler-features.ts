import type { HostAbilities } from '../host/host-abilities.ts';
import type { HandlerOptions } from '../options.ts';
import type { SandboxController } from '../sandbox/sandbox-controller.ts';
import { findingOf } from './runtime-handlers.ts';

/** Names of the runtime handlers that support each optional feature; '' is the default handler. */
export type HandlerFeatures = {
  recursiveReadOnlyHandlers: ReadonlySet<string>;
  userNamespaceHandlers: ReadonlySet<string>;
  /** Runtime spec versions, by runtime handler. */
  ociVersions: ReadonlyMap<string, string>;
};

/** Determines which runtime handlers support recursively read-only mounts, and which support user namespaces, on this host. */
export function handlerFeatures(
  handlers: ReadonlyMap<string, HandlerOptions>,
  { ociRuntimes, idMapping }: Pick<HostAbilities, 'ociRuntimes' | 'idMapping'>,
  controllers: ReadonlyMap<string, Pick<SandboxController, 'makesUserNamespaces'>>,
): HandlerFeatures {
  const namesOf = (isSupported: (handler: HandlerOptions) => boolean | undefined) =>
    new Set([...handlers].flatMap(([name, handler]) => (isSupported(handler) ? [name] : [])));
  return {
    recursiveReadOnlyHandlers: namesOf((handler) => findingOf(handler, ociRuntimes)?.features.recursiveReadonlyMounts),
    ociVersions: new Map(
      [...handlers].flatMap(([name, handler]) => {
        const version = findingOf(handler, ociRuntimes)?.features.ociVersion;
        return version === undefined ? [] : [[name, version] as const];
      }),
    ),
    userNamespaceHandlers: namesOf(
      (handler) =>
        idMapping.works &&
        controllers.get(handler.sandbox)?.makesUserNamespaces &&
        findingOf(handler, ociRuntimes)?.features.userNamespaces,
    ),
  };
}
