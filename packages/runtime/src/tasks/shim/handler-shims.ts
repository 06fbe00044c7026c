import { basename } from 'node:path';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { findProgram } from '@podwright/host';
import type { ShimProgram } from '@podwright/shim';
import type { HandlerOptions } from '../../options.ts';

/** Subdirectories of the state directory: one for the shims' bundles and events, one for task records, and one for runc's state. */
export const SHIM_DIRECTORIES = { shims: 'shims', tasks: 'shim-tasks', runc: 'shim-runc' };

/**
 * Returns the name or path of the shim binary for a handler's program: a path, a name, or a containerd runtime name
 * (`io.containerd.kata.v2`). The default is a shim named after the handler.
 */
export function shimBinary(handler: string, program: string): string {
  if (program === '') return `containerd-shim-${handler}-v2`;
  const runtime = /^(?:[^/.]+\.)+([^/.]+)\.(v\d+)$/.exec(program);
  return runtime === null ? program : `containerd-shim-${runtime[1]}-${runtime[2]}`;
}

/** Returns the handlers' shims by handler name, omitting shims that are not installed. For `runcRoot`, see `shimProgram`. */
export async function findShimPrograms(
  handlers: ReadonlyMap<string, HandlerOptions>,
  runcRoot: string,
): Promise<Map<string, ShimProgram>> {
  const programs = new Map<string, ShimProgram>();
  for (const [name, handler] of handlers) {
    const path = handler.task === 'shim-v2' ? findProgram(handler.program) : undefined;
    if (path !== undefined) programs.set(name, await shimProgram(path, handler, runcRoot));
  }
  return programs;
}

/**
 * Returns the shim at `path` with its options. A runc shim receives its OCI runtime and the state directory `runcRoot`; any other shim
 * receives the path of its configuration file, if the handler specifies one.
 */
export async function shimProgram(path: string, { shim = {} }: HandlerOptions, runcRoot: string): Promise<ShimProgram> {
  const { ConfigOptionsSchema, RuncOptionsSchema } = await import('@podwright/shim');
  if (basename(path).startsWith('containerd-shim-runc-')) {
    const message = create(RuncOptionsSchema, { binaryName: shim.binaryName ?? '', root: runcRoot });
    return { path, options: encoded(RuncOptionsSchema.typeName, toBinary(RuncOptionsSchema, message)) };
  }
  if (shim.configPath === undefined) return { path };
  const message = create(ConfigOptionsSchema, { typeUrl: shim.configType ?? '', configPath: shim.configPath });
  return { path, options: encoded(ConfigOptionsSchema.typeName, toBinary(ConfigOptionsSchema, message)) };
}

/**
 * Returns the shim's options for a task whose cgroup is a scope. A runc shim needs the `systemdCgroup` flag; other shims recognize the
 * cgroup path's format.
 */
export async function optionsInScope({ options }: ShimProgram): Promise<ShimProgram['options']> {
  const { RuncOptionsSchema } = await import('@podwright/shim');
  if (options?.typeUrl !== RuncOptionsSchema.typeName) return options;
  const message = fromBinary(RuncOptionsSchema, Buffer.from(options.value, 'base64'));
  return encoded(RuncOptionsSchema.typeName, toBinary(RuncOptionsSchema, { ...message, systemdCgroup: true }));
}

function encoded(typeUrl: string, bytes: Uint8Array): { typeUrl: string; value: string } {
  return { typeUrl, value: Buffer.from(bytes).toString('base64') };
}
