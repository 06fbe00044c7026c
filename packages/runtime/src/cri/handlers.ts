import type { ImageHandlers, RuntimeHandlers } from '@podwright/cri';
import { containerAttach } from './container/container-attach.ts';
import { containerCheckpoint } from './container/container-checkpoint.ts';
import { containerCreate } from './container/container-create.ts';
import { containerExec, containerExecSync } from './container/container-exec.ts';
import { containerList, containerStream } from './container/container-list.ts';
import { containerRemove } from './container/container-remove.ts';
import { containerReopenLog } from './container/container-reopen-log.ts';
import { containerStart } from './container/container-start.ts';
import { containerInspect } from './container/container-status.ts';
import { containerStop } from './container/container-stop.ts';
import { containerUpdate } from './container/container-update.ts';
import { imageList, imageStream } from './image/image-list.ts';
import { imagePull } from './image/image-pull.ts';
import { imageRemove } from './image/image-remove.ts';
import { imageInspect } from './image/image-status.ts';
import { events } from './runtime/events.ts';
import { runtimeConfig, runtimeConfigUpdate } from './runtime/runtime-config.ts';
import { status, version } from './runtime/status.ts';
import { sandboxList, sandboxStream } from './sandbox/sandbox-list.ts';
import { sandboxPortForward } from './sandbox/sandbox-port-forward.ts';
import { sandboxRemove } from './sandbox/sandbox-remove.ts';
import { sandboxRun } from './sandbox/sandbox-run.ts';
import { sandboxInspect } from './sandbox/sandbox-status.ts';
import { sandboxStop } from './sandbox/sandbox-stop.ts';
import { sandboxUpdate } from './sandbox/sandbox-update.ts';
import type { CriServices } from './services/services.ts';
import { containerStats, containerStatsList, containerStatsStream } from './statistics/container-stats.ts';
import { imageFsInfo } from './statistics/image-fs-info.ts';
import { metricDescriptorList } from './statistics/metric-descriptors.ts';
import { sandboxMetricsList, sandboxMetricsStream } from './statistics/sandbox-metrics.ts';
import { sandboxStats, sandboxStatsList, sandboxStatsStream } from './statistics/sandbox-stats.ts';

/** Returns the handlers for the RuntimeService RPCs. */
export function runtimeServiceHandlers(services: CriServices): RuntimeHandlers {
  return {
    version: version(services),
    status: status(services),
    runtimeConfig: runtimeConfig(services),
    updateRuntimeConfig: runtimeConfigUpdate(services),
    getContainerEvents: events(services),
    runPodSandbox: sandboxRun(services),
    stopPodSandbox: sandboxStop(services),
    removePodSandbox: sandboxRemove(services),
    updatePodSandboxResources: sandboxUpdate(services),
    podSandboxStatus: sandboxInspect(services),
    listPodSandbox: sandboxList(services),
    streamPodSandboxes: sandboxStream(services),
    podSandboxStats: sandboxStats(services),
    listPodSandboxStats: sandboxStatsList(services),
    streamPodSandboxStats: sandboxStatsStream(services),
    listMetricDescriptors: metricDescriptorList(),
    listPodSandboxMetrics: sandboxMetricsList(services),
    streamPodSandboxMetrics: sandboxMetricsStream(services),
    portForward: sandboxPortForward(services),
    createContainer: containerCreate(services),
    startContainer: containerStart(services),
    stopContainer: containerStop(services),
    removeContainer: containerRemove(services),
    containerStatus: containerInspect(services),
    listContainers: containerList(services),
    streamContainers: containerStream(services),
    containerStats: containerStats(services),
    listContainerStats: containerStatsList(services),
    streamContainerStats: containerStatsStream(services),
    updateContainerResources: containerUpdate(services),
    checkpointContainer: containerCheckpoint(services),
    reopenContainerLog: containerReopenLog(services),
    execSync: containerExecSync(services),
    exec: containerExec(services),
    attach: containerAttach(services),
  };
}

/** RPCs whose RCU grace periods are expedited. Excludes long-running RPCs such as StopContainer, which waits for the container to exit. */
const EXPEDITED = [
  'runPodSandbox',
  'stopPodSandbox',
  'removePodSandbox',
  'createContainer',
  'startContainer',
  'removeContainer',
] as const;

/** Wraps the handlers of the `EXPEDITED` RPCs in `during`, which expedites RCU grace periods while its callback runs. */
export function expedited(
  handlers: RuntimeHandlers,
  during: <T>(work: () => Promise<T>) => Promise<T>,
): RuntimeHandlers {
  const within = <Q, C, R>(handler: (request: Q, context: C) => Promise<R>) => {
    return (request: Q, context: C) => during(() => handler(request, context));
  };
  const wrapped = EXPEDITED.map((name) => [name, within(handlers[name] as (...call: never[]) => Promise<unknown>)]);
  return { ...handlers, ...Object.fromEntries(wrapped) };
}

/** Returns the handlers for the ImageService RPCs. */
export function imageServiceHandlers(services: CriServices): ImageHandlers {
  return {
    listImages: imageList(services),
    streamImages: imageStream(services),
    imageStatus: imageInspect(services),
    pullImage: imagePull(services),
    removeImage: imageRemove(services),
    imageFsInfo: imageFsInfo(services),
  };
}
