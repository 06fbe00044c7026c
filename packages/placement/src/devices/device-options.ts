import { fromBinary } from '@bufbuild/protobuf';
import { type ContainerAllocateResponse, ContainerAllocateResponseSchema } from '../device-plugin-api.ts';
import type { Assignment, ContainerDeviceOptions } from './device-types.ts';

/** Merges the options from all plugins' Allocate responses. The first one wins if a name or path occurs more than once. */
export function deviceOptions(assignments: Assignment[]): ContainerDeviceOptions {
  const answers = assignments.map(({ answer }) => fromBinary(ContainerAllocateResponseSchema, answer));
  return {
    envs: firstOf(answers.flatMap(({ envs }) => Object.entries(envs))),
    annotations: firstOf(answers.flatMap(({ annotations }) => Object.entries(annotations))),
    mounts: uniqueBy(answers, ({ mounts }) => mounts.map((mount) => [mount.containerPath, mount])),
    devices: uniqueBy(answers, ({ devices }) => devices.map((device) => [device.containerPath, device])),
    cdiDevices: uniqueBy(answers, ({ cdiDevices }) => cdiDevices.map((device) => [device.name, device])),
  };
}

const firstOf = (entries: [string, string][]) => Object.fromEntries(entries.toReversed());

function uniqueBy<T>(
  answers: ContainerAllocateResponse[],
  keyed: (answer: ContainerAllocateResponse) => [string, T][],
): T[] {
  const found = new Map<string, T>();
  for (const [key, value] of answers.flatMap(keyed)) if (!found.has(key)) found.set(key, value);
  return [...found.values()];
}
