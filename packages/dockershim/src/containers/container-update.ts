import type { RuntimeHandlers } from '@podwright/cri';
import { CONTAINER_TYPE } from '../labels/labels.ts';
import { inspectOwn } from '../labels/own-container.ts';
import type { ContainerServices } from './container-services.ts';
import { dockerUpdate } from './resources.ts';

/** UpdateContainerResources: changes a container's limits. Limits that are 0 or empty are left unchanged, as is the OOM score. */
export function containerUpdate({ engine }: ContainerServices): RuntimeHandlers['updateContainerResources'] {
  return async ({ containerId: id, linux }, { signal }) => {
    const attempted = `update container ${id}`;
    const container = await inspectOwn(engine, { type: CONTAINER_TYPE, id }, { attempted, signal });
    const resources = dockerUpdate(linux, container);
    if (Object.keys(resources).length > 0) await engine.containers.update(container.Id, resources, signal);
    return {};
  };
}
