/** A third-party plugin with a sandbox controller assembled from Podwright's own parts. */
import type { SandboxController, SandboxRecord, ThirdPartyPlugin } from '@podwright/runtime/plugin';
import { SandboxDirectories } from '../../packages/runtime/src/sandbox/sandbox-directories.ts';
import { SandboxNamespaces } from '../../packages/runtime/src/sandbox/sandbox-namespaces.ts';
import { loadSystem } from '../../packages/system/src/system.ts';

const plugin: ThirdPartyPlugin<Record<string, never>, 'sandbox-controller'> = {
  apiVersion: 1,
  type: 'sandbox-controller',
  init({ id, state, logger }): SandboxController {
    const system = loadSystem();
    const namespaces = SandboxNamespaces.open({ system, logger, state });
    const directories = SandboxDirectories.open({ system, root: state, state });
    const netnsPath = (sandbox: SandboxRecord) => namespaces.paths(sandbox).network;
    const stop = async (sandboxId: string) => {
      directories.unmount(sandboxId);
      await namespaces.release(sandboxId);
    };
    return {
      name: id,
      netnsPath,
      stop,
      async create(sandbox, signal) {
        await namespaces.create(sandbox, signal);
        return { netnsPath: netnsPath(sandbox) };
      },
      start: (sandbox) => directories.make(sandbox),
      setAddresses: (sandbox, ips) => directories.setAddresses(sandbox, ips),
      environment: (sandbox) => ({ namespaces: namespaces.paths(sandbox), ...directories.paths(sandbox) }),
      async sharedPidNamespace() {
        throw Object.assign(new Error('this controller shares no PID namespace'), { code: 'unimplemented' });
      },
      async status(sandbox) {
        const missing = await namespaces.missing(sandbox);
        return missing === undefined ? { alive: true } : { alive: false, reason: `${missing} does not exist any more` };
      },
      onLost: () => undefined,
      async remove(sandboxId) {
        await stop(sandboxId);
        await directories.remove(sandboxId);
      },
      list: async () => [...new Set([...(await namespaces.list()), ...(await directories.list())])],
    };
  },
};

export default plugin;
