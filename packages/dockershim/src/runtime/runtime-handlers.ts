import { errorMessage } from '@podwright/base';
import { CgroupDriver, type RuntimeHandlers, verboseInfo } from '@podwright/cri';
import type { EngineInfo } from '../engine/engine-types.ts';
import { isCriLogDriver } from '../engine/log-driver.ts';
import type { DockershimServices } from '../services.ts';
import { cgroupDriverOf } from './cgroup-driver.ts';
import type { EngineFacts } from './engine-facts.ts';

/** The kubelet's runtime API version in the Version response: always 0.1.0. */
const KUBELET_API_VERSION = '0.1.0';

type Verbs = 'version' | 'status' | 'runtimeConfig' | 'updateRuntimeConfig';
type Needs = Pick<DockershimServices, 'network' | 'options'> & {
  facts: EngineFacts;
  /** Resolves once pods can be created, or rejects with the startup error. */
  whenStarted: (signal: AbortSignal) => Promise<void>;
};

/** CRI calls about the container runtime itself. */
export function runtimeHandlers(needs: Needs): Pick<RuntimeHandlers, Verbs> {
  const { network, options, facts } = needs;
  return {
    version: async (_request, { service, signal }) => ({
      version: KUBELET_API_VERSION,
      runtimeName: 'docker',
      runtimeVersion: (await facts.version(signal)).Version,
      runtimeApiVersion: service.split('.')[1] ?? 'v1',
    }),
    status: status(needs),
    runtimeConfig: async (_request, { signal }) => {
      const driver = cgroupDriverOf(await facts.info(signal), options.cgroupDriver);
      return { linux: { cgroupDriver: driver === 'systemd' ? CgroupDriver.SYSTEMD : CgroupDriver.CGROUPFS } };
    },
    updateRuntimeConfig: async ({ runtimeConfig }) => {
      const podCidr = runtimeConfig?.networkConfig?.podCidr ?? '';
      if (podCidr !== '') await network.event({ name: 'POD_CIDR_CHANGE', podCidr });
      return {};
    },
  };
}

/** Status: reports whether the Engine responds, and whether the network plugin can set up pods. */
function status({ network, options, facts, whenStarted }: Needs): RuntimeHandlers['status'] {
  return async ({ verbose }, { signal }) => {
    const engine = facts.read(signal).then(async (version) => {
      await whenStarted(signal);
      return { version, info: await facts.info(signal) };
    });
    const [runtime, networkReady] = await Promise.allSettled([engine, network.status(signal)]);
    signal.throwIfAborted();
    const info = runtime.status === 'fulfilled' ? runtime.value.info : facts.lastInfo;
    const details = () => ({
      dockerVersion: runtime.status === 'fulfilled' ? runtime.value.version.Version : undefined,
      dockerApiVersion: runtime.status === 'fulfilled' ? runtime.value.version.ApiVersion : undefined,
      ...engineDetails(info),
      networkPlugin: network.name,
      sandboxImage: options.sandboxImage,
    });
    return {
      status: {
        conditions: [
          condition('RuntimeReady', runtime, 'DockerDaemonNotReady'),
          condition('NetworkReady', networkReady, 'NetworkPluginNotReady'),
        ],
      },
      runtimeHandlers: handlersOf(info),
      info: verboseInfo(verbose, details, 'config'),
    };
  };
}

/** Returns Engine settings that help diagnose problems with pods. */
function engineDetails(info: EngineInfo | undefined): object {
  if (info === undefined) return {};
  const { CgroupDriver: cgroupDriver, CgroupVersion: cgroupVersion, LoggingDriver: logDriver } = info;
  return {
    ...{ cgroupDriver, cgroupVersion, logDriver, dockerRoot: info.DockerRootDir, runtimes: Object.keys(info.Runtimes) },
    logDriverSupported: isCriLogDriver(logDriver),
    ...(!isCriLogDriver(logDriver) && {
      logs: `kubelets find no files of log driver ${logDriver}: podwright kubelet --container-runtime=docker reads them through the Engine; others need "log-driver": "json-file" in /etc/docker/daemon.json`,
    }),
  };
}

function condition(type: string, result: PromiseSettledResult<unknown>, reason: string) {
  if (result.status === 'fulfilled') return { type, status: true, reason: '', message: '' };
  return { type, status: false, reason, message: `docker: ${errorMessage(result.reason)}` };
}

/**
 * Returns the Engine's OCI runtimes as runtime handlers; '' is the default one. They have no features, because API 1.41 offers no way to
 * request them.
 */
function handlersOf(info: EngineInfo | undefined) {
  if (info === undefined) return [];
  const features = { recursiveReadOnlyMounts: false, userNamespaces: false };
  return ['', ...Object.keys(info.Runtimes).sort()].map((name) => ({ name, features }));
}
