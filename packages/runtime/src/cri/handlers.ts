import type { ImageHandlers, RuntimeHandlers } from '@podwright/cri';
import { containerAttach } from './container-attach.ts';
import { containerCheckpoint } from './container-checkpoint.ts';
import { containerCreate } from './container-create.ts';
import { containerExec, containerExecSync } from './container-exec.ts';
import { containerInspect } from './container-inspect.ts';
import { containerList, containerStream } from './container-list.ts';
import { containerRemove } from './container-remove.ts';
import { containerReopenLog } from './container-reopen-log.ts';
import { containerStart } from './container-start.ts';
import { containerStats, containerStatsList, containerStatsStream } from './container-stats.ts';
import { containerStop } from './container-stop.ts';
import { containerUpdate } from './container-update.ts';
import { events } from './events.ts';
import { imageFsInfo } from './image-fs-info.ts';
import { imageInspect } from './image-inspect.ts';
import { imageList, imageStream } from './image-list.ts';
import { imagePull } from './image-pull.ts';
import { imageRemove } from './image-remove.ts';
import { metricDescriptorList } from './metric-descriptors.ts';
import { runtimeConfig, runtimeConfigUpdate } from './runtime-config.ts';
import { sandboxInspect } from './sandbox-inspect.ts';
import { sandboxList, sandboxStream } from './sandbox-list.ts';
import { sandboxMetricsList, sandboxMetricsStream } from './sandbox-metrics.ts';
import { sandboxPortForward } from './sandbox-port-forward.ts';
import { sandboxRemove } from './sandbox-remove.ts';
import { sandboxRun } from './sandbox-run.ts';
import { sandboxStats, sandboxStatsList, sandboxStatsStream } from './sandbox-stats.ts';
import { sandboxStop } from './sandbox-stop.ts';
import { sandboxUpdate } from './sandbox-update.ts';
import type { CriServices } from './services.ts';
import { status } from './status.ts';
import { version } from './version.ts';

/** Who answers each RPC of the RuntimeService. */
export function runtimeHandlers(services: CriServices): RuntimeHandlers {
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

/** Who answers each RPC of the ImageService. */
export function imageHandlers(services: CriServices): ImageHandlers {
  return {
    listImages: imageList(services),
    streamImages: imageStream(services),
    imageStatus: imageInspect(services),
    pullImage: imagePull(services),
    removeImage: imageRemove(services),
    imageFsInfo: imageFsInfo(services),
  };
}
